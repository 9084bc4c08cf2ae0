"""/models/<org>/<name>/training/ : what a model knows at several steps of its training."""

from collections.abc import Sequence

from django.http import HttpRequest, HttpResponseBase, QueryDict
from django.shortcuts import render
from django.utils.text import slugify

from leaderboard.display import labels
from leaderboard.display.links import PageLink, link
from leaderboard.display.sections import Anchor, Section, anchors
from leaderboard.lists.trajectories import models_with_series
from leaderboard.probe_pages.trajectory import (
    ChangesBetween,
    NoSeries,
    Training,
    changes_between,
    read_training,
    trajectory_sections,
)
from leaderboard.probe_pages.trajectory_words import headline
from leaderboard.views.page import page_reference, show
from probing.errors import ProbingError

KEPT = ("benchmark", "settings", "with", "by", "x", "scale", "relative", "from", "to")
LOOKS = (
    ("x", (("", "Over steps"), ("tokens", "Over tokens read"))),
    ("scale", (("", "Even scale"), ("log", "Logarithmic scale"))),
    ("relative", (("", "Scores"), ("1", "In percent of the first point"))),
)


def training_view(request: HttpRequest, org: str, name: str) -> HttpResponseBase:
    """Show the page, or answer 404 with the reason where the model has no series."""
    query = request.GET
    try:
        training = read_training(f"{org}/{name}", query)
    except NoSeries as error:
        return render(request, "problem.html", {"error": error, "title": "No series of steps"}, status=404)
    changes, missing = _changes(training, query)
    context = {
        "training": training,
        "model": training.main.series.model,
        "name": name,
        "headline": headline(training.metric, training.main.points),
        "third_party": any(not curve.series.is_measured for curve in (*training.curves, *training.others)),
        "choices": list(dict.fromkeys(series.benchmark for series in training.all_series)),
        "switches": switches(training, query),
        "dimensions": dimension_links(training, query),
        "offered": models_with_series(training.benchmark, besides=training.hub_id),
        "second": query.get("with", "") if training.others else "",
        "changes": changes,
        "changes_error": missing,
        "points": point_choices(training),
        "kept": [(part, query[part]) for part in KEPT if query.get(part)],
    }
    sections = trajectory_sections(training)
    context["contents"] = contents(sections, has_changes=bool(training.benchmark.correctness.column))
    folded = changes.sections if changes else ()
    title = f"{training.hub_id} during its training, on {training.benchmark.title}"
    details = f"benchmark version {training.benchmark.version[:12]}"
    reference = page_reference(request, f"training-{slugify(name)}", title, details)
    return show(request, "training.html", context, sections=sections, folded=folded, reference=reference)


def contents(sections: Sequence[Section], *, has_changes: bool) -> list[Anchor]:
    """Return the page's contents list: what a reader may jump to, in the order of the page."""
    return [*anchors(sections), *([Anchor("section-changes", "Learned and forgotten")] if has_changes else [])]


def _changes(training: Training, query: QueryDict) -> tuple[ChangesBetween | None, ProbingError | None]:
    """Return what became of the questions, or why this is unknown."""
    try:
        return changes_between(training, query), None
    except ProbingError as error:
        return None, error


def point_choices(training: Training) -> list[tuple[int, str]]:
    """Return the numbers of the runs between which answers are compared, each with its step in words."""
    has_curves_to_tell_apart = len(training.curves) > 1
    return [
        (run.pk, f"{run.model.step_in_words}, {curve.name}" if has_curves_to_tell_apart else run.model.step_in_words)
        for curve in training.curves
        for run in curve.series.runs
    ]


def switches(training: Training, query: QueryDict) -> list[list[PageLink]]:
    """Return the links that choose the settings and how the curves are drawn; none with a single choice."""
    settings = [(group, labels.sentence(group) or "Usual settings") for group in training.settings_groups]
    chosen = _links(query, "settings", settings, training.main.series.settings_group)
    has_tokens = all(curve.series.has_tokens for curve in (*training.curves, *training.others))
    looks = [_links(query, name, choices, query.get(name, "")) for name, choices in LOOKS if name != "x" or has_tokens]
    return [*([chosen] if len(chosen) > 1 else []), *looks]


def dimension_links(training: Training, query: QueryDict) -> list[list[PageLink]]:
    """Return the links that choose the breakdown; none where there is no choice."""
    dimensions = [(name, labels.dimension(name)) for name in training.dimensions]
    return [_links(query, "by", dimensions, training.dimension)] if len(dimensions) > 1 else []


def _links(query: QueryDict, name: str, choices: Sequence[tuple[str, str]], current: str) -> list[PageLink]:
    """Return a link for each pair of value and title; the empty value is that of an address without the parameter."""
    return [PageLink(title, link(query, **{name: value or None}), value == current) for value, title in choices]
