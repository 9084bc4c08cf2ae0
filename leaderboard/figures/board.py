"""The figures of finished runs and of papers in one table, which front page, standings, profiles and API read.

A row is a score, with what lists say of its run and its model, or a printed figure, whose `run` is the number of its
row below zero. Each process keeps the table until the data change, and nobody may change it. Columns have Python's own
values, so that a figure that is missing is None.

`settings` are what sets a run apart from the usual ones: pairs of a setting and its choice in words. `error` is the
standard error over wordings, where it is known.
"""

import json
from collections import namedtuple
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any

import pandas as pd
from django.db import connection
from django.db.models import OuterRef, QuerySet, Subquery, TextField, Value
from django.db.models.functions import Cast, Concat

from leaderboard.changed_settings import settings_group
from leaderboard.data_version import data_version
from leaderboard.models import Benchmark, Model, Printed, Run, Score
from leaderboard.models.model import weights_in_words
from leaderboard.models.printed import PUBLISHED, citation
from leaderboard.models.run import RunQuerySet, run_url
from probing.analysis.intervals import Z

OVERALL = ("overall",)
ERROR = "_sem"  # what follows the name of a metric whose standard error a score is
RUN = ("model", "benchmark", "provenance", "reference")
# What lists say of each model beside its name: fields, with the titles and the CSS classes of their columns.
# Files have all of them, and these pages some.
FACTS = {"kind": ("Type", ""), "parameters": ("Size", "number"), "family": ("Family", "")}
ON_FRONT_PAGE, ON_BENCHMARK_PAGES = ("parameters",), ("kind", "parameters")
MODEL = ("hub_id", *FACTS, "step")
WEIGHTS = ("quantisation", "adapter_commit", "weights_file", "source")
SIZES = {"100m": (0, 10**8), "1b": (10**8, 10**9), "10b": (10**9, 10**10), "more": (10**10, 10**16)}
SCORE = ("metric", "dimension", "group", "value", "low", "high", "n", "pk")  # which an index has
WHOLE_SCORE = (*SCORE, "cluster_low", "cluster_high")  # which takes three times as long to read


def board(
    benchmarks: Collection[int],
    metrics: Collection[str],
    dimensions: Collection[str] = OVERALL,
    columns: Sequence[str] = SCORE,
) -> pd.DataFrame:
    """Return the scores of finished runs on benchmarks, by their numbers, in metrics and dimensions.

    Of a training that was measured at several steps, only the last one is included. `columns`: of the scores.
    """
    chosen: Sequence[Collection[Any]] = (benchmarks, metrics, dimensions)
    question: Any = [*(tuple(sorted(set(names))) for names in chosen), tuple(columns)]
    # The version is read before the rows, so that no table is older than its version. Inside a transaction, which sees
    # rows that no other reader sees yet, nothing is kept.
    version = "" if connection.in_atomic_block else data_version()
    return _kept(version, *question) if version else _read(*question)


@lru_cache(maxsize=16)
def _kept(version: str, *question: Any) -> pd.DataFrame:
    return _read(*question)


def _read(
    benchmarks: Collection[int],
    metrics: Collection[str],
    dimensions: Collection[str],
    columns: Sequence[str],
    groups: Collection[str] = (),
    sizes: Sequence[float] = (),
) -> pd.DataFrame:
    """Return the figures, if need be of some groups alone, and of models from one number of parameters to another."""
    runs = Run.objects.filter(state=Run.State.FINISHED, benchmark__in=benchmarks)
    scores = Score.objects.filter(dimension__in=dimensions)
    printed = Printed.objects.filter(baseline=False, benchmark__in=benchmarks, dimension__in=dimensions)
    if groups:
        scores, printed = scores.filter(group__in=groups), printed.filter(part__in=groups)
    if sizes:
        runs, printed = runs.filter(model__parameters__range=sizes), printed.filter(model__parameters__range=sizes)
    measured = _measured(runs, scores.filter(run__in=runs, metric__in=metrics), columns)
    figures = pd.concat([measured, _printed(printed.filter(metric__in=metrics), columns)], ignore_index=True)
    figures["is_measured"] = figures["provenance"] == Run.Provenance.MEASURED.value
    return figures.merge(listed_models(), on="model").drop(columns="model")


def _measured(runs: RunQuerySet, scores: QuerySet[Score], columns: Sequence[str]) -> pd.DataFrame:
    """Return the scores of runs. Their index answers a query of scores alone; each run is read once in another one."""
    same = {name: OuterRef(name) for name in ("run", "dimension", "group")}
    errors = Score.objects.filter(**same, metric=Concat(OuterRef("metric"), Value(ERROR))).values("value")
    rows = scores.order_by("pk").annotate(error=Subquery(errors)).values_list("run", *columns, "error")
    table = pd.DataFrame(list(rows), columns=["run", *columns, "error"], dtype=object)
    newest = (runs.newest_steps() if rows else runs.none()).annotate(words=Cast("group", TextField()))
    facts = pd.DataFrame(list(newest.values_list("pk", "words", *RUN)), columns=["run", "settings", *RUN], dtype=object)
    # The groups of most runs are the same text.
    settings = {words: tuple(map(tuple, json.loads(words))) for words in facts["settings"].unique()}
    facts["settings"] = facts["settings"].map(settings.get)
    return table.merge(facts.rename(columns={"reference": "citation"}), on="run")


def _printed(figures: QuerySet[Printed], columns: Sequence[str]) -> pd.DataFrame:
    """Return the printed figures, which have no interval. JSON is read once per text, as many figures share it."""
    of_row = ("row", "model", "source_text", "benchmark", "settings_text", "model__parameters", "model__stored_dtype")
    of_figure = ("part", "metric", "dimension", "value", "error", "n", "pk")
    texts = {"source_text": Cast("source", TextField()), "settings_text": Cast("settings", TextField())}
    stored = list(figures.annotate(**texts).order_by("row", "pk").values_list(*of_row, *of_figure))
    usual = Benchmark.objects.in_bulk({benchmark for _, _, _, benchmark, *_ in stored})
    read = lru_cache(json.loads)
    cited = lru_cache(lambda source: citation(read(source)))
    changed = lru_cache(lambda benchmark, settings: usual[benchmark].differences(read(settings)))
    rows = []
    for row, model, source, benchmark, settings, parameters, dtype, *figure in stored:
        group = settings_group(changed(benchmark, settings), read(settings), parameters, dtype)
        rows.append((-row, model, cited(source), benchmark, tuple(map(tuple, group)), *figure))
    names = ["run", "model", "citation", "benchmark", "settings", "group", *of_figure[1:]]
    absent = dict.fromkeys(name for name in columns if name not in names)
    return pd.DataFrame(rows, columns=names, dtype=object).assign(provenance=PUBLISHED, **absent)


def listed_models() -> pd.DataFrame:
    """Return what lists say of each model, with the class of its size."""
    models = Model.objects.values_list("pk", *MODEL, *WEIGHTS)
    rows = [(*values[: -len(WEIGHTS)], weights_in_words(*values[-len(WEIGHTS) :])) for values in models]
    table = pd.DataFrame(rows, columns=["model", *MODEL, "weights"], dtype=object)
    table["size"] = table["parameters"].map(size_class)
    return table


def size_class(parameters: int | None) -> str:
    """Return the class of `SIZES` that a model is of; nothing for an unknown size."""
    return next((name for name, (low, high) in SIZES.items() if low <= (parameters or -1) < high), "")


def groups_of(
    benchmarks: Collection[int],
    metrics: Collection[str],
    dimensions: Collection[str],
    groups: Collection[str],
    columns: Sequence[str] = SCORE,
) -> pd.DataFrame:
    """Return the same as `board` for some groups of long dimensions, such as single relations; they are not kept."""
    return _read(benchmarks, metrics, dimensions, columns, groups)


def of_sizes(
    benchmarks: Collection[int], metrics: Collection[str], dimensions: Collection[str], low: float, high: float
) -> pd.DataFrame:
    """Return the same as `board` for models with this many parameters, ends included; they are not kept."""
    return _read(benchmarks, metrics, dimensions, SCORE, sizes=(low, high))


def figure_url(figure: Any) -> str:
    """Return the address of a figure's run, or that of the printed figures of its model."""
    return run_url(figure.run) if figure.run > 0 else f"{Model(hub_id=figure.hub_id).get_absolute_url()}#published"


def with_value(table: pd.DataFrame) -> pd.DataFrame:
    """Return the scores that have a value; the others have no items that count."""
    return table[table["value"].notna()]


def rows_of(table: pd.DataFrame) -> list[Any]:
    """Return the rows of a table, whose columns are their attributes."""
    return list(map(_row_type(tuple(table.columns))._make, table.to_numpy(dtype=object).tolist()))


@lru_cache
def _row_type(columns: tuple[str, ...]) -> Any:
    """Return the type of a row; pandas makes a new one for each table, which takes as long as a hundred rows."""
    return namedtuple("Figure", columns)


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
