"""/models/<org>/<name>/training/ : what a model knows at several steps of its training."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from django.http import HttpRequest, HttpResponseBase, QueryDict
from django.shortcuts import render
from django.utils.text import slugify

from leaderboard.figures.profiles import chance_levels, group_chance, levels
from leaderboard.figures.scores import OVERALL_SLICE, Group, part_of
from leaderboard.figures.training import (
    ChangeShare,
    Series,
    StepScore,
    Trajectories,
    dimensions_of,
    item_changes,
    models_with_series,
    overall_shares,
    read_series,
    series_of_other_seeds,
)
from leaderboard.models import Benchmark, Run
from leaderboard.pages.benchmark_sections import step_replicates_fold
from leaderboard.pages.rendering import page_reference, show
from leaderboard.pages.training_tables import (
    ChangedItem,
    GroupRow,
    PointRow,
    benchmarks_table,
    changes_in_words,
    common_steps,
    curves_table,
    differences_table,
    group_rows,
    groups_in_words,
    groups_table,
    headline,
    items_table,
    points_table,
    shares_table,
)
from leaderboard.probes import pages_of
from leaderboard.probes.breakdowns import group_names
from leaderboard.probes.culture.pairs import with_part
from leaderboard.probes.probe_pages import ProbePages
from leaderboard.probes.wording import read_relations
from leaderboard.ui import labels
from leaderboard.ui.charts.basics import Point
from leaderboard.ui.charts.plots import Scale, Trajectory, trajectories
from leaderboard.ui.links import PageLink, link
from leaderboard.ui.sections import Anchor, Section, anchors, folds_of, open_sections, section
from leaderboard.ui.visible import visible
from probing.analysis.steps import Changes
from probing.errors import BadInput, ProbingError

KEPT = ("benchmark", "settings", "with", "by", "x", "scale", "relative", "from", "to")
CHANCE = "chance"  # of the parameter `relative`: both scores are taken less chance
LOOKS = (
    ("x", (("", "Over steps"), ("tokens", "Over tokens read"))),
    ("scale", (("", "Even scale"), ("log", "Logarithmic scale"))),
    (
        "relative",
        (
            ("", "Scores"),
            ("1", "In percent of the first point"),
            (CHANCE, "Above chance, in percent of the first point"),
        ),
    ),
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
        "measured_elsewhere": any(not curve.series.is_measured for curve in (*training.curves, *training.others)),
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
    everything = trajectory_sections(training)
    sections, folds = open_sections(everything), folds_of(everything)
    context["contents"] = contents(sections, has_changes=bool(training.benchmark.correctness.column))
    context["folds"] = [(fold, fold.is_open(query)) for fold in folds]
    folded = [*(changes.sections if changes else ()), *(part for fold in folds for part in fold.sections)]
    title = f"{training.hub_id} during its training, on {training.benchmark.title}"
    details = f"benchmark version {training.benchmark.version[:12]}"
    reference = page_reference(request, f"training-{slugify(name)}", title, details)
    return show(request, "training.html", context, sections=sections, folded=folded, reference=reference)


def contents(sections: Sequence[Section], *, has_changes: bool) -> list[Anchor]:
    """Return the page's contents list: what a reader may jump to, in the order of the page."""
    return [*anchors(sections), *([Anchor("section-changes", "Learned and forgotten")] if has_changes else [])]


@dataclass(frozen=True)
class Look:
    """How trajectories are drawn: over tokens or steps, on which scale, and how relative to the first point.

    `relative`: a value of the parameter of this name; empty for the scores themselves.
    """

    over_tokens: bool = False
    is_logarithmic: bool = False
    relative: str = ""

    @property
    def scale(self) -> Scale:
        if self.over_tokens:
            return Scale("tokens read", "%{x:.3s} tokens", self.is_logarithmic)
        return Scale("step of the training", "step %{x:,}", self.is_logarithmic)

    def y_title(self, metric: str) -> str:
        ends = {"": "", CHANCE: " above chance, % of the first point"}
        return f"{labels.within(metric)}{ends.get(self.relative, ', % of the first point')}"

    @property
    def percentages(self) -> list[str]:
        """The percentages that tables show beside the scores."""
        return ["above_chance" if self.relative == CHANCE else "percent"]

    def point(self, point: StepScore) -> Point | None:
        """Return a point of a plot, None where it has no percentage and percentages are drawn."""
        model, score = point.run.model, point.score
        label = model.step_in_words
        x, href = (model.tokens if self.over_tokens else model.step), point.run.get_absolute_url()
        if not self.relative:
            return Point(label, point.value, score.low, score.high, x, href=href)
        percent = point.above_chance if self.relative == CHANCE else point.percent
        if percent.value is None:
            return None
        return Point(label, percent.value, percent.low, percent.high, x, href=href)


@dataclass(frozen=True)
class Curve:
    """A series with its scores and the name by which a page tells it from others."""

    name: str
    series: Series
    points: Sequence[StepScore]

    def line(self, look: Look) -> Trajectory:
        """Return the line of a plot that shows it."""
        return _trajectory(self.name, self.points, look, is_measured=self.series.is_measured)


@dataclass(frozen=True)
class Training:
    """Series of one benchmark in one choice of settings, with their scores.

    `all_series`: those of the model on every benchmark. `curves`: those of the model here, the main one first.
    `others`: those of a second model. `everything`: the curves of both on every benchmark. `dimension`: that of the
    breakdown of the main series into `groups`, empty without one. `error` says which choice of the reader was left out,
    and why.
    """

    hub_id: str
    all_series: Sequence[Series]
    everything: Sequence[Curve]
    curves: Sequence[Curve]
    others: Sequence[Curve]
    dimensions: Sequence[str]
    dimension: str
    groups: Mapping[str, Sequence[StepScore]]
    look: Look
    error: ProbingError | None = None

    @property
    def main(self) -> Curve:
        return self.curves[0]

    @property
    def benchmark(self) -> Benchmark:
        return self.main.series.benchmark

    @property
    def pages(self) -> ProbePages:
        return pages_of(self.benchmark)

    @property
    def metric(self) -> str:
        """The title of the metric of all curves, with the part of the items that they are about if it is a part."""
        title = self.pages.metric_label(self.benchmark.main_metric)
        return with_part(title, self.main.points[0].score) if self.main.points else title

    @property
    def runs(self) -> list[Run]:
        """The runs of the model between which its answers are compared."""
        return [run for curve in self.curves for run in curve.series.runs]

    @property
    def settings_groups(self) -> list[str]:
        """The settings, in words, in which the model has series on the benchmark; empty for the usual ones."""
        return list(dict.fromkeys(part.settings_group for part in self.all_series if part.benchmark == self.benchmark))


@dataclass(frozen=True)
class ChangesBetween:
    """What became of the questions between two runs; `sections` are its numbers and the list of questions.

    `percent` is the later score in percent of the earlier one, with its paired interval, where that is not 0.
    """

    before: Run
    after: Run
    shares: Sequence[ChangeShare]
    percent: tuple[float, float, float] | None
    sections: Sequence[Section]

    @property
    def sentence(self) -> str:
        return changes_in_words(self.before, self.after, self.shares, self.percent)


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


CHANGED = ("learned", "forgotten")  # the items that are listed unless a reader chooses one change
CHANGE_COLUMNS = ["relation", "index", "before", "after", "change"]
DOMAIN = "domain"  # the breakdown that is shown unless a reader chooses another


class NoSeries(BadInput):
    """The model was not measured at several steps of its training."""


def read_training(hub_id: str, query: QueryDict) -> Training:
    """Return what a query string asks for; raise `NoSeries` where the model has no two steps to show. Four queries."""
    all_series = read_series([hub_id])
    if not all_series:
        raise NoSeries(
            f"{hub_id} has no results at two different steps of its training that were measured in the same way.",
            f"The page of the model, /models/{hub_id}/, has all of its runs.",
        )
    own = _chosen(all_series, query)
    all_others, error = _second(query.get("with", ""), own[0])
    others = [part for part in all_others if _is_like(part, own[0])]
    series, benchmark = [*own, *others], own[0].benchmark
    dimensions = dimensions_of(own[0].last, benchmark.main_metric, pages_of(benchmark).hidden_dimensions)
    dimension = next((name for name in (query.get("by"), DOMAIN, *dimensions) if name in dimensions), "") or ""
    everywhere = [*all_series, *all_others]
    scores = Trajectories(everywhere, own[0], dimension)
    curves = [Curve(name, of, scores.overall(of)) for name, of in zip(curve_names(series), series, strict=True)]
    everything = [Curve(_way(of, hub_id), of, scores.overall(of)) for of in everywhere]
    mine, theirs = curves[: len(own)], curves[len(own) :]
    groups, look = scores.groups(), _look(query, series)
    return Training(hub_id, all_series, everything, mine, theirs, dimensions, dimension, groups, look, error)


def _way(series: Series, hub_id: str) -> str:
    """Name a series by its benchmark, by whatever sets it apart there, and by its model where it is another one."""
    model = "" if series.model.hub_id == hub_id else series.model.hub_id
    return ", ".join(filter(None, [model, series.title]))


def _chosen(all_series: Sequence[Series], query: QueryDict) -> list[Series]:
    """Return the series of the chosen benchmark in the chosen settings, or of the first ones that there are."""
    on_slug = [part for part in all_series if part.benchmark.name == query.get("benchmark")] or all_series
    on_version = [part for part in on_slug if part.benchmark == on_slug[0].benchmark]
    groups = [part.settings_group for part in on_version]
    group = query.get("settings", "")
    group = group if group in groups else groups[0]
    return [part for part in on_version if part.settings_group == group]


def _second(hub_id: str, main: Series) -> tuple[list[Series], ProbingError | None]:
    """Return all series of a second model, or why none can be set beside the main one."""
    if not hub_id:
        return [], None
    if hub_id == main.model.hub_id:
        return [], BadInput(f"{hub_id} is the model of this page.", "Choose another model.")
    series = read_series([hub_id])
    if any(_is_like(part, main) for part in series):
        return series, None
    return [], BadInput(
        f"{hub_id!r:.200} has no results at several steps on {main.benchmark.title} with these settings.",
        "Choose a model from the list.",
    )


def _is_like(series: Series, main: Series) -> bool:
    """Tell whether a series is on the benchmark of the main one, in the same settings."""
    return (series.benchmark, series.settings_group) == (main.benchmark, main.settings_group)


def _look(query: QueryDict, series: Sequence[Series]) -> Look:
    over_tokens = query.get("x") == "tokens" and all(part.has_tokens for part in series)
    relative = query.get("relative", "")
    return Look(over_tokens, query.get("scale") == "log", relative if relative in ("1", CHANCE) else "")


def trajectory_sections(training: Training) -> list[Section]:
    """Return the sections with curves: of all scores, of the groups, and of the differences from a second model.

    That on replicates is a fold.
    """
    points = training.main.points
    part = part_of(points[0].score) if points else OVERALL_SLICE
    chance = chance_levels(levels({training.benchmark.pk: training.benchmark})).get((training.benchmark.pk, part))
    sections = [score_section([*training.curves, *training.others], training.metric, training.look, chance)]
    if training.others:
        sections.append(differences_section(training.main, training.others[0]))
    if len(training.all_series) > 1:
        sections.append(benchmarks_section(training.everything, training.look))
    return [*sections, *_group_sections(training), *_seeds_fold(training)]


def _seeds_fold(training: Training) -> list[Section]:
    """Return the fold with the means of the training and those that differ from it in a seed alone.

    One query, and two more where there are such models.
    """
    series = series_of_other_seeds(training.main.series)
    if not series:
        return []
    scores = Trajectories(series)
    return step_replicates_fold([*training.main.points, *(point for part in series for point in scores.overall(part))])


def _group_sections(training: Training) -> list[Section]:
    """Return the section with the curves of the groups, and that with the changes from the first to the last step."""
    last = training.main.series.last
    groups = [Group(name, {}, None) for name in training.groups]
    titles = group_names(last, training.dimension, groups)
    rows = group_rows(training.groups, titles, group_chance(training.benchmark, training.dimension))
    if not rows:
        return []
    dimension = labels.dimension(training.dimension).lower()
    curves = curves_section(training.main, training.groups, rows, dimension, training.metric, training.look)
    table = groups_table(rows, dimension, training.benchmark.nouns)
    return [curves, section(table, title=f"First and last step by {dimension}")]


def changes_between(training: Training, query: QueryDict) -> ChangesBetween:
    """Return what became of the questions between the chosen points, the first and the last ones by default.

    Two queries. Raises `BadInput` if a point is not one of the series, or if the two have no answers to compare.
    """
    before = _run(training, query.get("from", ""), training.main.series.runs[0])
    after = _run(training, query.get("to", ""), training.main.series.last)
    changes = item_changes(before, after)
    shares = overall_shares(changes)
    chosen = query.get("change", "")
    kinds = [chosen] if chosen in {row.change for row in shares} else list(CHANGED)
    numbers = shares_table(shares, lambda change: f"{link(query, change=change)}#section-items")
    listed = items_table(changed_items(training.benchmark, changes, kinds), training.benchmark, training.pages)
    percent = (changes.percent, changes.percent_low, changes.percent_high)
    sections = [
        section(numbers, title="Learned and forgotten"),
        section(listed, title="Which questions changed" if kinds == list(CHANGED) else "Questions"),
    ]
    return ChangesBetween(before, after, shares, percent if changes.percent == changes.percent else None, sections)


def _run(training: Training, number: str, otherwise: Run) -> Run:
    if not number:
        return otherwise
    run = next((run for run in training.runs if str(run.pk) == number), None)
    if run is None:
        raise BadInput(f"Run {number[:20]!r} is not a point of this series.", "Choose a point from the list.")
    return run


def changed_items(benchmark: Benchmark, changes: Changes, kinds: Sequence[str]) -> list[ChangedItem]:
    """Return the items of the chosen kinds of change, with their questions where the benchmark's files are here."""
    items = changes.items[changes.items["change"].isin(kinds)]
    questions = {
        (relation.label, item.index): (relation, item)
        for relation in read_relations(benchmark)
        for item in relation.items
    }
    return [
        ChangedItem(relation, index, before, after, change, questions.get((relation, index)))
        for relation, index, before, after, change in items[CHANGE_COLUMNS].itertuples(index=False, name=None)
    ]


# The sections of a trajectory: curves over the steps of a training, overall, by group and beside another series.


MOST_CURVES = 8  # groups that a chart shows, as many as there are markers


def _trajectory(name: str, points: Sequence[StepScore], look: Look, *, is_measured: bool) -> Trajectory:
    plotted = [look.point(point) for point in points]
    return Trajectory(name, [point for point in plotted if point], is_measured)


def curve_names(series: Sequence[Series]) -> list[str]:
    """Return a name for each series: its model where there are several, and who measured it where that differs."""
    several_models = len({part.model.hub_id for part in series}) > 1
    several_sources = len({part.last.provenance for part in series}) > 1
    names: list[str] = []
    for part in series:
        model = part.model.hub_id if several_models else ""
        source = _source(part.last) if several_sources or not model else ""
        name = visible(", ".join(filter(None, [model, part.model.weights_in_words, source])))
        names.append(f"{name}, to run {part.last.pk}" if name in names else name)
    return names


def _source(run: Run) -> str:
    return "measured here" if run.provenance == Run.Provenance.MEASURED else run.get_provenance_display().lower()


def score_section(curves: Sequence[Curve], metric: str, look: Look, chance: float | None) -> Section:
    """Return the section with the overall scores of all curves."""
    lines = [curve.line(look) for curve in curves]
    figure = trajectories(lines, look.scale, look.y_title(metric), None if look.relative else chance)
    parts = [_in_words(curve, metric, with_name=len(curves) > 1) for curve in curves]
    summary = " ".join([*parts, *left_out(lines, look)])
    rows = [PointRow(curve.name, point) for curve in curves for point in curve.points]
    table = points_table(rows, metric, look.percentages, curves[0].series.benchmark.nouns)
    return section(table, (summary, figure), title=f"{metric} during the training")


def benchmarks_section(curves: Sequence[Curve], look: Look) -> Section:
    """Return the section with a training on every benchmark, relative to its first point (LM-PUB-QUIZ, Figure 5)."""
    relative = replace(look, relative=look.relative or "1", over_tokens=False)
    lines = [curve.line(relative) for curve in curves[:MOST_CURVES]]
    figure = trajectories(lines, relative.scale, relative.y_title("score"))
    rows = [PointRow(curve.name, point) for curve in curves for point in curve.points]
    table = benchmarks_table(rows, look.percentages)
    left = [
        f"{curve.name} {curve.points[-1].percent.value:.0f} %"
        for curve in curves
        if curve.points and curve.points[-1].percent.value is not None
    ]
    words = [f"The last point has, of the first score: {'; '.join(left)}."] if left else []
    summary = " ".join([*words, *left_out(lines, relative)])
    return section(table, (summary, figure), title="On every benchmark, in percent of the first point")


def _in_words(curve: Curve, metric: str, *, with_name: bool) -> str:
    sentence = headline(metric, curve.points)
    return f"{labels.sentence(curve.name)}: {sentence}" if with_name else sentence


def left_out(lines: Sequence[Trajectory], look: Look) -> list[str]:
    """Say which points a logarithmic axis cannot show."""
    number = sum(not look.scale.holds(point) for line in lines for point in line.points)
    if not number:
        return []
    return [f"{number} point{' at 0 has' if number == 1 else 's at 0 have'} no place on a logarithmic axis."]


def curves_section(
    curve: Curve,
    groups: Mapping[str, Sequence[StepScore]],
    rows: Sequence[GroupRow],
    dimension: str,
    metric: str,
    look: Look,
) -> Section:
    """Return the section with a curve for each of the groups that changed most; the table has all of them.

    `rows`: the groups, those that changed most first.
    """
    titles = {row.name: row.title for row in rows}
    charted = rows[:MOST_CURVES]
    is_measured = curve.series.is_measured
    lines = [_trajectory(row.title, groups[row.name], look, is_measured=is_measured) for row in charted]
    lines = [line._replace(points=[point._replace(low=None, high=None) for point in line.points]) for line in lines]
    figure = trajectories(lines, look.scale, look.y_title(metric))
    nouns = curve.series.benchmark.nouns
    table = curves_table({name: groups[name] for name in titles}, titles, look.percentages, nouns)
    summary = groups_in_words(rows, dimension, nouns)
    return section(table, (summary, figure), _note(rows), title=f"{metric} by {dimension}")


def _note(rows: Sequence[GroupRow]) -> str:
    return f"The chart has the {MOST_CURVES} that changed most, of {len(rows)}." if len(rows) > MOST_CURVES else ""


def differences_section(first: Curve, second: Curve) -> Section:
    """Return the section with the differences of two series at their common steps."""
    benchmark = first.series.benchmark
    table = differences_table(common_steps(first.points, second.points), (first.name, second.name), benchmark.noun)
    note = (
        f"Second minus first. Both were asked the same {benchmark.nouns}, and the intervals are those of a paired "
        f"comparison wherever the answers to single {benchmark.nouns} are stored here; elsewhere they treat the two as "
        "independent."
    )
    return section(table, note=note, title=f"{second.name} against {first.name}")
