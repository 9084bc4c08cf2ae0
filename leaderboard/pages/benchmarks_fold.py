"""Compared models on all benchmarks on which they were measured alike, also in percent of the first.

This is Figure 5 of LM-PUB-QUIZ.
"""

from collections.abc import Callable, Mapping, Sequence

from django.utils.text import slugify

from leaderboard.figures.training import Percent, StepScore, Trajectories, on_several_benchmarks
from leaderboard.models import Run
from leaderboard.pages.training_tables import PointRow, benchmarks_table
from leaderboard.ui import cells, charts
from leaderboard.ui.charts.basics import Chart, Point, range_in_view
from leaderboard.ui.sections import Fold, Section, section
from leaderboard.ui.tables import Column

TITLE = "On several benchmarks"
LEAD = "All benchmarks on which exactly these models were measured alike."
Scores = Mapping[str, Sequence[StepScore]]  # those of the models in their order, by what the benchmark is called


def benchmarks_fold(runs: Sequence[Run], names: Sequence[str]) -> Fold | None:
    """Return the scores of compared runs and of their models on other benchmarks; None without a second benchmark.

    `names`: those of the runs. Two queries.
    """
    series = on_several_benchmarks(runs)
    stored = Trajectories(series)
    scores: dict[str, Sequence[StepScore]] = {}
    for part in series:
        if len(points := stored.overall(part)) == len(runs):
            title = part.title if scores else part.benchmark.title  # names tell the compared runs themselves apart
            scores[f"{title}, run {part.runs[0].pk}" if title in scores else title] = points
    if len(scores) < 2:
        return None
    called = {point.run.pk: name for points in scores.values() for point, name in zip(points, names, strict=True)}
    head: Column[PointRow] = Column("model", "Model", lambda row: cells.text(called[row.point.run.pk]), align="head")
    rows = [PointRow(title, point) for title, points in scores.items() for point in points]
    summary = f"{len(names)} models on {len(scores)} benchmarks; the table has the same figures."
    figure = charts.beside(_points(scores, names, _score), dict.fromkeys(scores, ""), "score")
    first = section(benchmarks_table(rows, ["percent"], head), (summary, figure), title="Scores")
    relative = [
        _relative(scores, names, "In percent of the first model", lambda point: point.percent),
        _relative(scores, names, "Above chance, in percent of the first model", lambda point: point.above_chance),
    ]
    return Fold("benchmarks", TITLE, LEAD, [first, *relative])


def _score(point: StepScore) -> Percent:
    return Percent(point.value, point.score.low, point.score.high)


def _points(scores: Scores, names: Sequence[str], value: Callable[[StepScore], Percent]) -> list[Point]:
    """Return the points of each model, one for each benchmark on which it has such a value."""
    return [
        Point(title, known.value, known.low, known.high, group=name, href=points[place].run.get_absolute_url())
        for place, name in enumerate(names)
        for title, points in scores.items()
        if (known := value(points[place])).value is not None
    ]


def _relative(scores: Scores, names: Sequence[str], title: str, value: Callable[[StepScore], Percent]) -> Section:
    """Return a chart of percentages of the first model, whose figures the table of the scores has, or its CSV."""
    name = slugify(title)
    points = _points(scores, names, value)
    figure = charts.beside(points, dict.fromkeys(scores, ""), f"% of {names[0]}")
    figure.update_layout(xaxis={"range": range_in_view(points, 100.0), "tickformat": ".0f"})
    summary = f"{names[0]} has 100 % on every benchmark that is shown."
    return Section(name, title, chart=Chart(name, title, summary, figure))
