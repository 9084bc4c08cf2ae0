"""Two to four runs on the same items: which runs are meant, how they differ, where they disagree."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from leaderboard.lists import queries
from leaderboard.models import Run
from leaderboard.stored import item_rows
from probing.analysis.comparison import KEY, common, compare
from probing.errors import BadInput
from probing.probes import probe_named
from probing.probes.probe import tag_columns

NAMES = ("first", "second", "third", "fourth")
# What is stored of a model's answer: the words that it ranked, else one.
ANSWERS = ("predictions", "prediction_label")
SHOWN = (*KEY, "subject", "answer_label", "language", "rank", *ANSWERS)
FIRST = 5  # words at a blank that are shown
Row = dict[str, Any]
Pattern = tuple[bool, ...]  # which of the runs are right


@dataclass(frozen=True)
class Comparison:
    """`differences`: each further run, by its name, against the first. `right` and `rows`: one line for each row that
    counts in all runs, one column for each run: whether it is right, and the number of the row in its file.
    """

    differences: list[Row]
    right: NDArray[np.bool_]
    rows: NDArray[np.int64]

    def counts(self) -> dict[Pattern, int]:
        """How many answers there are of each pattern that occurs."""
        patterns, counts = np.unique(self.right, axis=0, return_counts=True)
        return {tuple(pattern): count for pattern, count in zip(patterns.tolist(), counts.tolist(), strict=True)}


def find_runs(asked: Sequence[str], benchmark: str) -> list[Run]:
    """The runs meant by run numbers or model ids, on a benchmark that all of them have."""
    if len(asked) > len(NAMES):
        raise BadInput(f"Only {len(NAMES)} runs can be compared.", f"Leave out all but {len(NAMES)}.")
    candidates = [_candidates(text, benchmark) for text in asked]
    for shared in dict.fromkeys(run.benchmark_id for run in candidates[0]):
        on_it = [[run for run in runs if run.benchmark_id == shared] for runs in candidates]
        for runs in product(*on_it):
            if len({run.pk for run in runs}) == len(runs):
                return list(runs)
    raise BadInput("These have no benchmark in common.", "Choose different runs on the same benchmark.")


def _candidates(asked: str, benchmark: str) -> list[Run]:
    runs = queries.measured_runs().exclude(artefact="")
    found = runs.filter(pk=asked) if asked.isdecimal() else runs.filter(model__hub_id=asked)
    kept = list(found.filter(benchmark__slug=benchmark) if benchmark else found)
    if not kept:
        raise BadInput(f"There is no finished run {asked!r}.", "Choose from the list.")
    return kept


@lru_cache(maxsize=32)
def compared(*numbers: int) -> Comparison:
    """A finished run never changes."""
    runs = Run.objects.in_bulk(numbers)
    right = runs[numbers[0]].benchmark.correctness
    results = {name: _answers(runs[number], right.column) for name, number in zip(NAMES, numbers, strict=False)}
    dimensions = [name for name in results["first"].columns if name not in {*KEY, right.column, "row"}]
    shared = common(results, right.column)
    return Comparison(
        compare(shared, dimensions, right).to_dict("records"),
        np.stack([rows[right.column] for rows in shared.values()], axis=1),
        np.stack([rows["row"] for rows in shared.values()], axis=1),
    )


def _answers(run: Run, right: str) -> pd.DataFrame:
    """What a comparison needs of a run: keys, right or wrong, the tags, and where the row stands."""
    stored = item_rows.names(run)
    if right not in stored:
        raise BadInput("These runs have no right answers to compare.", "Compare their scores on the leaderboard.")
    tags = tag_columns(probe_named(run.benchmark.probe), stored)
    numbers = item_rows.find(run, item_rows.ItemFilter())
    return pd.DataFrame(item_rows.rows(run, numbers, [*KEY, right, *tags])).assign(row=numbers)


def disagreements(runs: Sequence[Run], found: Comparison, pattern: Pattern | None) -> list[Row]:
    """The answers of this pattern, or all on which the runs are not all right or all wrong.

    Each with what is asked, and under `right` and `said` what each run makes of it.
    """
    alike = found.right.all(axis=1) | ~found.right.any(axis=1)
    chosen = ~alike if pattern is None else (found.right == pattern).all(axis=1)
    read = [_in_order(run, numbers) for run, numbers in zip(runs, found.rows[chosen].T, strict=True)]
    return [
        {**answers[0], "right": right, "said": [_said(answer) for answer in answers]}
        for right, *answers in zip(found.right[chosen].tolist(), *read, strict=True)
    ]


def _in_order(run: Run, numbers: NDArray[np.int64]) -> list[Row]:
    """The rows of these numbers, which need not ascend."""
    order, stored = np.argsort(numbers), item_rows.names(run)
    read = item_rows.rows(run, numbers[order].tolist(), [name for name in SHOWN if name in stored])
    by_number = dict(zip(order.tolist(), read, strict=True))
    return [by_number[place] for place in range(len(numbers))]


def _said(answer: Row) -> str:
    """What the model answered: its best words, as far as the right one, or an option, or how it went on."""
    said = next((answer[name] for name in ANSWERS if answer.get(name)), "")
    return said if isinstance(said, str) else " · ".join(said[: max(answer.get("rank") or 0, FIRST)])
