"""The command `show`: print a result's scores, and what they hide."""

import argparse
from pathlib import Path

from probing.analysis.answer_spaces import FULL_RUN_NEEDED
from probing.analysis.conditional import conditional_accuracy
from probing.analysis.details import detail_tables, needs_full_run, without_details
from probing.analysis.harness import harness_words
from probing.analysis.ties import TIES, ties_in_words
from probing.analysis.tokens_in_words import tokens_in_words
from probing.command_line.program import print_lines, print_scores, print_table
from probing.probes import probe_named, probe_of
from probing.results.result import Result
from probing.results.skipped_items import skipped_in_words
from probing.results.tokens import TOKENS_FILE, read_tokens
from probing.settings import Settings


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
    for remark in [*probe_named(result.record["probe"]).remarks, *result.notes, *skipped_in_words(result.record)]:
        print(remark)
    ties = result.scores[result.scores["metric"] == TIES]
    for share, items in zip(ties["value"], ties["n"], strict=True):
        print(ties_in_words(share, items))
    print_lines("Tokens", tokens_in_words(result.record))
    print_lines("The same with lm-evaluation-harness", harness_words(result.record))
    print_scores(without_details(result.scores))
    print(
        "\n95 % intervals: low and high on these relations, cluster_low and cluster_high on other relations like these"
    )
    print_details(result, arguments.details)
    print_alternatives(result, Path(arguments.folder) / TOKENS_FILE)


def print_details(result: Result, whole: bool) -> None:
    """Print what the figures hide, with `whole` the long tables as well."""
    for title, table, is_long in detail_tables(result.items, result.scores):
        if whole or not is_long:
            print(f"\n{title}")
            print_table(table)
    if needs_full_run(result.items):
        print(f"\n{FULL_RUN_NEEDED}")


def print_alternatives(result: Result, tokens: Path) -> None:
    """Print accuracy by conditional scores where tokens are stored, and what other rules cannot be computed and why."""
    settings = Settings.from_json(result.record["settings"])
    probe = probe_of(settings)
    if tokens.is_file():
        print("\nby the scores of single tokens")
        scores = conditional_accuracy(result.items, read_tokens(tokens), probe.main_metric)
        print_table(scores.drop(columns="dimension"))
    for sentence in probe.missing_alternatives(settings, result.items.columns):
        print(f"\n{sentence}")
