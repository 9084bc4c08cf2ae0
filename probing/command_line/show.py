"""The command `show`: print a result's scores."""

import argparse

from probing.analysis.harness import harness_words
from probing.analysis.tokens_in_words import tokens_in_words
from probing.command_line.program import print_by_dimension, print_lines
from probing.results.result import Result


def add_show(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", help="the folder of a result")
    parser.set_defaults(command=show)


def show(arguments: argparse.Namespace) -> None:
    result = Result.load(arguments.folder)
    benchmark = result.record["benchmark"]
    print(f"{result.record['model']['id']} on {benchmark['slug']} {benchmark['version']}")
    print_lines("Tokens", tokens_in_words(result.record))
    print_lines("The same with lm-evaluation-harness", harness_words(result.record))
    print_by_dimension(result.scores)
