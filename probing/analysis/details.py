"""What a figure hides: scores that have tables of their own, apart from the breakdowns of a probe's main figures."""

from typing import NamedTuple

import pandas as pd

from probing.analysis.breakdown import OVERALL
from probing.analysis.templates import TEMPLATE_METRICS, template_scores, wordings

DETAIL_METRICS = frozenset(TEMPLATE_METRICS)


class DetailTable(NamedTuple):
    """A table with its title; `whole` tables are long and are printed only where they are asked for."""

    title: str
    table: pd.DataFrame
    whole: bool = False


def detail_scores(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the tidy scores of `DETAIL_METRICS` of rows that rank options."""
    return template_scores(rows)


def without_details(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the tidy scores that breakdowns show."""
    return scores[~scores["metric"].isin(DETAIL_METRICS)]


def detail_tables(rows: pd.DataFrame, scores: pd.DataFrame) -> list[DetailTable]:
    """Return the tables of a result's details, for its rows and its tidy scores; none for a probe without options."""
    tables = [DetailTable("template sensitivity", _overall(scores, TEMPLATE_METRICS))]
    if len(tables[0].table):
        tables.append(DetailTable("accuracy by relation and template", wordings(rows), whole=True))
    return [entry for entry in tables if len(entry.table)]


def _overall(scores: pd.DataFrame, metrics: tuple[str, ...]) -> pd.DataFrame:
    chosen = scores[(scores["dimension"] == OVERALL) & scores["metric"].isin(metrics)]
    return chosen[["metric", "value", "n", "low", "high"]]
