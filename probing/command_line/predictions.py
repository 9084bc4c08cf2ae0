"""The command `predictions`: which answers a model gives, by the language of the prompts."""

import argparse
from functools import cache
from pathlib import Path

import pandas as pd

from probing.analysis.predictions import prediction_shares
from probing.catalog import open_benchmark
from probing.command_line.prediction_chart import prediction_chart
from probing.command_line.program import print_table
from probing.errors import BadInput
from probing.files.folders import new_file
from probing.formats.merged_answers import read_merged
from probing.plan import plan_of
from probing.results.rescoring import refuse_other_questions
from probing.results.result import Result
from probing.settings import Settings


def add_predictions(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("folders", metavar="DIR", nargs="+", help="folders of one model's results, such as one for each language")
    add("--benchmark", metavar="NAME", default="", help="folder or name; default: the recorded name")
    add("--relation", nargs="+", default=[], metavar="ID", help="only these relations, such as P140")
    add("--merge", type=Path, metavar="FILE", help='answers that count as one, in TOML: Islam = ["Q432", "Muslim"]')
    add("--most", type=int, default=5, metavar="N", help="answers that are printed for each language; default: 5")
    add("--csv", type=Path, metavar="FILE", help="write all answers to a CSV file as well")
    add("--plot", type=Path, metavar="FILE", help="draw the shares as a chart, in an HTML file")
    parser.set_defaults(command=print_predictions)


def print_predictions(arguments: argparse.Namespace) -> None:
    if arguments.most < 1:
        raise BadInput(f"--most {arguments.most} would print nothing.", "Give 1 or more.")
    merged = read_merged(arguments.merge) if arguments.merge else {}
    opened = cache(open_benchmark)
    tables, models = [], set()
    for folder in dict.fromkeys(arguments.folders):
        result = Result.load(folder)
        models.add(result.record["model"]["id"])
        benchmark = opened(arguments.benchmark or result.record["benchmark"]["slug"])
        refuse_other_questions(result, plan_of(benchmark, Settings.from_json(result.record["settings"])))
        tables.append(prediction_shares(_of_relations(result.items, arguments.relation), benchmark, merged))
    if len(models) > 1:
        raise BadInput(f"These results are of {len(models)} models.", "Give results of one model.")
    table = pd.concat(tables, ignore_index=True)
    _refuse_twice(table)
    print_table(table.groupby(["relation", "language"], sort=False).head(arguments.most))
    if arguments.csv:
        with new_file(arguments.csv) as temporary:
            table.to_csv(temporary, index=False)
    if arguments.plot:
        chart = prediction_chart(table, arguments.most)
        with new_file(arguments.plot) as temporary:
            chart.write_html(temporary, include_plotlyjs=True)


def _of_relations(rows: pd.DataFrame, relations: list[str]) -> pd.DataFrame:
    kept = rows[rows["relation"].isin(relations)] if relations else rows
    if kept.empty:
        there = ", ".join(rows["relation"].unique())
        raise BadInput(f"There are no rows of {', '.join(relations)}.", f"Choose from: {there}.")
    return kept


def _refuse_twice(table: pd.DataFrame) -> None:
    """Raise `BadInput` if two results are about the same relation in the same language."""
    twice = table[table.duplicated(["relation", "language", "answer"])]
    if len(twice):
        first = twice.iloc[0]
        where = f"{first['relation']} in {first['language']}" if first["language"] else first["relation"]
        raise BadInput(f"Two results are about {where}.", "Give one for each language.")
