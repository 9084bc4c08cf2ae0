"""/api/v1/compare : the numbers of the page that compares runs, as JSON."""

from collections.abc import Mapping
from math import isnan
from typing import Any

from django.http import HttpRequest
from pydantic import Field
from typing_extensions import TypedDict

from leaderboard.api.answers import BenchmarkFacts, Json, ModelFacts, about_benchmark, about_model
from leaderboard.api.parameters import Query
from leaderboard.api.routes import RESULTS, get
from leaderboard.lists.compared_runs import compared, find_runs
from leaderboard.probe_pages.comparison_tables import ComparedRun, compared_runs
from probing.errors import BadInput


class CompareQuery(Query):
    """The runs that are compared."""

    m: list[str] = Field([], description="Number of a run, or id of a model; two to eight of them.")
    benchmark: str = Field("", description="Name of the benchmark, where models are named.")


class Side(TypedDict):
    """A run of a comparison. `result`: what the differences call it. `value`: its figure, with its 95 % interval."""

    result: str
    run: int
    model: ModelFacts
    settings: Json
    provenance: str
    value: float
    low: float | None
    high: float | None


class Comparison(TypedDict):
    """Runs, and the paired difference of each further run from the first one, overall and in every group."""

    benchmark: BenchmarkFacts
    metric: str
    runs: list[Side]
    differences: list[Json]


@get("compare", group=RESULTS)
def compare_json(request: HttpRequest, query: CompareQuery) -> Comparison:
    """Return a paired comparison of two to eight runs on the same items, overall and in every group."""
    names = [text for text in query.m if text]
    if len(names) < 2:
        raise BadInput("Fewer than two runs are named.", "Name them by number or model: m=1&m=2.")
    runs = find_runs(names, query.benchmark)
    differences = compared(*(run.pk for run in runs)).differences
    return {
        "benchmark": about_benchmark(runs[0].benchmark),
        "metric": runs[0].benchmark.main_metric,
        "runs": [_about_side(side) for side in compared_runs(runs, differences)],
        "differences": [_without_nan(row) for row in differences],
    }


def _about_side(side: ComparedRun) -> Side:
    return {
        "result": side.key,
        "run": side.run.pk,
        "model": about_model(side.run.model),
        "settings": side.run.settings,
        "provenance": side.run.provenance,
        "value": side.overall.value,
        "low": side.overall.low,
        "high": side.overall.high,
    }


def _without_nan(row: Mapping[str, Any]) -> Json:
    """Return a row with None in place of numbers that are not defined, which JSON does not have."""
    return {name: None if isinstance(value, float) and isnan(value) else value for name, value in row.items()}
