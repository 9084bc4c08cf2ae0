"""The smallest difference that a benchmark can tell apart, which is computed when a run finishes, and stored."""

from math import isnan
from typing import Any

import pandas as pd

from leaderboard.models import Benchmark, Run
from leaderboard.stored import item_rows
from leaderboard.stored.item_rows import ItemsMissing
from probing.analysis.power import SmallestDifference, assumed_difference, smallest_difference

NEWEST_RUNS = 20  # whose pairs are compared, so that the time does not grow with the number of runs


def store_smallest_difference(benchmark: Benchmark) -> None:
    """Compute the smallest difference from the newest runs with the usual settings, and store it."""
    column = benchmark.correctness.column
    measured = Run.objects.filter(benchmark=benchmark, provenance=Run.Provenance.MEASURED, state=Run.State.FINISHED)
    with_items = measured.exclude(artefact="").select_related("model", "benchmark").order_by("-finished", "-pk")
    runs = with_items if column else []
    newest = [run for run in runs if not run.settings_group][:NEWEST_RUNS]
    results = {run.pk: rows for run in newest if (rows := _rows(run, column)) is not None}
    difference = smallest_difference({str(pk): rows for pk, rows in results.items()}, benchmark.correctness)
    Benchmark.objects.filter(pk=benchmark.pk).update(smallest_difference=as_json(difference))


def _rows(run: Run, column: str) -> pd.DataFrame | None:
    """Read whether the answers of a run are right; None where its files lack that."""
    try:
        if column not in item_rows.names(run):
            return None
        with item_rows.opened(run) as file:
            return pd.read_parquet(file, columns=["relation", "index", column])
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
