"""The fold of a comparison with its models on other benchmarks."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.http import HttpRequest

from leaderboard.figures.training import StepScore, Trajectories, on_several_benchmarks
from leaderboard.models import Run
from leaderboard.tables import Files, Row, ordered, page_of
from leaderboard.ui import charts
from leaderboard.ui.charts.basics import Chart, Point

NAME = "benchmarks"  # of the fold, its table and its chart
COLUMNS = (
    *("model", "benchmark", "score", "percent", "percent_low", "percent_high"),
    *("above_chance", "above_chance_low", "above_chance_high", "run"),
)
PAGE_SIZE = 25  # rows, as the page has several tables
# The scores of the models in their order, by what the benchmark is called.
BenchmarkScores = Mapping[str, Sequence[StepScore]]


def compared_benchmarks(runs: Sequence[Run], names: Sequence[str], request: HttpRequest) -> dict[str, Any]:
    """Return the scores of compared runs and of their models on other benchmarks; nothing without a second benchmark.

    `names`: those of the runs. Two queries.
    """
    scores = _scores(runs)
    if len(scores) < 2:
        return {}
    rows = [_row(title, name, point) for title, of in scores.items() for name, point in zip(names, of, strict=True)]
    shown = ordered(rows, request, COLUMNS, NAME, "title")
    page = page_of(shown, request, NAME, PAGE_SIZE)
    files: Files = {NAME: (COLUMNS, list(page) if f"{NAME}-page" in request.GET else shown)}
    is_open = any(word == NAME or word.startswith(f"{NAME}-") for word in request.GET)
    return {"files": files, "page": page, "chart": _chart(scores, names), "open": is_open}


def _scores(runs: Sequence[Run]) -> BenchmarkScores:
    series = on_several_benchmarks(runs)
    stored = Trajectories(series)
    scores: dict[str, Sequence[StepScore]] = {}
    for part in series:
        if len(points := stored.overall(part)) == len(runs):
            title = part.title if scores else part.benchmark.title  # names tell the compared runs themselves apart
            scores[f"{title}, run {part.runs[0].pk}" if title in scores else title] = points
    return scores


def _row(title: str, name: str, point: StepScore) -> Row:
    percent, above_chance = point.percent, point.above_chance
    return {
        "title": title,
        "point": point,
        "model": name,
        "benchmark": point.run.benchmark.name,
        "score": point.value,
        "percent": percent.value,
        "percent_low": percent.low,
        "percent_high": percent.high,
        "above_chance": above_chance.value,
        "above_chance_low": above_chance.low,
        "above_chance_high": above_chance.high,
        "run": point.run.pk,
    }


def _chart(scores: BenchmarkScores, names: Sequence[str]) -> Chart:
    points = [
        Point(title, point.value, point.score.low, point.score.high, group=name, href=point.run.get_absolute_url())
        for place, name in enumerate(names)
        for title, of_models in scores.items()
        for point in [of_models[place]]
    ]
    summary = f"{len(names)} models on {len(scores)} benchmarks; the table has the same figures."
    return Chart(NAME, "Scores", summary, charts.beside(points, dict.fromkeys(scores, ""), "score"))
