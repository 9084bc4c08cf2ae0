"""`show --predictions`: which answers a model gives, by the language of the prompts, as a table and as a chart.

The chart is the one of DLAMA's Figure 1: shares of answers by the language of the prompts.
"""

import argparse
import html
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from probing.analysis.culture_metrics import nearness, prediction_shares
from probing.catalog import open_benchmark
from probing.chart_template import LIGHT, chart_template, trace_menu
from probing.command_line.printing import print_table
from probing.errors import BadInput, suggestion
from probing.extras import graph_objects
from probing.files.folders import new_file
from probing.formats.dlama import read_merged
from probing.plan import plan_of
from probing.results.rescoring import refuse_other_questions
from probing.results.result import Result
from probing.settings import Settings

TASK = "The chart of predictions"
MOST = 5  # answers that are printed for each language
OF_PREDICTIONS = ("benchmark", "relation", "merge")  # the arguments of `show` that are about --predictions
OTHERS = "all other answers"
BAR_HEIGHT = 34  # pixels
# The bars of each language, by the column of their shares: all of what the model answers, the part of it that is right,
# which is as long as P@1, and what is right.
BARS = {"share": "predicted", "correct_share": "predicted rightly", "right_share": "right"}
FRAME = 220  # pixels for the menu above the bars, and the axis and the legend below


def add_predictions(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    shares = "print which answers one model gives, by language; DIR may be several folders, as one of each language"
    add("--predictions", action="store_true", help=shares)
    add("--benchmark", metavar="NAME", default="", help="predictions: folder or name; default: the recorded name")
    relations = "predictions: only these relations, such as P140"
    add("--relation", "--relations", nargs="+", default=[], metavar="ID", help=relations)
    merged = 'predictions: answers that count as one, in TOML: Islam = ["Q432", "Muslim"]'
    add("--merge", type=Path, metavar="FILE", help=merged)


def print_predictions(arguments: argparse.Namespace) -> None:
    merged = read_merged(arguments.merge) if arguments.merge else {}
    opened = cache(open_benchmark)
    tables, distances, models = [], [], set()
    for folder in dict.fromkeys(arguments.folders):
        result = Result.load(folder)
        models.add(result.record["model"]["id"])
        benchmark = opened(arguments.benchmark or result.record["benchmark"]["slug"])
        refuse_other_questions(result, plan_of(benchmark, Settings.from_json(result.record["settings"])))
        rows = _of_relations(result.items, arguments.relation)
        tables.append(prediction_shares(rows, benchmark, merged))
        distances.append(nearness(rows, benchmark))
    if len(models) > 1:
        raise BadInput(f"These results are of {len(models)} models.", "Give results of one model.")
    table = pd.concat(tables, ignore_index=True)
    _refuse_twice(table)
    by_language = table.groupby(["relation", "language"], sort=False)
    print_table(by_language.head(MOST))
    print("\nP@1, with answers that count as one merged")
    print_table(by_language["correct_share"].sum().rename("p_at_1").reset_index())
    if len(near := pd.concat(distances)):
        print("\nhow near the answers are to right ones, by the country of both")
        print_table(near)
    if arguments.plot:
        chart = prediction_chart(table, MOST)
        with new_file(arguments.plot) as temporary:
            chart.write_html(temporary, include_plotlyjs=True)


def _of_relations(rows: pd.DataFrame, relations: list[str]) -> pd.DataFrame:
    kept = rows[rows["relation"].isin(relations)] if relations else rows
    if kept.empty:
        step = suggestion(relations[0], rows["relation"].unique())
        raise BadInput(f"There are no rows of {', '.join(relations)}.", step)
    return kept


def _refuse_twice(table: pd.DataFrame) -> None:
    twice = table[table.duplicated(["relation", "language", "answer"])]
    if len(twice):
        first = twice.iloc[0]
        where = f"{first['relation']} in {first['language']}" if first["language"] else first["relation"]
        raise BadInput(f"Two results are about {where}.", "Give one for each language.")


def prediction_chart(shares: pd.DataFrame, most: int) -> Any:
    """Return a chart of stacked bars, with a menu of the relations where there are several.

    `shares`: the table of `prediction_shares`. Each language has the `BARS`. The answers that are given most often in
    all languages have colours, `most` of them at the most.
    """
    library = graph_objects(TASK)
    figure = library.Figure()
    relations = list(dict.fromkeys(shares["relation"]))
    of_trace: list[str] = []
    for relation in relations:
        for name, values in _stacked(shares[shares["relation"] == relation], most):
            colour = {"color": LIGHT.line} if name == OTHERS else {}
            figure.add_trace(
                library.Bar(
                    y=values.index,
                    x=values.to_numpy(),
                    name=html.escape(name),
                    orientation="h",
                    visible=relation == relations[0],
                    marker=colour,
                    hovertemplate="%{y}: %{x:.1%}",
                )
            )
            of_trace.append(relation)
    most_bars = len(BARS) * shares.groupby("relation")["language"].nunique().max()
    figure.update_layout(
        barmode="stack",
        height=int(FRAME + BAR_HEIGHT * most_bars),
        template=chart_template(LIGHT),
        colorway=list(LIGHT.series),
        showlegend=True,
        legend={"orientation": "h", "y": -0.2, "traceorder": "normal"},
        margin={"t": 70},
        xaxis={"title": {"text": "share of the questions"}, "tickformat": ".0%", "range": [0, 1]},
        yaxis={"autorange": "reversed"},
        updatemenus=[{**trace_menu(relations, of_trace), "y": 1, "yanchor": "bottom"}] if len(relations) > 1 else [],
    )
    return figure


def _stacked(shares: pd.DataFrame, most: int) -> list[tuple[str, pd.Series]]:
    """Return the answers of one relation, each with its share in every bar; the rest of all bars comes last."""
    totals = shares.groupby("answer", sort=False)["predictions"].sum().sort_values(ascending=False, kind="stable")
    named = list(totals.index[: min(most, len(LIGHT.series))])
    languages = list(dict.fromkeys(shares["language"]))
    bars = [_bar(language, kind) for language in languages for kind in BARS.values()]
    table = pd.DataFrame(0.0, index=bars, columns=[*named, OTHERS])
    for language, answer, *values in shares[["language", "answer", *BARS]].itertuples(index=False):
        column = answer if answer in named else OTHERS
        for kind, value in zip(BARS.values(), values, strict=True):
            table.loc[_bar(language, kind), column] += value
    return [(name, table[name]) for name in table.columns if table[name].any()]


def _bar(language: str, kind: str) -> str:
    return html.escape(" ".join(filter(None, [language, kind])))
