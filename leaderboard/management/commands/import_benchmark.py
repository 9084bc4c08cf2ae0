"""Import a folder as the current version of a benchmark."""

from argparse import ArgumentParser, _ArgumentGroup
from dataclasses import fields
from pathlib import Path
from typing import Any

from leaderboard.figures import benchmarks
from leaderboard.figures.benchmarks import GRAPH_FORMAT, install_sample, store_rarer_answer
from leaderboard.management.base import PlainCommand
from leaderboard.models import Benchmark
from probing.baselines import pair_answers
from probing.errors import BadInput
from probing.formats import FORMATS
from probing.plan import plan_of
from probing.sentences.sentence_files import corpus_counts, listed_counts
from probing.statements.graph_statements import Sampling

SAMPLING_OPTIONS = (*(field.name for field in fields(Sampling)), "phrasings", "correct")


class Command(PlainCommand):
    help = "Import a benchmark folder; older versions and their runs are kept."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("format", help=f"one of: {', '.join(FORMATS)}")
        parser.add_argument("folder", type=Path, help="the benchmark's folder or archive")
        parser.add_argument("--slug", default="", help="name in addresses (default: the folder's name)")
        parser.add_argument("--title", default="", help="name on pages")
        parser.add_argument(
            "--probe",
            default="",
            help="how models are asked (default: its usual probes); added to the probes that it has here",
        )
        description = "With any of these, new statements are drawn: the sample is a version of the benchmark."
        add_sampling_options(parser.add_argument_group("sample of a knowledge graph", description))

        words = parser.add_mutually_exclusive_group()
        corpus = "pairs of answers: also store the baseline of the answer that is rarer in this text file"
        words.add_argument("--corpus", default="", metavar="FILE", help=corpus)
        listed = "the same by a list of words, each with its count behind a tab, comma or space"
        words.add_argument("--frequencies", default="", metavar="FILE", help=listed)
        parser.add_argument("--ignore-case", action="store_true", help="count words whatever their case")

    def run(self, *, format: str, folder: Path, slug: str, title: str, probe: str, **options: Any) -> None:
        sampling = {name: options[name] for name in SAMPLING_OPTIONS if options[name] not in (None, "")}
        if sampling and format != GRAPH_FORMAT:
            raise BadInput(f"No statements are drawn from {format}.", f"Leave out --{min(sampling)}.")
        if sampling:
            benchmark, new = install_sample(folder, slug, title, **sampling)
        else:
            benchmark, new = benchmarks.install(format, folder, slug, title, probe)
        content = f"{benchmark.relations} relations, {benchmark.items} items"
        self.say(f"{benchmark}: {content}." if new else f"{benchmark} is imported already: nothing to do.")
        self.say(f"Plan: {benchmark.plan}.")
        others = Benchmark.objects.filter(slug=benchmark.slug, current=True).exclude(pk=benchmark.pk)
        for other in others.exclude(path=""):
            self.say(f"Asked by another probe as well: {other.name}.")
        if not new:
            self.say("A version keeps the plan of its first import; import it under another --slug for another plan.")
        if counted_in := options["corpus"] or options["frequencies"]:
            count = corpus_counts if options["corpus"] else listed_counts
            pairs = benchmarks.read(benchmark)
            counts = count(counted_in, pair_answers(pairs), options["ignore_case"])
            plan = plan_of(pairs, benchmark.settings_with({}))
            value = store_rarer_answer(benchmark, plan, counts)
            self.say(f"Always choosing the answer that is rarer in {Path(counted_in).name} reaches {value:.3f}.")


def add_sampling_options(parser: _ArgumentGroup) -> None:
    """Add the options that choose how statements are drawn and put into words."""
    add = parser.add_argument
    add("--samples", type=int, metavar="N", help="true statements per repetition, and as many false ones")
    add("--repetitions", type=int, metavar="N", help="how often the sample is drawn")
    add("--resampled", type=int, choices=(1, 2, 3), help="parts of a triple drawn again to make it false; 1 is hardest")
    add("--within-category", action="store_true", default=None, help="replace a part only by one of the same category")
    ladder = (
        "draw false statements at six levels of difficulty: 3, 2 and 1 parts, each anywhere and within its category"
    )
    add("--ladder", action="store_true", default=None, help=ladder)
    add("--seed", type=int, metavar="N", help="seed of the draws")
    phrasings = "a JSON file with a sentence, or a list of several phrasings, of each relation"
    add("--phrasings", type=Path, metavar="FILE", help=phrasings)
    add("--correct", default="", metavar="MODEL", help="a text-to-text model that corrects the grammar")
