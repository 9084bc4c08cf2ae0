"""The curve of the overview: the figures of one benchmark against the sizes of the models."""

from collections.abc import Sequence

from leaderboard.display import charts, labels
from leaderboard.display.charts import Chart, SizedScore
from leaderboard.display.columns import best_and_largest
from leaderboard.lists.families import family_of
from leaderboard.lists.overview_rows import BenchmarkColumn, Figure, ModelRow
from leaderboard.models.run import run_url
from leaderboard.probe_pages import pages_of
from leaderboard.probe_pages.overview_measures import part_title


def curve_column(columns: Sequence[BenchmarkColumn], slug: str, topic: str = "") -> BenchmarkColumn | None:
    """Return the benchmark of the curve: the one named by the slug, or else the one of the topic with most models."""
    drawable = [column for column in columns if column.figures]
    named = [column for column in drawable if column.slug == slug]
    most = sorted(drawable, key=lambda column: (column.measure.topic != topic, -len(column.figures)))
    return next(iter([*named, *most]), None)


def curve_charts(column: BenchmarkColumn | None, rows: Sequence[ModelRow]) -> list[Chart]:
    """Return the curve of a benchmark, if the size of any of its models is known."""
    if column is None:
        return []
    scores = [
        _sized(row.hub_id, row.parameters, figure)
        for row in rows
        if (figure := row.figures.get(column.slug)) and row.parameters and not column.is_about_other_items(figure)
    ]
    if not scores:
        return []
    metric = pages_of(column.version).metric_label(column.metric)
    title = f"{_asked(column)}: {labels.within(metric)} by model size"
    plot = charts.scaling_curve(scores, column.chance, labels.within(metric))
    return [Chart("curve", title, _summary(title, scores, column.chance), plot)]


def _asked(column: BenchmarkColumn) -> str:
    """Return the title of a benchmark with the part of its items that the figures are about, if it is a part."""
    split, part = pages_of(column.version).split, column.measure.part
    return column.measure.title if split is None else f"{column.measure.title}, {part_title(split, part.group)}"


def _sized(hub_id: str, parameters: int, figure: Figure) -> SizedScore:
    name, href = hub_id.rpartition("/")[2], run_url(figure.run)
    family = family_of(hub_id)
    return SizedScore(name, figure.value, figure.low, figure.high, parameters, family, figure.is_measured, href)


def _summary(title: str, scores: Sequence[SizedScore], chance: float | None) -> str:
    """Describe the curve: how many models from which sources, the best and the largest, and what guessing reaches."""
    measured = sum(score.is_measured for score in scores)
    sentences = [
        f"{title}, {labels.number_of(len(scores), 'model')}: {measured} measured here (filled points), "
        f"{len(scores) - measured} published (hollow points).",
        best_and_largest(scores),
    ]
    if chance is not None:
        sentences.append(f"Guessing reaches {chance:.3f}.")
    return " ".join(sentences)
