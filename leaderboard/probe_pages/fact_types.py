"""The fact types that a reader chose, and the macro-averages over them (methods 5.5)."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import pandas as pd

from leaderboard.models import Score
from probing.analysis.cloze import CELL, mean_share
from probing.statements.geography.fact_types import FACT_TYPES

HEADS = list(dict.fromkeys(fact_type.head for fact_type in FACT_TYPES.values()))
FactTypes = Mapping[str, Mapping[str, Score]]


@dataclass(frozen=True)
class Chosen:
    """By run, the scores of its fact types by key and metric. `divided`: whether fewer of them can be chosen."""

    runs: Mapping[int, FactTypes]
    divided: bool


def choose(runs: Collection[int], major_only: bool = False, no_leaks: bool = False) -> Chosen:
    """Of runs by number, in one query. Published figures do not tell leaky sentences from others."""
    stored = list(Score.objects.filter(run__in=runs, dimension__in=("fact_type", CELL)).order_by("pk"))
    cells = [(*score.group.split(" ", 2), score) for score in stored if score.dimension == CELL]
    majors = {key for key, size, _, _ in cells if size == "major"}
    if no_leaks:
        scores = [(key, score) for key, _, leak, score in cells if leak == "not leaky"]
    else:
        scores = [(score.group, score) for score in stored if score.dimension == "fact_type"]
    found: dict[int, dict[str, dict[str, Score]]] = {}
    for key, score in scores:
        if key in FACT_TYPES and (key in majors or not major_only):
            found.setdefault(score.run_id, {}).setdefault(key, {})[score.metric] = score
    return Chosen(found, bool(cells))


def said(major_only: bool, no_leaks: bool) -> str:
    """What was chosen, to be put behind a title."""
    return (", major only" if major_only else "") + (", without leaky sentences" if no_leaks else "")


@dataclass(frozen=True)
class Average:
    """The macro-averages over all fact types, or those of one head, by metric."""

    name: str
    fact_types: int
    scores: Mapping[str, Score]

    @property
    def main(self) -> Score | None:
        return self.scores.get("accuracy")


def averages(types: FactTypes) -> list[Average]:
    """Over all, then head by head; none where there are none."""
    groups = {"All fact types": list(types)}
    groups |= {head: [key for key in types if FACT_TYPES[key].head == head] for head in HEADS}
    return [_average(name, [types[key] for key in keys]) for name, keys in groups.items() if keys]


def _average(name: str, types: list[Mapping[str, Score]]) -> Average:
    metrics = dict.fromkeys(metric for scores in types for metric in scores)
    means = {metric: _mean([scores[metric] for scores in types if metric in scores]) for metric in metrics}
    return Average(name, len(types), means)


def _mean(scores: list[Score]) -> Score:
    value, n, low, high = mean_share(pd.Series([s.value for s in scores]), pd.Series([s.n for s in scores]))
    return Score(metric=scores[0].metric, value=value, n=n, low=low, high=high)
