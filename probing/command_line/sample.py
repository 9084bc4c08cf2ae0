"""The command `sample`: draw true and false statements from a knowledge graph."""

import argparse
from pathlib import Path

from probing.formats.files import text_lines
from probing.formats.graph_sample import SENTENCES
from probing.graph_sampling import sample_graph, sampling_names


def add_sample(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("graph", metavar="GRAPH", type=Path, help="the folder of a knowledge graph")
    add_sampling_options(parser)
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="the folder to write")
    parser.set_defaults(command=sample)


def add_sampling_options(parser: argparse._ActionsContainer) -> None:
    """Add the options that choose how statements are drawn and put into words."""
    add = parser.add_argument
    add("--samples", type=int, metavar="N", help="true statements per repetition, and as many false ones")
    add("--repetitions", type=int, metavar="N", help="how often the sample is drawn")
    add("--resampled", type=int, choices=(1, 2, 3), help="parts of a triple drawn again to make it false; 1 is hardest")
    add("--within-category", action="store_true", default=None, help="replace a part only by one of the same category")
    add("--seed", type=int, metavar="N", help="seed of the draws")
    phrasings = "a JSON file with a sentence, or a list of several phrasings, of each relation"
    add("--phrasings", type=Path, metavar="FILE", help=phrasings)
    add("--correct", default="", metavar="MODEL", help="a text-to-text model that corrects the grammar")


SAMPLING_OPTIONS = (*sampling_names(), "phrasings", "correct")


def sample(arguments: argparse.Namespace) -> None:
    chosen = {name: getattr(arguments, name) for name in SAMPLING_OPTIONS}
    folder = sample_graph(arguments.graph, arguments.out, **chosen)
    print(f"{len(text_lines(folder / SENTENCES)):,} sentences are in {folder}.")
