"""What became of the items between two runs of a series: learned, forgotten, kept or unknown in both."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from leaderboard.lists.compared_runs import records
from leaderboard.models import Benchmark, Run
from leaderboard.stored.outcomes import NOT_COUNTED, RIGHT, RunOutcomes, outcomes_of, outcomes_of_all
from probing.analysis.breakdown import OVERALL
from probing.analysis.comparison import Correctness, overall_difference
from probing.analysis.trajectories import Changes, changes
from probing.errors import BadInput

RIGHT_COLUMN = "correct"


class AnswersMissing(BadInput):
    """The answers of a run to single questions are not stored on this site."""


class ChangeShare(NamedTuple):
    """How many of all `n` items had one change, and their share with its 95 % interval."""

    change: str
    items: int
    share: float
    low: float
    high: float
    n: int


def item_changes(before: Run, after: Run) -> Changes:
    """Return what became of the items that both runs have answered. Two queries.

    Raises `BadInput` if they share none, or if answers to the benchmark are not right or wrong.
    """
    if before.pk == after.pk:
        raise BadInput("Both points are the same.", "Choose two different points of the training.")
    correctness = Correctness(RIGHT_COLUMN, before.benchmark.correctness.macro)
    return changes(_rows(before), _rows(after), correctness=correctness)


class Difference(NamedTuple):
    """By how much a second run's figure is above that of a first one, with the 95 % interval for the same items."""

    value: float
    low: float
    high: float


def paired_differences(pairs: Sequence[tuple[Run, Run]]) -> list[Difference | None]:
    """Return the difference of the second run of each pair from the first, on the items that both have answered.

    None where the answers of one are not stored, or the two share none. One query.
    """
    answers = outcomes_of_all({run.pk for pair in pairs for run in pair})
    return [
        _difference(first.benchmark, *(answers.get(run.pk, {}) for run in (first, second))) for first, second in pairs
    ]


def _difference(
    benchmark: Benchmark, first: Mapping[str, RunOutcomes], second: Mapping[str, RunOutcomes]
) -> Difference | None:
    if not first.keys() & second.keys():
        return None
    correctness = Correctness(RIGHT_COLUMN, benchmark.correctness.macro)
    try:
        figures = overall_difference(_table(first), _table(second), correctness)
    except BadInput:  # they have no item in common
        return None
    return Difference(figures["difference"], figures["low"], figures["high"])


def _rows(run: Run) -> pd.DataFrame:
    """Return a row for each template and item of a run; `correct` is missing where an answer does not count."""
    outcomes = outcomes_of(run)
    if not outcomes:
        raise AnswersMissing(
            f"The answers of run {run.pk} to single questions are not stored here.", "Choose another point."
        )
    return _table(outcomes)


def _table(outcomes: Mapping[str, RunOutcomes]) -> pd.DataFrame:
    return pd.concat([_relation_rows(*of_relation) for of_relation in outcomes.items()], ignore_index=True)


def _relation_rows(relation: str, outcomes: RunOutcomes) -> pd.DataFrame:
    templates, items = outcomes.values.shape
    values = pd.array(outcomes.values.ravel() == RIGHT, dtype="boolean")
    values[outcomes.values.ravel() == NOT_COUNTED] = pd.NA
    keys = {"template": np.repeat(np.arange(templates), items), "index": np.tile(outcomes.items, templates)}
    return pd.DataFrame({"relation": relation, **keys, RIGHT_COLUMN: values})


def overall_shares(of: Changes) -> list[ChangeShare]:
    """Return the number and the share of the items of each change."""
    overall = records(of.shares[of.shares["dimension"] == OVERALL])
    return [
        ChangeShare(row["change"], round(row["items"]), row["share"], row["low"], row["high"], round(row["n"]))
        for row in overall
    ]
