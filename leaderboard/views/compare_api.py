"""/api/v1/compare?m=…&m=… : the numbers of the page that compares runs, as JSON."""

from collections.abc import Mapping
from math import isnan
from typing import Any

from django.http import HttpRequest

from leaderboard.lists.compared_runs import compared, find_runs
from leaderboard.probe_pages.comparison_tables import ComparedRun, compared_runs
from leaderboard.views.api import READ, Json, about_benchmark, about_model, answers
from probing.errors import BadInput


@answers(*READ)
def compare_json(request: HttpRequest) -> Json:
    """Return the runs, and the difference of each further run from the first, overall and in every group."""
    names = [text for text in request.GET.getlist("m") if text]
    if len(names) < 2:
        raise BadInput("Fewer than two runs are named.", "Name them by number or model: m=1&m=2.")
    runs = find_runs(names, request.GET.get("benchmark", ""))
    differences = compared(*(run.pk for run in runs)).differences
    return {
        "benchmark": about_benchmark(runs[0].benchmark),
        "metric": runs[0].benchmark.main_metric,
        "runs": [_about_side(side) for side in compared_runs(runs, differences)],
        "differences": [_without_nan(row) for row in differences],
    }


def _about_side(side: ComparedRun) -> Json:
    return {
        "result": side.key,
        "run": side.run.pk,
        "model": about_model(side.run.model),
        "settings": side.run.settings,
        "provenance": side.run.provenance,
        **side.overall._asdict(),
    }


def _without_nan(row: Mapping[str, Any]) -> Json:
    """Return a row with None in place of numbers that are not defined, which JSON does not have."""
    return {name: None if isinstance(value, float) and isnan(value) else value for name, value in row.items()}
