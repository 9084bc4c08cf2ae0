"""Outcomes of single questions: which of them a run answered rightly, how many runs did, how difficult they are.

They are stored when a run finishes, so that the pages of questions read no result files.
"""

import zlib
from collections import Counter
from collections.abc import Collection, Iterable
from typing import NamedTuple

import numpy as np
import pandas as pd
from django.db import transaction
from django.db.models import QuerySet
from numpy.typing import NDArray

from leaderboard.models import Benchmark, RelationCounts, RelationOutcomes, Run
from leaderboard.models.run import RunQuerySet

WRONG, RIGHT, NOT_COUNTED = 0, 1, 2


class RunOutcomes(NamedTuple):
    """The outcomes of one relation: `items` are ascending indices, `values` has a row per template, a column per item.

    A value is `WRONG`, `RIGHT` or `NOT_COUNTED`; the last one also where the question was not asked.
    """

    items: NDArray[np.int64]
    values: NDArray[np.uint8]

    def of(self, index: int) -> list[int]:
        """Return the outcomes of an item by template; none where it was not asked."""
        column = int(np.searchsorted(self.items, index))
        is_stored = column < len(self.items) and self.items[column] == index
        return self.values[:, column].tolist() if is_stored else []


class Counts(NamedTuple):
    """How many runs `answered` each template and item of a relation, and how many were `right`."""

    items: NDArray[np.int64]
    answered: NDArray[np.int32]
    right: NDArray[np.int32]


def store_outcomes(run: Run, rows: pd.DataFrame) -> None:
    """Store which questions a run answered rightly, in place of older outcomes; none where answers have no right."""
    run.relation_outcomes.all().delete()
    column = run.benchmark.correctness.column
    if not column:
        return
    values = rows[column].astype("boolean").astype("UInt8").fillna(NOT_COUNTED).astype(np.uint8)
    table = pd.DataFrame({"template": rows["template"], "index": rows["index"], "value": values})
    RelationOutcomes.objects.bulk_create(
        RelationOutcomes(run=run, relation=str(relation), items=_pack_items(outcomes.items), outcomes=packed)
        for relation, of_relation in table.groupby(rows["relation"].astype(str), sort=False)
        for outcomes in [_outcomes(of_relation)]
        for packed in [zlib.compress(outcomes.values.tobytes())]
    )


def _outcomes(rows: pd.DataFrame) -> RunOutcomes:
    items, columns = np.unique(rows["index"].to_numpy(np.int64), return_inverse=True)
    templates = rows["template"].to_numpy(np.int64)
    values = np.full((int(templates.max()) + 1, len(items)), NOT_COUNTED, dtype=np.uint8)
    values[templates, columns] = rows["value"].to_numpy(np.uint8)
    return RunOutcomes(items, values)


def _pack_items(items: NDArray[np.int64]) -> bytes:
    return zlib.compress(np.diff(items, prepend=0).astype("<i4").tobytes())


def answers_of(benchmark: Benchmark, relations: Collection[str]) -> dict[str, dict[int, RunOutcomes]]:
    """Return the outcomes of relations for every run that was measured here, by relation and run number. One query."""
    rows = RelationOutcomes.objects.filter(relation__in=relations, run__in=measured_on(benchmark))
    answers: dict[str, dict[int, RunOutcomes]] = {relation: {} for relation in relations}
    for relation, run, items, outcomes in rows.values_list("relation", "run", "items", "outcomes"):
        answers[relation][run] = _unpack(items, outcomes)
    return answers


def outcomes_of(run: Run) -> dict[str, RunOutcomes]:
    """Return the outcomes of a run by relation; none where no outcomes are stored. One query."""
    rows = run.relation_outcomes.values_list("relation", "items", "outcomes")
    return {relation: _unpack(items, outcomes) for relation, items, outcomes in rows}


def _unpack(items: bytes | memoryview, outcomes: bytes | memoryview) -> RunOutcomes:
    indices = _unpack_items(items)
    return RunOutcomes(indices, np.frombuffer(zlib.decompress(outcomes), np.uint8).reshape(-1, len(indices)))


def _unpack_items(packed: bytes | memoryview) -> NDArray[np.int64]:
    return np.cumsum(np.frombuffer(zlib.decompress(packed), "<i4"), dtype=np.int64)


def measured_on(benchmark: Benchmark) -> QuerySet[Run]:
    """Return the finished runs that were measured here, of a training the last step only."""
    return every_step_measured_on(benchmark).newest_steps()


def every_step_measured_on(benchmark: Benchmark) -> RunQuerySet:
    """Return the finished runs that were measured here, at whichever step of a training."""
    return Run.objects.filter(benchmark=benchmark, state=Run.State.FINISHED, provenance=Run.Provenance.MEASURED)


def refresh_counts(benchmark: Benchmark) -> None:
    """Count the right answers to every question again, over all runs that were measured here."""
    with transaction.atomic():
        Benchmark.objects.select_for_update().get(pk=benchmark.pk)
        rows = RelationOutcomes.objects.filter(run__in=measured_on(benchmark))
        RelationCounts.objects.filter(benchmark=benchmark).delete()
        for relation in list(rows.order_by("relation").values_list("relation", flat=True).distinct()):
            packed = rows.filter(relation=relation).values_list("items", "outcomes").iterator()
            counts = _count(_unpack(items, outcomes) for items, outcomes in packed)
            RelationCounts.objects.create(
                benchmark=benchmark,
                relation=relation,
                items=_pack_items(counts.items),
                counts=zlib.compress(np.stack([counts.answered, counts.right]).astype("<i4").tobytes()),
            )


def _count(runs: Iterable[RunOutcomes]) -> Counts:
    """Add up the outcomes of runs, which may have been asked different items and templates."""
    total = Counts(np.empty(0, np.int64), np.empty((0, 0), np.int32), np.empty((0, 0), np.int32))
    for items, values in runs:
        total = _widened(total, items, len(values))
        columns = np.searchsorted(total.items, items)
        total.answered[: len(values), columns] += values != NOT_COUNTED
        total.right[: len(values), columns] += values == RIGHT
    return total


def _widened(total: Counts, items: NDArray[np.int64], templates: int) -> Counts:
    """Return the counts with room for these items and this many templates."""
    rows, _ = total.answered.shape
    if rows >= templates and np.array_equal(total.items, items):
        return total
    union = np.union1d(total.items, items)
    columns = np.searchsorted(union, total.items)
    wide = np.zeros((2, max(rows, templates), len(union)), np.int32)
    wide[0, :rows, columns], wide[1, :rows, columns] = total.answered.T, total.right.T
    return Counts(union, *wide)


def counts_of(benchmark: Benchmark) -> dict[str, Counts]:
    """Return the counts of each relation. One query."""
    rows = RelationCounts.objects.filter(benchmark=benchmark).values_list("relation", "items", "counts")
    return {relation: _unpack_counts(items, counts) for relation, items, counts in rows}


def _unpack_counts(packed: bytes | memoryview, counts: bytes | memoryview) -> Counts:
    items = _unpack_items(packed)
    return Counts(items, *np.frombuffer(zlib.decompress(counts), "<i4").reshape(2, -1, len(items)))


# How difficult the questions of a benchmark are: how many have which share of right answers, stored with ranks.


# The numbers of the outermost classes, of questions that no run ever got right, and of those that every run always got
# right. Between them are the tenths, from 1 to 10.
NONE_RIGHT, ALL_RIGHT = 0, 11


def store_difficulty(benchmark: Benchmark) -> None:
    """Count the questions of each class, over all runs that were measured here and their wordings. Two queries."""
    sizes: Counter[int] = Counter()
    for counts in counts_of(benchmark).values():
        answered, right = (table.sum(axis=0, dtype=np.int64) for table in (counts.answered, counts.right))
        sizes.update(_class_numbers(answered[answered > 0], right[answered > 0]).tolist())
    difficulty = [sizes[number] for number in range(ALL_RIGHT + 1)] if sizes else []
    Benchmark.objects.filter(pk=benchmark.pk).update(difficulty=difficulty)


def _class_numbers(answered: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the class of each question, in whole numbers so that a share of exactly 30 % is in the third tenth."""
    return np.where(right == answered, ALL_RIGHT, -(-10 * right // answered))
