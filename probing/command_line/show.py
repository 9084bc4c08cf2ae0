"""The command `show`: print a result's scores."""

import argparse

from probing.analysis.ties import TIES, ties_in_words
from probing.command_line.program import print_by_dimension
from probing.results.result import Result


def add_show(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", help="the folder of a result")
    parser.set_defaults(command=show)


def show(arguments: argparse.Namespace) -> None:
    result = Result.load(arguments.folder)
    benchmark = result.record["benchmark"]
    print(f"{result.record['model']['id']} on {benchmark['slug']} {benchmark['version']}")
    for note in result.record.get("benchmark_notes", []):
        print(note)
    ties = result.scores[result.scores["metric"] == TIES]
    for share, items in zip(ties["value"], ties["n"], strict=True):
        print(ties_in_words(share, items))
    print_by_dimension(result.scores)
