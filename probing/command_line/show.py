"""The command `show`: print a result's scores, and what they hide."""

import argparse

from probing.analysis.answer_spaces import FULL_RUN_NEEDED
from probing.analysis.details import detail_tables, needs_full_run, without_details
from probing.command_line.program import print_by_dimension, print_table
from probing.results.result import Result


def add_show(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", help="the folder of a result")
    parser.add_argument(
        "--details", action="store_true", help="also print the long tables: by template, by option, by confidence"
    )
    parser.set_defaults(command=show)


def show(arguments: argparse.Namespace) -> None:
    result = Result.load(arguments.folder)
    benchmark = result.record["benchmark"]
    print(f"{result.record['model']['id']} on {benchmark['slug']} {benchmark['version']}")
    print_by_dimension(without_details(result.scores))
    for title, table, whole in detail_tables(result.items, result.scores):
        if arguments.details or not whole:
            print(f"\n{title}")
            print_table(table)
    if needs_full_run(result.items):
        print(f"\n{FULL_RUN_NEEDED}")
