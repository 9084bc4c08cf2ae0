"""Ranks of measured runs, from paired comparisons, and the smallest difference that a benchmark can tell apart.

Both are computed when a run finishes, from the figures of the items of all runs of its group.
"""

import hashlib
import json
import zlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from math import isnan
from typing import Any

import numpy as np
import pandas as pd
from django.db import transaction
from django.db.models import QuerySet

from leaderboard.figures import artefacts, item_rows
from leaderboard.figures.item_rows import ItemsMissing
from leaderboard.figures.outcomes import (
    measured_on,
    refresh_counts,
    store_difficulty,
    store_outcomes,
)
from leaderboard.models import Benchmark, ItemFigures, ItemSet, Run, RunRank
from probing.analysis.paired_tests import SmallestDifference, assumed_difference, smallest_difference
from probing.analysis.ranks import rank_table
from probing.probes import probe_of
from probing.settings import Settings


@transaction.atomic
def store_figures(run: Run, rows: pd.DataFrame) -> None:
    """Store the figures and the outcomes of a run's items, in place of older ones."""
    store_outcomes(run, rows)
    run.item_figures.all().delete()
    settings = Settings.from_json({**run.settings, "probe": run.benchmark.probe})
    for metric, figures in probe_of(settings).item_figures(rows).items():
        if len(figures):
            packed = zlib.compress(figures.to_numpy("<f4").tobytes())
            ItemFigures.objects.create(run=run, metric=metric, item_set=_item_set(run, figures.index), figures=packed)


def _item_set(run: Run, index: pd.Index) -> ItemSet:
    items: dict[str, list[str | int]] = defaultdict(list)
    for relation, item in index.tolist():
        items[relation].append(item)
    digest = hashlib.sha256(json.dumps(items).encode()).hexdigest()
    return ItemSet.objects.get_or_create(benchmark=run.benchmark, digest=digest, defaults={"items": items})[0]


def refresh_standings(benchmark: Benchmark, new_only: bool = False) -> int:
    """Renew what depends on all measured runs of a version: outcomes of questions, ranks, and the smallest difference.

    Returns how many runs have a rank. `new_only` is that of `refresh_ranks`.
    """
    refresh_counts(benchmark)
    store_difficulty(benchmark)
    ranked = refresh_ranks(benchmark, new_only)
    store_smallest_difference(benchmark)
    return ranked


def withdraw(runs: QuerySet[Run]) -> None:
    """Delete runs with their files, and rank the other runs of their benchmarks again."""
    benchmarks = list(Benchmark.objects.filter(runs__in=runs).distinct())
    with transaction.atomic():
        folders = [folder for run in runs.select_related("model", "benchmark") for folder in artefacts.folders_of(run)]
        runs.delete()
        transaction.on_commit(partial(artefacts.remove_folders, folders))
    for benchmark in benchmarks:
        refresh_standings(benchmark)


def unranked_benchmarks() -> list[Benchmark]:
    """Return the versions with a finished run that has not been ranked yet."""
    finished = Run.objects.filter(state=Run.State.FINISHED, provenance=Run.Provenance.MEASURED).newest_steps()
    unranked = finished.filter(item_figures__isnull=False, ranks__isnull=True)
    return list(Benchmark.objects.filter(pk__in=unranked.values("benchmark")))


def refresh_ranks(benchmark: Benchmark, new_only: bool = False) -> int:
    """Rank the runs of a benchmark version again; return how many have a rank.

    `new_only`: leave out the groups in which every run has a rank already.

    Figures are read and compared outside the transaction that stores the ranks. If the finished runs have changed in
    the meantime, those ranks are stored that still have a run, and the others follow at once.
    """
    while True:
        runs = _finished_runs(benchmark)
        ranked = set(RunRank.objects.filter(run__in=runs).values_list("run", flat=True)) if new_only else set()
        groups = {rank_group(run) for run in runs if run.pk not in ranked}
        chosen = [run for run in runs if rank_group(run) in groups]
        ranks = [rank for members in _groups(chosen) for rank in _group_ranks(benchmark, members)]
        with transaction.atomic():
            Benchmark.objects.select_for_update().get(pk=benchmark.pk)
            present = _finished_runs(benchmark)
            numbers = {run.pk for run in present}
            RunRank.objects.filter(run__in=chosen).delete()
            RunRank.objects.filter(run__benchmark=benchmark).exclude(run__in=numbers).delete()
            RunRank.objects.bulk_create(rank for rank in ranks if rank.run_id in numbers)
        if present == runs:
            return len({rank.run_id for rank in ranks if rank.best})


def _finished_runs(benchmark: Benchmark) -> list[Run]:
    return list(measured_on(benchmark).select_related("model", "benchmark").order_by("pk"))


def _groups(runs: Sequence[Run]) -> list[list[Run]]:
    groups: dict[tuple[str, str], list[Run]] = defaultdict(list)
    for run in runs:
        groups[rank_group(run)].append(run)
    return list(groups.values())


def rank_group(run: Run) -> tuple[str, str]:
    """Return what runs share that are ranked together: their settings, and what counts as right for their models."""
    return run.settings_group, run.way


def _group_ranks(benchmark: Benchmark, runs: Sequence[Run]) -> list[RunRank]:
    figures: dict[str, list[ItemFigures]] = defaultdict(list)
    for row in ItemFigures.objects.filter(run__in=runs).order_by("run_id"):
        figures[row.metric].append(row)
    sets = ItemSet.objects.in_bulk({row.item_set_id for rows in figures.values() for row in rows})
    return [rank for metric, rows in figures.items() for rank in _metric_ranks(benchmark, metric, rows, sets)]


def _metric_ranks(
    benchmark: Benchmark, metric: str, rows: Sequence[ItemFigures], sets: Mapping[int, ItemSet]
) -> list[RunRank]:
    table = rank_table(_by_run(rows, sets), benchmark.correctness.macro).astype(object)
    table = table.where(table.notna(), None)
    table[["ahead_of", "level_with"]] = table[["ahead_of", "level_with"]].map(lambda runs: runs or [])
    names, lines = [str(name) for name in table.columns], table.to_numpy().tolist()
    return [
        RunRank(run_id=row.run_id, metric=metric, **dict(zip(names, line, strict=True)))
        for row, line in zip(rows, lines, strict=True)
    ]


def _by_run(rows: Sequence[ItemFigures], sets: Mapping[int, ItemSet]) -> pd.DataFrame:
    """Return the figures with a row per item and a column per run."""
    keys = {pk: [(name, item) for name, items in sets[pk].items.items() for item in items] for pk in _used(rows)}
    keys_in_order = sorted({key for of_set in keys.values() for key in of_set})
    row_numbers = {key: number for number, key in enumerate(keys_in_order)}
    rows_of_set = {pk: np.array([row_numbers[key] for key in of_set]) for pk, of_set in keys.items()}
    figures = np.full((len(keys_in_order), len(rows)), np.nan)
    for column, row in enumerate(rows):
        figures[rows_of_set[row.item_set_id], column] = np.frombuffer(zlib.decompress(row.figures), "<f4")
    return pd.DataFrame(figures, pd.MultiIndex.from_tuples(keys_in_order), [row.run_id for row in rows])


def _used(rows: Sequence[ItemFigures]) -> set[int]:
    return {row.item_set_id for row in rows}


# The smallest difference that a benchmark can tell apart, which is computed when a run finishes, and stored.


NEWEST_RUNS = 20  # whose pairs are compared, so that the time does not grow with the number of runs


def store_smallest_difference(benchmark: Benchmark) -> None:
    """Compute the smallest difference from the newest runs with the usual settings, and store it."""
    column = benchmark.correctness.column
    measured = Run.objects.filter(benchmark=benchmark, provenance=Run.Provenance.MEASURED, state=Run.State.FINISHED)
    with_items = measured.exclude(artefact="").select_related("model", "benchmark").order_by("-finished", "-pk")
    runs = with_items if column else []
    newest = [run for run in runs if not run.settings_group][:NEWEST_RUNS]
    results = {run.pk: rows for run in newest if (rows := _rows_of_answers(run, column)) is not None}
    difference = smallest_difference({str(pk): rows for pk, rows in results.items()}, benchmark.correctness)
    Benchmark.objects.filter(pk=benchmark.pk).update(smallest_difference=as_json(difference))


def _rows_of_answers(run: Run, column: str) -> pd.DataFrame | None:
    """Read whether the answers of a run are right; None where its files lack that."""
    try:
        names = item_rows.names(run)
        if column not in names:
            return None
        wanted = ("relation", "index", "subject_id", "language", column)
        with item_rows.opened(run) as file:
            return pd.read_parquet(file, columns=[name for name in wanted if name in names])
    except ItemsMissing:
        return None


def as_json(difference: SmallestDifference | None) -> dict[str, Any]:
    """Return the figures by name, without a value where one is unknown; nothing without a difference."""
    figures = difference._asdict() if difference else {}
    return {name: None if isnan(figure) else figure for name, figure in figures.items()}


def shown_difference(benchmark: Benchmark) -> dict[str, Any]:
    """Return the figures of `SmallestDifference` that pages and the API show.

    They are an assumption, with 0 pairs, as long as fewer than two runs were measured. There are none where the probe
    does not tell right answers from wrong ones.
    """
    if benchmark.smallest_difference:
        return dict(benchmark.smallest_difference)
    tells_right = benchmark.correctness.column and benchmark.items
    return as_json(assumed_difference(benchmark.items)) if tells_right else {}
