"""/models/<org>/<name>/training/ : what a model knows at several steps of its training."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils.text import slugify

from leaderboard.figures.scores import OVERALL_SLICE, chance_of, part_of
from leaderboard.figures.training import (
    Series,
    StepScore,
    dimensions_of,
    read_points,
    read_series,
    with_points,
)
from leaderboard.models import Benchmark, Run
from leaderboard.pages.rendering import page_reference, reference_file, what_is_cited
from leaderboard.probes import pages_of
from leaderboard.probes.breakdowns import group_names
from leaderboard.probes.culture.pairs import with_part
from leaderboard.tables import ENDS, File, Files, Row, download, filled, ordered, page_of
from leaderboard.ui import labels
from leaderboard.ui.charts.basics import Chart, Plot, Point
from leaderboard.ui.charts.plots import trajectories
from leaderboard.ui.links import PageLink, link
from leaderboard.ui.spelled import figure_with_uncertainty
from leaderboard.ui.visible import visible
from probing.errors import BadInput

PERCENTAGES = ("percent", "percent_low", "percent_high")
POINTS = (
    *("step", "tokens", "revision", "commit", "score", *ENDS, *PERCENTAGES),
    *("n", "run", "model", "provenance"),
)
BENCHMARKS = ("step", "benchmark", "score", *PERCENTAGES, "run")
CURVES = ("group", "step", "value", *ENDS, *PERCENTAGES, "n", "run")
WITHIN = {"points": "curve", "benchmarks": "curve"}
PAGE_SIZE = 25  # rows, as the page has several tables
MOST_CURVES = 8  # groups that a chart shows, as many as there are markers
LOOKS = (
    ("x", (("", "Over steps"), ("tokens", "Over tokens read"))),
    ("relative", (("", "Scores"), ("1", "In percent of the first point"))),
)
DOMAIN = "domain"  # the breakdown that is shown unless a reader chooses another


def training_view(request: HttpRequest, org: str, name: str) -> HttpResponse:
    """Show the page, or answer 404 with the reason where the model has no series."""
    training = read_training(f"{org}/{name}", request.GET)
    if training is None:
        return _no_series(request, f"{org}/{name}")
    files = _files(request, training)
    title = f"{training.hub_id} during its training, on {training.benchmark.title}"
    details = f"benchmark version {training.benchmark.version[:12]}"
    reference = page_reference(request, f"training-{slugify(name)}", title, details)
    if file := download(request, files) or reference_file(request, reference):
        return file
    context = {
        "training": training,
        "name": name,
        "choices": list(dict.fromkeys(series.benchmark for series in training.everything)),
        "switches": switches(training, request.GET),
        "dimensions": dimension_links(training, request.GET),
        **_sections(request, training, files),
        **what_is_cited(request, reference),
    }
    return render(request, "training.html", context)


def _no_series(request: HttpRequest, hub_id: str) -> HttpResponse:
    error = BadInput(
        f"{hub_id} has no results at two different steps of its training that were measured in the same way.",
        f"The page of the model, /models/{hub_id}/, has all of its runs.",
    )
    return render(request, "problem.html", {"error": error, "title": "No series of steps"}, status=404)


def _files(request: HttpRequest, training: "Training") -> dict[str, File]:
    """Return the columns and the rows of each table in the order that the query string asks for."""
    tables: dict[str, File] = {"points": (POINTS, point_rows(training.curves))}
    if len(training.everything) > 1:
        tables["benchmarks"] = (BENCHMARKS, point_rows(training.everything))
    if training.groups:
        tables["curves"] = (CURVES, curve_rows(training))
    return {
        name: (columns, ordered(rows, request, columns, _prefix(name), WITHIN.get(name, "")))
        for name, (columns, rows) in tables.items()
    }


def _prefix(table: str) -> str:
    """Return the prefix of a table's parameters: that of the points is the main one of the page."""
    return "" if table == "points" else table


def _sections(request: HttpRequest, training: "Training", files: Files) -> dict[str, Any]:
    """Return the titles of the page's sections, their tables, and their charts with notes in words."""
    metric, dimension = training.metric, labels.dimension(training.dimension).lower()
    titles = {
        "points": f"{metric} during the training",
        "benchmarks": "On every benchmark, in percent of the first point",
        "curves": f"{metric} by {dimension}",
    }
    titles = {name: title for name, title in titles.items() if name in files}
    contents = {f"section-{name}": labels.sentence(title) for name, title in titles.items()}
    if steps := step_choices(training):
        contents["section-changes"] = "Learned and forgotten"
    optional = {  # the columns that a page leaves out where its rows have no value in them
        "points": ("tokens", "revision", "commit", "percent", "n"),
        "benchmarks": ("percent",),
        "curves": ("group", "percent", "n"),
    }
    pages = {name: page_of(rows, request, _prefix(name), PAGE_SIZE) for name, (_, rows) in files.items()}
    return {
        "titles": titles,
        "contents": [{"id": name, "title": title} for name, title in contents.items()],
        "pages": pages,
        "shown": {name: filled(pages[name], columns) for name, columns in optional.items() if name in files},
        "has_several_curves": len(training.curves) > 1,
        "charts": _charts(training, titles),
        "steps": steps,
        "has_curves_left_out": len(training.groups) > MOST_CURVES,
    }


@dataclass(frozen=True)
class Training:
    """Series of one benchmark in one choice of settings, with their scores.

    `everything`: those of the model on every benchmark. `curves`: those of the model here, the main one first.
    `dimension`: that of the breakdown of the main series into `groups`, empty without one, of which those that changed
    most come first. `over_tokens` and `is_relative` say how the series are drawn.
    """

    hub_id: str
    everything: Sequence[Series]
    curves: Sequence[Series]
    dimensions: Sequence[str]
    dimension: str
    groups: Mapping[str, Sequence[StepScore]]
    over_tokens: bool
    is_relative: bool

    @property
    def main(self) -> Series:
        return self.curves[0]

    @property
    def benchmark(self) -> Benchmark:
        return self.main.benchmark

    @property
    def metric(self) -> str:
        """The title of the metric of all curves, with the part of the items that they are about if it is a part."""
        title = pages_of(self.benchmark).metric_label(self.benchmark.main_metric)
        return with_part(title, self.main.points[0].score) if self.main.points else title

    @property
    def headline(self) -> str:
        return headline(self.metric, self.main.points)

    @property
    def is_partly_from_elsewhere(self) -> bool:
        return any(not curve.is_measured for curve in self.curves)

    @property
    def settings_groups(self) -> list[str]:
        """The settings, in words, in which the model has series on the benchmark; empty for the usual ones."""
        return list(dict.fromkeys(part.settings_group for part in self.everything if part.benchmark == self.benchmark))


def step_choices(training: Training) -> list[tuple[int, str]]:
    """Return the runs whose answers can be compared, by their numbers, each with its step in words.

    There are none where fewer than two have stored answers.
    """
    curves = training.curves
    choices = [
        (run.pk, ", ".join(filter(None, [run.model.step_in_words, curve.name if len(curves) > 1 else ""])))
        for curve in curves
        for run in curve.runs
        if run.artefact
    ]
    return choices if len(choices) > 1 else []


def switches(training: Training, query: QueryDict) -> list[list[PageLink]]:
    """Return the links that choose the settings and how the curves are drawn; none with a single choice."""
    settings = [(group, labels.sentence(group) or "Usual settings") for group in training.settings_groups]
    chosen = _links(query, "settings", settings, training.main.settings_group)
    has_tokens = all(curve.has_tokens for curve in training.curves)
    looks = [_links(query, name, choices, query.get(name, "")) for name, choices in LOOKS if name != "x" or has_tokens]
    return [*([chosen] if len(chosen) > 1 else []), *looks]


def dimension_links(training: Training, query: QueryDict) -> list[list[PageLink]]:
    """Return the links that choose the breakdown; none where there is no choice."""
    dimensions = [(name, labels.dimension(name)) for name in training.dimensions]
    return [_links(query, "by", dimensions, training.dimension)] if len(dimensions) > 1 else []


def _links(query: QueryDict, name: str, choices: Sequence[tuple[str, str]], current: str) -> list[PageLink]:
    """Return a link for each pair of value and title; the empty value is that of an address without the parameter."""
    return [PageLink(title, link(query, **{name: value or None}), value == current) for value, title in choices]


def read_training(hub_id: str, query: QueryDict) -> Training | None:
    """Return what a query string asks for; None where the model has no two steps to show. Four queries."""
    all_series = read_series([hub_id])
    if not all_series:
        return None
    own = _chosen(all_series, query)
    main, benchmark = own[0], own[0].benchmark
    dimensions = dimensions_of(main.last, benchmark.main_metric, pages_of(benchmark).hidden_dimensions)
    dimension = next((name for name in (query.get("by"), DOMAIN, *dimensions) if name in dimensions), "") or ""
    points = read_points(all_series, main, dimension)
    curves = [with_points(of, name, points[of]) for name, of in zip(curve_names(own), own, strict=True)]
    everything = [with_points(of, of.title, points[of]) for of in all_series]
    over_tokens = query.get("x") == "tokens" and all(part.has_tokens for part in own)
    of_groups = {part.group: of_one for part, of_one in points[main].items() if part.dimension == dimension}
    groups = _most_changed_first(of_groups)
    relative = query.get("relative") == "1"
    return Training(hub_id, everything, curves, dimensions, dimension, groups, over_tokens, relative)


def _most_changed_first(groups: Mapping[str, Sequence[StepScore]]) -> dict[str, Sequence[StepScore]]:
    """Leave out groups with a single point, which cannot have changed."""
    several = {group: points for group, points in groups.items() if len(points) > 1}
    return dict(sorted(several.items(), key=lambda entry: -abs(entry[1][-1].value - entry[1][0].value)))


def _chosen(all_series: Sequence[Series], query: QueryDict) -> list[Series]:
    """Return the series of the chosen benchmark in the chosen settings, or of the first ones that there are."""
    on_slug = [part for part in all_series if part.benchmark.name == query.get("benchmark")] or all_series
    on_version = [part for part in on_slug if part.benchmark == on_slug[0].benchmark]
    groups = [part.settings_group for part in on_version]
    group = query.get("settings", "")
    group = group if group in groups else groups[0]
    return [part for part in on_version if part.settings_group == group]


# The rows of the tables, with the values of their CSV.


def point_rows(curves: Sequence[Series]) -> list[Row]:
    return [_point_row(curve.name, point) for curve in curves for point in curve.points]


def _point_row(curve: str, point: StepScore) -> Row:
    run, score = point.run, point.score
    return {
        "curve": curve,
        "point": point,
        "stored": score,
        "mark": run.provenance,
        "href": run.get_absolute_url(),
        "step": point.step,
        "tokens": run.model.tokens,
        "revision": run.model.revision,
        "commit": run.model.commit[:7],
        "benchmark": run.benchmark.name,
        "score": score.value,
        **{end: getattr(score, end) for end in ENDS},
        **dict(zip(PERCENTAGES, point.percent, strict=True)),
        "n": score.n or None,
        "run": run.pk,
        "model": run.model.hub_id,
        "provenance": run.source,
    }


def curve_rows(training: Training) -> list[Row]:
    titles = group_names(training.main.last, training.dimension, training.groups)
    return [
        {**_point_row("", point), "group": group, "title": titles[group], "value": point.score.value}
        for group, points in training.groups.items()
        for point in points
    ]


# The charts, each with what it shows in words.


def curve_names(series: Sequence[Series]) -> list[str]:
    """Return a name for each series of a model: the form of its weights, and who measured it."""
    words = {part.last.pk: filter(None, [part.model.weights_in_words, _source(part.last)]) for part in series}
    return list(labels.distinct({run: visible(", ".join(texts)) for run, texts in words.items()}).values())


def _source(run: Run) -> str:
    return "measured here" if run.provenance == Run.Provenance.MEASURED else run.get_provenance_display().lower()


def _charts(training: Training, titles: Mapping[str, str]) -> dict[str, Chart]:
    drawn = {"points": _score_chart(training)}
    if "benchmarks" in titles:
        drawn["benchmarks"] = _benchmarks_chart(training)
    if training.groups:
        drawn["curves"] = _curves_chart(training)
    return {name: Chart(name, titles[name], *drawing) for name, drawing in drawn.items()}


def _score_chart(training: Training) -> tuple[str, Plot]:
    curves, points = training.curves, training.main.points
    part = part_of(points[0].score) if points else OVERALL_SLICE
    chance = None if training.is_relative else chance_of(training.benchmark, part)
    parts = [_in_words(curve, training.metric, with_name=len(curves) > 1) for curve in curves]
    return " ".join(parts), _plot(
        training, curves, labels.within(training.metric), chance, is_relative=training.is_relative
    )


def _benchmarks_chart(training: Training) -> tuple[str, Plot]:
    """Draw a training on every benchmark, relative to its first point (LM-PUB-QUIZ, Figure 5)."""
    left = [
        f"{curve.name} {curve.points[-1].percent.value:.0f} %"
        for curve in training.everything
        if curve.points and curve.points[-1].percent.value is not None
    ]
    words = f"The last point has, of the first score: {'; '.join(left)}." if left else ""
    return words, _plot(training, training.everything[:MOST_CURVES], "score", is_relative=True)


def _curves_chart(training: Training) -> tuple[str, Plot]:
    """Draw the groups that changed most, without intervals."""
    titles = group_names(training.main.last, training.dimension, training.groups)
    curves = [
        replace(training.main, name=titles[group], points=tuple(points))
        for group, points in list(training.groups.items())[:MOST_CURVES]
    ]
    most = curves[0]
    summary = f"{labels.sentence(most.name)} changes most: {_ends_in_words(most.points)}."
    metric = labels.within(training.metric)
    return summary, _plot(training, curves, metric, is_relative=training.is_relative, has_intervals=False)


def _plot(
    training: Training,
    curves: Sequence[Series],
    metric: str,
    chance: float | None = None,
    *,
    is_relative: bool,
    has_intervals: bool = True,
) -> Plot:
    """Plot series over the steps or the tokens of a training; `metric`: what they show, within a sentence."""
    points = [
        point
        for curve in curves
        for point in _plotted(curve, over_tokens=training.over_tokens, is_relative=is_relative)
    ]
    if not has_intervals:
        points = [point._replace(low=None, high=None) for point in points]
    axis = ("tokens read", "%{x:.3s} tokens") if training.over_tokens else ("step of the training", "step %{x:,}")
    y_title = f"{metric}, % of the first point" if is_relative else metric
    return trajectories(points, axis, y_title, chance, [curve.name for curve in curves if not curve.is_measured])


def _plotted(curve: Series, *, over_tokens: bool, is_relative: bool) -> Iterator[Point]:
    """Yield the points of a line; those without a percentage are left out where percentages are drawn."""
    for point in curve.points:
        model, score = point.run.model, point.score
        value, low, high = point.percent if is_relative else (point.value, score.low, score.high)
        if value is not None:
            x, href = (model.tokens if over_tokens else model.step), point.run.get_absolute_url()
            yield Point(model.step_in_words, value, low, high, x, curve.name, href)


def _in_words(curve: Series, metric: str, *, with_name: bool) -> str:
    sentence = headline(metric, curve.points)
    return f"{labels.sentence(curve.name)}: {sentence}" if with_name else sentence


def headline(metric: str, points: Sequence[StepScore]) -> str:
    """Return a sentence on a series of scores in a metric of this title; empty without two points.

    Whether two steps can be told apart is what their comparison says, which knows their answers.
    """
    return f"{labels.sentence(metric)}: {_ends_in_words(points)}." if len(points) > 1 else ""


def _ends_in_words(points: Sequence[StepScore]) -> str:
    return " and ".join(
        f"{figure_with_uncertainty(point.value, point.score.low, point.score.high)} at {point.run.model.step_in_words}"
        for point in (points[0], points[-1])
    )
