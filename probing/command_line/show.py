"""The command `show`: print a result's scores."""

import argparse

from probing.command_line.program import print_scores
from probing.probes import probe_named
from probing.results.result import Result


def add_show(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", help="the folder of a result")
    parser.set_defaults(command=show)


def show(arguments: argparse.Namespace) -> None:
    result = Result.load(arguments.folder)
    benchmark = result.record["benchmark"]
    print(f"{result.record['model']['id']} on {benchmark['slug']} {benchmark['version']}")
    for remark in probe_named(result.record["probe"]).remarks:
        print(remark)
    print_scores(result.scores)
