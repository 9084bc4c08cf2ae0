"""The command `sample`: draw true and false statements from a knowledge graph."""

import argparse
from dataclasses import fields, replace
from pathlib import Path

import probing
from probing.files.folders import refuse_occupied
from probing.formats.graph_sample import SamplingPlan, read_sampling, store
from probing.formats.knowledge_graph import read_graph
from probing.statements.sampling import draw


def add_sample(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("graph", metavar="GRAPH", type=Path, help="the folder of a knowledge graph")
    add("--samples", type=int, metavar="N", help="true statements per repetition, and as many false ones")
    add("--repetitions", type=int, metavar="N", help="how often the sample is drawn")
    add("--resampled", type=int, choices=(1, 2, 3), help="parts of a triple drawn anew to make it false; 1 is hardest")
    add("--within-category", action="store_true", default=None, help="replace a part only by one of the same category")
    add("--seed", type=int, metavar="N", help="seed of the draws")
    add("--correct", default="", metavar="MODEL", help="a text-to-text model that corrects the grammar")
    add("--out", required=True, type=Path, metavar="DIR", help="the folder to write")
    parser.set_defaults(command=sample)


def sample(arguments: argparse.Namespace) -> None:
    refuse_occupied(arguments.out)
    graph, plan = read_graph(arguments.graph), read_sampling(arguments.graph)
    values = {option.name: getattr(arguments, option.name) for option in fields(plan.sampling)}
    sampling = replace(plan.sampling, **{name: value for name, value in values.items() if value is not None})
    sentences, remarks = draw(graph, sampling), plan.remarks
    if arguments.correct:
        corrector = probing.Corrector.load(arguments.correct)
        texts = corrector.correct([sentence.text for sentence in sentences])
        sentences = tuple(replace(sentence, text=text) for sentence, text in zip(sentences, texts, strict=True))
        remarks = (*remarks, corrector.remark)
    store(arguments.out, graph, sentences, SamplingPlan(sampling, remarks))
    print(f"{len(sentences):,} sentences are in {arguments.out}.")
