"""Comparisons of two to four runs on the same items: their differences and their disagreements."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from leaderboard.lists.runs import measured_runs
from leaderboard.models import Run
from leaderboard.stored import item_rows
from leaderboard.stored.item_rows import Row
from probing.analysis.comparison import common_rows, compare
from probing.benchmark import ROW_KEY
from probing.errors import BadInput
from probing.probes import probe_named
from probing.probes.probe import tag_columns

NAMES = ("first", "second", "third", "fourth")
ITEM_COLUMNS = (*ROW_KEY, "subject", "answer_label", "language")
Pattern = tuple[bool, ...]  # for each run whether it is right


class ModelAnswer(NamedTuple):
    """A way to read a model's answer from a row: the columns that are needed, and a function of the row."""

    columns: Sequence[str]
    text: Callable[[Row], str]


@dataclass(frozen=True)
class Comparison:
    """The paired comparison of runs.

    `differences`: each further run, by its name, against the first. `right`, of shape (rows, runs): for each row that
    counts in all runs whether each run is right. `rows`, of the same shape: the number of the row in each run's file.
    """

    differences: list[Row]
    right: NDArray[np.bool_]
    rows: NDArray[np.int64]

    def counts(self) -> dict[Pattern, int]:
        """Map each pattern that occurs to the number of its rows."""
        patterns, counts = np.unique(self.right, axis=0, return_counts=True)
        return {tuple(pattern): count for pattern, count in zip(patterns.tolist(), counts.tolist(), strict=True)}


def find_runs(names: Sequence[str], benchmark: str) -> list[Run]:
    """Return the runs that run numbers or model ids name, on one benchmark that all of them have.

    Raises `BadInput` if a name has no finished run, or if no benchmark is common to all.
    """
    if len(names) > len(NAMES):
        raise BadInput(f"Only {len(NAMES)} runs can be compared.", f"Leave out all but {len(NAMES)}.")
    candidates = [_candidates(name, benchmark) for name in names]
    for benchmark_id in dict.fromkeys(run.benchmark_id for run in candidates[0]):
        on_benchmark = [[run for run in runs if run.benchmark_id == benchmark_id] for runs in candidates]
        for runs in product(*on_benchmark):
            if len({run.pk for run in runs}) == len(runs):
                return list(runs)
    raise BadInput("These runs have no benchmark in common.", "Choose different runs on the same benchmark.")


def _candidates(name: str, benchmark: str) -> list[Run]:
    measured = measured_runs().exclude(artefact="")
    runs = measured.filter(pk=name) if name.isdecimal() else measured.filter(model__hub_id=name)
    candidates = list(runs.filter(benchmark__slug=benchmark) if benchmark else runs)
    if not candidates:
        raise BadInput(f"There is no finished run {name!r}.", "Choose from the list.")
    return candidates


def records(frame: pd.DataFrame) -> list[Row]:
    """Return the rows of a table as dicts by the names of its columns."""
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def compared(*numbers: int) -> Comparison:
    """Return the comparison of runs by their numbers."""
    folders = dict(Run.objects.filter(pk__in=numbers).values_list("pk", "artefact"))
    return compared_results(*((number, folders[number]) for number in numbers))


@lru_cache(maxsize=32)
def compared_results(*stored: tuple[int, str]) -> Comparison:
    """Return the comparison of runs by their numbers and the folders of their results, which never change."""
    numbers = [number for number, _ in stored]
    runs = Run.objects.in_bulk(numbers)
    correctness = runs[numbers[0]].benchmark.correctness
    results = {
        name: _correctness_rows(runs[number], correctness.column) for name, number in zip(NAMES, numbers, strict=False)
    }
    dimensions = [name for name in results["first"].columns if name not in {*ROW_KEY, correctness.column, "row"}]
    shared = common_rows(results, correctness.column)
    return Comparison(
        records(compare(shared, dimensions, correctness)),
        np.stack([rows[correctness.column] for rows in shared.values()], axis=1),
        np.stack([rows["row"] for rows in shared.values()], axis=1),
    )


def _correctness_rows(run: Run, correctness: str) -> pd.DataFrame:
    """Read what a comparison needs: the keys, the correctness, the tags, and the number of each row in its file."""
    columns = item_rows.names(run)
    if correctness not in columns:
        raise BadInput("These runs have no right answers to compare.", "Compare their scores on the leaderboard.")
    tags = tag_columns(probe_named(run.benchmark.probe), columns)
    numbers = item_rows.find(run, item_rows.ItemFilter())
    return pd.DataFrame(item_rows.rows(run, numbers, [*ROW_KEY, correctness, *tags])).assign(row=numbers)


def disagreements(
    runs: Sequence[Run], comparison: Comparison, pattern: Pattern | None, answer: ModelAnswer
) -> list[Row]:
    """Return the rows of a pattern, or all rows on which the runs are neither all right nor all wrong.

    Each holds the item's columns, `right` (a list over runs) and `answers`, the text of each run's answer.
    """
    unanimous = comparison.right.all(axis=1) | ~comparison.right.any(axis=1)
    chosen = ~unanimous if pattern is None else (comparison.right == pattern).all(axis=1)
    by_run = [
        _in_order(run, numbers, (*ITEM_COLUMNS, *answer.columns))
        for run, numbers in zip(runs, comparison.rows[chosen].T, strict=True)
    ]
    return [
        {**rows[0], "right": right, "answers": [answer.text(row) for row in rows]}
        for right, *rows in zip(comparison.right[chosen].tolist(), *by_run, strict=True)
    ]


def _in_order(run: Run, numbers: NDArray[np.int64], columns: Sequence[str]) -> list[Row]:
    """Read rows by numbers that need not ascend, in the order of the numbers."""
    order, stored = np.argsort(numbers), item_rows.names(run)
    rows = item_rows.rows(run, numbers[order].tolist(), [name for name in dict.fromkeys(columns) if name in stored])
    by_number = dict(zip(order.tolist(), rows, strict=True))
    return [by_number[place] for place in range(len(numbers))]
