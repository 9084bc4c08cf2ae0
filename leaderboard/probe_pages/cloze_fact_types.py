"""The fact types that a reader chose, and the macro-averages over them (methods 5.5)."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from math import isnan
from typing import Any, NamedTuple

import pandas as pd

from leaderboard.display import cells
from leaderboard.display.tables import Column
from leaderboard.models import Score
from probing.analysis.cloze import mean_share
from probing.analysis.crossed import CELL, split_group
from probing.statements.geography.fact_types import FACT_TYPES

HEADS = list(dict.fromkeys(fact_type.head for fact_type in FACT_TYPES.values()))
ScoresByFactType = Mapping[str, Mapping[str, Score]]  # by key of the fact type and metric


@dataclass(frozen=True)
class FactTypeKey:
    """The fact type that a row of a table is about."""

    key: str

    @property
    def name(self) -> str:
        return FACT_TYPES[self.key].name

    @property
    def head(self) -> str:
        return FACT_TYPES[self.key].head


def name_column() -> Column[Any]:
    """Return the column with the name of a row's fact type."""
    return Column("fact_type", "Fact type", lambda row: cells.text(row.name), align="head")


def head_column() -> Column[Any]:
    """Return the column with the kind of place that a row's fact type is about."""
    return Column("head", "Kind of place", lambda row: cells.text(row.head), align="kind")


@dataclass(frozen=True)
class ChosenFactTypes:
    """The scores of each run's fact types; `divided` tells whether the runs can be narrowed to fewer fact types."""

    runs: Mapping[int, ScoresByFactType]
    divided: bool


def choose(runs: Collection[int], major_only: bool = False, no_leaks: bool = False) -> ChosenFactTypes:
    """Return the chosen fact types of runs by number. One query.

    Published figures do not tell leaky sentences from others, so that `no_leaks` leaves them out.
    """
    stored = list(Score.objects.filter(run__in=runs, dimension__in=("fact_type", CELL)).order_by("pk"))
    cells = [(_cell(score), score) for score in stored if score.dimension == CELL]
    majors = {cell.fact_type for cell, _ in cells if cell.size == "major"}
    if no_leaks:
        scores = [(cell.fact_type, score) for cell, score in cells if cell.leak == "not leaky"]
    else:
        scores = [(score.group, score) for score in stored if score.dimension == "fact_type"]
    by_run: dict[int, dict[str, dict[str, Score]]] = {}
    for key, score in scores:
        if key in FACT_TYPES and (key in majors or not major_only):
            by_run.setdefault(score.run_id, {}).setdefault(key, {})[score.metric] = score
    return ChosenFactTypes(by_run, bool(cells))


class FactTypeCell(NamedTuple):
    """The sentences of one fact type that are leaky or are not; `size` tells whether the fact type is major."""

    fact_type: str
    size: str
    leak: str


def _cell(score: Score) -> FactTypeCell:
    return FactTypeCell(*split_group(score.dimension, score.group))


def choice_suffix(major_only: bool, no_leaks: bool) -> str:
    """Return what is put behind a title to say what was chosen."""
    return (", major only" if major_only else "") + (", without leaky sentences" if no_leaks else "")


@dataclass(frozen=True)
class MacroAverage:
    """The macro-averages over all fact types, or over those of one head, by metric."""

    name: str
    fact_types: int
    scores: Mapping[str, Score]

    @property
    def main(self) -> Score | None:
        return self.scores.get("accuracy")


def macro_averages(types: ScoresByFactType) -> list[MacroAverage]:
    """Return the averages over all fact types, then head by head; a head without fact types is left out."""
    groups = {"All fact types": list(types)}
    groups |= {head: [key for key in types if FACT_TYPES[key].head == head] for head in HEADS}
    return [_macro_average(name, [types[key] for key in keys]) for name, keys in groups.items() if keys]


def _macro_average(name: str, types: list[Mapping[str, Score]]) -> MacroAverage:
    metrics = dict.fromkeys(metric for scores in types for metric in scores)
    means = {metric: _mean([scores[metric] for scores in types if metric in scores]) for metric in metrics}
    return MacroAverage(name, len(types), means)


def _mean(scores: list[Score]) -> Score:
    values, numbers = (pd.Series([getattr(score, name) for score in scores]) for name in ("value", "n"))
    figures = (None if isnan(figure) else figure for figure in mean_share(values, numbers))
    names = ("value", "n", "low", "high", "cluster_low", "cluster_high")
    return Score(metric=scores[0].metric, **dict(zip(names, figures, strict=True)))
