"""The figures of finished runs and of papers in one table, which front page, standings, profiles and API read.

A row is a score, with what lists say of its run and its model, or a printed figure, whose `run` is the number of its
row below zero. It is read with three queries and kept in Django's cache until the data change. Columns have Python's
own values, so that a figure that is missing is None.

`settings` are what sets a run apart from the usual ones: pairs of a setting and its choice in words. `error` is the
standard error over wordings, where it is known.
"""

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import pandas as pd
from django.core.cache import cache
from django.db import connection

from leaderboard.data_version import data_version
from leaderboard.models import Model, Printed, Run, Score
from leaderboard.models.model import weights_in_words
from leaderboard.models.printed import printed_rows
from leaderboard.models.run import RunQuerySet, run_url
from probing.analysis.intervals import Z

OVERALL = ("overall",)
ERROR = "_sem"  # what follows the name of a metric whose standard error a score is
RUN = ("benchmark", "provenance", "finished", "reference")
# What lists say of each model beside its name: fields, with the titles and the CSS classes of their columns.
# Files have all of them, and these pages some.
FACTS = {"kind": ("Type", ""), "parameters": ("Size", "number"), "family": ("Family", "")}
ON_FRONT_PAGE, ON_BENCHMARK_PAGES = ("parameters",), ("kind", "parameters")
MODEL = ("hub_id", *FACTS, "step")
WEIGHTS = ("quantisation", "adapter_commit", "weights_file", "source")
SIZES = {"100m": (0, 10**8), "1b": (10**8, 10**9), "10b": (10**9, 10**10), "more": (10**10, 10**16)}
SCORE = ("metric", "dimension", "group", "value", "low", "high", "cluster_low", "cluster_high", "n", "pk")


def board(benchmarks: Collection[int], metrics: Collection[str], dimensions: Collection[str] = OVERALL) -> pd.DataFrame:
    """Return the scores of finished runs on benchmarks, by their numbers, in metrics and dimensions.

    Of a training that was measured at several steps, only the last one is included.
    """
    question = sorted(set(benchmarks)), sorted(set(metrics)), sorted(set(dimensions))
    key = hashlib.sha256(repr(question).encode()).hexdigest()
    return kept(f"board-{key}", lambda: _read(*question))


def kept(key: str, read: Callable[[], pd.DataFrame]) -> pd.DataFrame:
    """Return a table from the cache, read again after a change of the data.

    The version is read before the rows, so that no table is older than its version. Inside a transaction, which sees
    rows that no other reader sees yet, nothing is kept.
    """
    version = "" if connection.in_atomic_block else data_version()
    if not version:
        return read()
    stored: tuple[str, pd.DataFrame] | None = cache.get(key)
    if stored and stored[0] == version:
        return stored[1]
    table = read()
    cache.set(key, (version, table), timeout=None)
    return table


def _read(
    benchmarks: Sequence[int], metrics: Sequence[str], dimensions: Sequence[str], groups: Sequence[str] = ()
) -> pd.DataFrame:
    finished = Run.objects.filter(state=Run.State.FINISHED, benchmark__in=benchmarks)
    scores = Score.objects.filter(
        run__in=finished,
        metric__in=[*metrics, *(metric + ERROR for metric in metrics)],
        dimension__in=dimensions,
        **({"group__in": groups} if groups else {}),
    )
    rows = list(scores.order_by("pk").values_list("run", *SCORE))
    table = _with_errors(pd.DataFrame(rows, columns=["run", *SCORE], dtype=object), set(metrics))
    measured = table.merge(_facts(finished.newest_steps() if rows else finished.none()), on="run")
    printed = _printed(benchmarks, metrics, dimensions, groups)
    return pd.concat([measured, pd.DataFrame(printed, columns=measured.columns, dtype=object)], ignore_index=True)


def _printed(
    benchmarks: Sequence[int], metrics: Sequence[str], dimensions: Sequence[str], groups: Sequence[str]
) -> list[dict[str, Any]]:
    """Return the rows of printed figures, which have no interval."""
    filters = {"benchmark__in": benchmarks, "metric__in": metrics, "dimension__in": dimensions}
    filters |= {"part__in": groups} if groups else {}
    shared = dict.fromkeys((*SCORE, *RUN, "weights"), None) | {"weights": "", "is_measured": False}
    return [
        {
            **shared,
            **{name: getattr(row.model, name) for name in MODEL},
            **{name: getattr(figure, name) for name in ("pk", "metric", "dimension", "value", "error", "n")},
            "group": figure.part,
            "run": row.pk,
            "benchmark": row.benchmark_id,
            "provenance": row.provenance,
            "citation": row.citation,
            "settings": tuple(map(tuple, row.group)),
            "size": size_class(row.model.parameters),
        }
        for row in printed_rows(Printed.objects.filter(baseline=False, **filters))
        for figure in row.figures
    ]


def _facts(runs: RunQuerySet) -> pd.DataFrame:
    """Return what lists say of runs and their models, which a query of scores would read again for each score."""
    names = [*RUN, *(f"model__{name}" for name in (*MODEL, *WEIGHTS))]
    rows = [
        (*values[:-4], weights_in_words(*values[-4:]), tuple(map(tuple, settings)))
        for settings, *values in runs.values_list("group", "pk", *names)
    ]
    table = pd.DataFrame(rows, columns=["run", *RUN, *MODEL, "weights", "settings"], dtype=object)
    table = table.rename(columns={"reference": "citation"})
    table["is_measured"] = table["provenance"] == Run.Provenance.MEASURED.value
    table["size"] = pd.Series(map(size_class, table["parameters"]), table.index, dtype=object)
    return table


def size_class(parameters: int | None) -> str:
    """Return the class of `SIZES` that a model is of; nothing for an unknown size."""
    return next((name for name, (low, high) in SIZES.items() if low <= (parameters or -1) < high), "")


def _with_errors(table: pd.DataFrame, metrics: Collection[str]) -> pd.DataFrame:
    """Return the scores with the standard errors that stand in rows of their own."""
    keys = list(zip(table["run"], table["dimension"], table["group"], table["metric"], strict=True))
    values = dict(zip(keys, table["value"], strict=True))
    errors = [values.get((*key, metric + ERROR)) for *key, metric in keys]
    table["error"] = pd.Series(errors, table.index, dtype=object)
    return table[table["metric"].isin(metrics)]


def groups_of(
    benchmarks: Collection[int], metrics: Collection[str], dimensions: Collection[str], groups: Collection[str]
) -> pd.DataFrame:
    """Return the same as `board` for some groups of long dimensions, such as single relations; they are not kept."""
    return _read(sorted(benchmarks), sorted(metrics), sorted(set(dimensions)), sorted(set(groups)))


def figure_url(figure: Any) -> str:
    """Return the address of a figure's run, or that of the printed figures of its model."""
    return run_url(figure.run) if figure.run > 0 else f"{Model(hub_id=figure.hub_id).get_absolute_url()}#published"


def with_value(table: pd.DataFrame) -> pd.DataFrame:
    """Return the scores that have a value; the others have no items that count."""
    return table[table["value"].notna()]


def rows_of(table: pd.DataFrame) -> list[Any]:
    """Return the rows of a table, whose columns are their attributes."""
    return list(table.itertuples(index=False, name="Figure"))


def usual(table: pd.DataFrame, ignored: Collection[str] = ()) -> pd.DataFrame:
    """Return the figures of runs with the usual settings, but for those of these names."""
    return table[table["settings"].map(lambda changed: all(name in ignored for name, _ in changed)).astype(bool)]


def filtered(table: pd.DataFrame, search: str = "", chosen: Mapping[str, str] | None = None) -> pd.DataFrame:
    """Return the figures of models whose names have a text, and that have the chosen values in columns."""
    kept = table["hub_id"].map(lambda name: search.lower() in name.lower()).astype(bool)
    for column, value in (chosen or {}).items():
        kept &= table[column] == value
    return table[kept]


def ordered(table: pd.DataFrame) -> pd.DataFrame:
    """Return the figures, the highest first and those without a value last; level ones by the names of their models."""
    keys = table[["hub_id"]].assign(value=table["value"].astype(float))
    return table.loc[keys.sort_values(["value", "hub_id"], ascending=[False, True], kind="stable").index]


def ends(figure: Any) -> tuple[float, float] | None:
    """Return the ends of a figure's interval, or else of that which its standard error gives; None without both."""
    if figure.low is not None and figure.high is not None:
        return figure.low, figure.high
    return None if figure.error is None else (figure.value - Z * figure.error, figure.value + Z * figure.error)
