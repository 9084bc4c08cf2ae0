"""/models/<org>/<name>/ : what a model knows, beside models of similar size, and every run."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.utils import timezone

from leaderboard.exports.references import model_reference
from leaderboard.figures.profiles import ProfileRow, medians, profile
from leaderboard.figures.runs import OPEN, model_runs, model_versions
from leaderboard.figures.scores import PART_SETTINGS, Group, breakdowns, main_scores
from leaderboard.figures.standings import differs
from leaderboard.figures.training import Series, series_of
from leaderboard.models import Benchmark, FormerName, Model, Run, Score
from leaderboard.pages.rendering import page_address, show
from leaderboard.probes import pages_of
from leaderboard.probes.benchmark_words import topic_of, topic_order
from leaderboard.probes.breakdowns import group_href, titled_cell
from leaderboard.probes.culture.pairs import part_in_words, settings_in_words, variant_in_words, with_part
from leaderboard.probes.wording import group_title, relation_names
from leaderboard.ui import cells, labels
from leaderboard.ui.charts import dot_plots
from leaderboard.ui.charts.basics import Chart
from leaderboard.ui.charts.dot_plots import Mark
from leaderboard.ui.sections import Section, section
from leaderboard.ui.tables import (
    Column,
    Table,
    citation,
    interval_columns,
    score_cell,
    score_points,
    source_column,
    summary,
)

HUB = "https://huggingface.co/"
NAMED = 10  # runs without results that the page names; a training can have hundreds of steps
ENDED = (Run.State.FAILED, Run.State.CANCELLED)
EXTREMES = 3  # groups that are named as known best, and as known least
LEAST_QUESTIONS = 10  # of each of these
REPORTED = "reported"  # among the differences of a published run
DIFFERENCE_HELP = "Only where both are about the same items in the same settings."


class RunScore(NamedTuple):
    """A run and the score that stands for it in the benchmark's main metric; `steps` of a training are in its row."""

    run: Run
    score: Score | None
    steps: int = 0

    @property
    def heading(self) -> str:
        """The title of the benchmark, with the part of its items that the score is about if it is a part."""
        title = self.run.benchmark.title
        return with_part(title, self.score) if self.score else title


@dataclass(frozen=True)
class KnownGroup:
    """A group of a run's items: the model's share, that of guessing, and the median of models of similar size.

    `key` is the name that is stored, and `name` the one that pages show.
    """

    key: str
    name: str
    href: str
    score: Score
    chance: float | None
    median: float | None

    @property
    def value(self) -> float:
        return float(self.score.value or 0)

    @property
    def gap(self) -> float:
        """How far the model is above chance."""
        return self.value - (self.chance or 0)

    @property
    def interval(self) -> str:
        """Its 95 % interval in words, empty without one."""
        low, high = self.score.low, self.score.high
        return "" if low is None or high is None else f"{low:.2f} to {high:.2f}"

    @property
    def is_known(self) -> bool:
        """Tell whether the model is clearly above chance; a figure without interval is taken as it is."""
        return (self.value if self.score.low is None else self.score.low) > (self.chance or 0)


def model_view(request: HttpRequest, org: str, name: str) -> HttpResponseBase:
    hub_id = f"{org}/{name}"
    versions = list(model_versions(hub_id))
    if not versions:
        return _under_its_present_name(hub_id)
    runs = list(model_runs(hub_id))
    scores = main_scores(runs, lambda benchmark: pages_of(benchmark).main_metric(benchmark))
    sized = next((version for version in versions if version.parameters), versions[0])
    parameters = sized.parameters
    series = series_of(runs)
    rows = by_topic(profile(hub_id, runs, parameters))
    known_row, dimension, known = _known_groups(rows, request.GET.get("benchmark", ""))
    best, least = extremes(known)
    has_sorted = any(name == "sort" or name.startswith("published-") for name in request.GET)
    context = {
        "model": versions[0],
        "name": versions[0].printed_name or name,
        "org": "" if versions[0].printed_name else org,
        "parameters": parameters,
        "active": sized.active_parameters if sized.idle_parameters else None,
        "hub_url": _hub_url(versions),
        "versions": shown_versions(versions, series),
        "series": series[0] if series else None,
        "best": best,
        "least": least,
        "known_row": known_row,
        "choices": [row.run.benchmark for row in rows if row.run.artefact],
        "runs_open": has_sorted or not rows,
        **_states(runs),
    }
    sections = [profile_section(rows, parameters)] if rows else []
    if known_row and known:
        sections.append(known_section(known_row.run, dimension, known))
    comparable = [run for run in runs if not differs(run)]
    apart = [run for run in runs if differs(run)]
    tables = [runs_table(comparable, scores, series)]
    if apart:
        tables.append(_runs_table([RunScore(run, scores.get(run.pk)) for run in apart], "published"))
    figures = [(run, score) for run in runs if (score := scores.get(run.pk)) and score.value is not None]
    name_shown = context["name"] if versions[0].printed_name else hub_id
    reference = model_reference(name_shown, figures, page_address(request), timezone.now().date())
    return show(request, "model.html", context, tables, sections=sections, reference=reference if figures else None)


def _under_its_present_name(hub_id: str) -> HttpResponseBase:
    """Redirect from a former name of a model; raises `Http404` if there is no such name."""
    former = FormerName.objects.filter(name=hub_id).first()
    if former is None:
        raise Http404(f"This site has no model called {hub_id}.")
    return redirect("model", *former.hub_id.split("/", 1), permanent=True)


def _hub_url(versions: Sequence[Model]) -> str:
    """Return the address of a model's page on the hub; empty for local files, baselines and printed names."""
    model = versions[0]
    is_local = all(version.source == Model.Source.LOCAL for version in versions)
    is_elsewhere = is_local or model.printed_name or model.hub_id.startswith("baseline/")
    return "" if is_elsewhere else f"{HUB}{model.base_id}"


def _states(runs: Sequence[Run]) -> dict[str, Any]:
    """Return what the page says about runs without results, and whether anything was measured here."""
    finished = [run for run in runs if run.state == Run.State.FINISHED]
    return {
        "finished": bool(finished),
        "measured": any(run.provenance == Run.Provenance.MEASURED for run in finished),
        "live": any(run.state in OPEN for run in runs),  # the steps of a run at work are no change of the data
        **_some("waiting", [run for run in runs if run.state in OPEN]),
        **_some("ended", [run for run in runs if run.state in ENDED]),
    }


def _some(name: str, runs: Sequence[Run]) -> dict[str, Any]:
    """Return the first of these runs under a name, and how many more there are."""
    return {name: runs[:NAMED], f"more_{name}": max(0, len(runs) - NAMED)}


def shown_versions(versions: Sequence[Model], series: Sequence[Series]) -> list[Model]:
    """Return the commits that the page lists: of a training the last step, as its own page has all of them."""
    earlier = {run.model_id for part in series for run in part.runs} - {part.model.pk for part in series}
    return [version for version in versions if version.commit and version.pk not in earlier]


def runs_table(runs: list[Run], scores: dict[int, Score], series: Sequence[Series] = ()) -> Table[RunScore]:
    """Return all runs by benchmark, those of one series in one row; the CSV has a row for every run.

    The state is a column only while any run has no result.
    """
    steps = {part.last.pk: len(part.runs) for part in series}
    earlier = {run.pk for part in series for run in part.runs} - set(steps)
    rows = [RunScore(run, scores.get(run.pk), steps.get(run.pk, 0)) for run in runs if run.pk not in earlier]
    return replace(_runs_table(rows), export=_runs_table([RunScore(run, scores.get(run.pk)) for run in runs]))


def _runs_table(rows: Sequence[RunScore], name: str = "runs") -> Table[RunScore]:
    """Return runs under their benchmarks: all that compare, or published figures with what differs in them."""
    unfinished = any(row.run.state != Run.State.FINISHED for row in rows)
    varied = any(row.run.variant for row in rows)
    return Table(
        name=name,
        caption="Published figures" if name == "published" else "Runs",
        columns=[
            Column("run", "Run", lambda row: cells.Cell(row.run.pk, str(row.run.pk), row.run.get_absolute_url())),
            Column("benchmark", "Benchmark", lambda row: cells.text(row.run.benchmark.title), shown=False),
            Column("settings", "Settings", _settings_cell, align="wide", shown=varied),
            Column("step", "Step", _steps_cell, align="number"),
            Column("commit", "Commit", lambda row: cells.text(row.run.model.commit[:7]), shown=False),
            Column("state", "State", lambda row: cells.text(row.run.get_state_display()), shown=unfinished),
            Column("metric", "Metric", lambda row: cells.text(_metric_of_score(row.run.benchmark)), shown=False),
            Column("part", "", lambda row: cells.text(part_in_words(row.score) if row.score else ""), shown=False),
            Column("score", "Score", lambda row: score_cell(row.run, row.score), align="score"),
            *interval_columns(lambda row: row.score),
            source_column(lambda row: row.run),
            Column("differs", "What differs", lambda row: cells.text(differs(row.run)), align="wide"),
            Column("date", "Date", lambda row: cells.day(row.run.finished)),
        ],
        rows=rows,
        main=name == "runs",
        heading=lambda row: row.heading,
    )


def _steps_cell(row: RunScore) -> cells.Cell:
    """Show how many steps of a training a row stands for, with a link to them; CSV gets the step of the run itself."""
    step = row.run.model.step
    if not row.steps:
        return cells.number(step)
    address = f"{row.run.model.training_url}?benchmark={row.run.benchmark.name}"
    return cells.Cell(step, f"{row.steps:,} points to {step:,}", address, kind="number")


def _settings_cell(row: RunScore) -> cells.Cell:
    return replace(cells.text(row.run.variant), text=variant_in_words(row.run))


def _metric_of_score(benchmark: Benchmark) -> str:
    """Return the title of a score's metric: that of published figures where a benchmark has no measured ones."""
    pages = pages_of(benchmark)
    return pages.metric_label(pages.main_metric(benchmark))


# Its figures on all benchmarks.


def by_topic(rows: Sequence[ProfileRow]) -> list[ProfileRow]:
    """Return the rows by what their benchmarks are about, then by title."""
    return sorted(rows, key=lambda row: (topic_order(row.run.benchmark), row.run.benchmark.title))


def row_label(run: Run, score: Score | None = None) -> str:
    """Return the title of a run's benchmark, with the part of it that its score is about and unusual settings."""
    part = part_in_words(score) if score else ""
    settings = run.group_without(PART_SETTINGS) if part else settings_in_words(run)
    about = ", ".join(filter(None, [part, settings]))
    return f"{run.benchmark.title} ({about})" if about else run.benchmark.title


def metric_label(benchmark: Benchmark) -> str:
    """Return the title of the metric in which models are compared: that of the benchmark's probe."""
    return pages_of(benchmark).metric_label(benchmark.main_metric)


def profile_section(rows: Sequence[ProfileRow], parameters: int | None) -> Section:
    """Return a model's figures on all benchmarks (`by_topic`), beside the range of models of similar size."""
    marks = [
        Mark(
            row_label(row.run, row.score),
            row.value,
            row.score.low,
            row.score.high,
            measured=row.run.provenance == Run.Provenance.MEASURED,
            href=row.run.get_absolute_url(),
            band=row.band,
            chance=row.chance,
        )
        for row in rows
    ]
    heads = {row_label(row.run, row.score): topic_of(row.run.benchmark) for row in rows}
    drawing = (_profile_summary(rows), dot_plots.profile(marks, heads, "score", rows[0].run.model.kind))
    return section(_profile_table(rows), drawing, _profile_note(rows, parameters))


def _profile_note(rows: Sequence[ProfileRow], parameters: int | None) -> str:
    if not parameters:
        return "Its size is not known, so it is not compared with models of similar size."
    if not any(row.similar for row in rows):
        return "No other model of similar size has figures on these benchmarks yet."
    return "The grey bands are the ranges of models with half to twice as many parameters. The ticks are chance."


def _profile_summary(rows: Sequence[ProfileRow]) -> str:
    low, high = min(rows, key=lambda row: row.value), max(rows, key=lambda row: row.value)
    ends = f"{row_label(low.run, low.score)} {low.value:.3f}"
    if high is not low:
        ends = f"From {ends} to {row_label(high.run, high.score)} {high.value:.3f}"
    compared = [row for row in rows if row.median is not None]
    if not compared:
        return f"{ends}."
    above_in = labels.ahead_in((row.value - (row.median or 0) for row in compared), "benchmark")
    return f"{ends}. Above the median of models of similar size {above_in}."


def _profile_table(rows: Sequence[ProfileRow]) -> Table[ProfileRow]:
    return Table(
        name="profile",
        caption="Profile",
        columns=[
            Column("benchmark", "Benchmark", _benchmark_cell, align="head"),
            Column("topic", "Topic", lambda row: cells.text(topic_of(row.run.benchmark)), shown=False),
            Column("metric", "Metric", lambda row: cells.text(metric_label(row.run.benchmark)), shown=False),
            Column("run", "Run", lambda row: cells.number(row.run.pk), shown=False),
            Column("score", "Score", lambda row: cells.of_score(row.score), align="score"),
            *interval_columns(lambda row: row.score),
            Column("published", "○ Published", _published_cell, "The figure of a paper.", align="number"),
            Column(
                "published_difference",
                "Published minus measured",
                lambda row: cells.signed(_published_difference(row)),
                DIFFERENCE_HELP,
                align="number",
            ),
            Column("chance", "Chance", lambda row: cells.number(row.chance), align="number"),
            Column("similar", "Models of similar size", lambda row: cells.text(_similar_words(row))),
            Column("similar_low", "", lambda row: cells.number(row.band[0] if row.band else None), shown=False),
            Column("similar_median", "", lambda row: cells.number(row.median), shown=False),
            Column("similar_high", "", lambda row: cells.number(row.band[1] if row.band else None), shown=False),
            Column("similar_models", "", lambda row: cells.number(len(row.similar)), shown=False),
            source_column(lambda row: row.run),
        ],
        rows=rows,
        heading=lambda row: topic_of(row.run.benchmark),
    )


def _benchmark_cell(row: ProfileRow) -> cells.Cell:
    return cells.text(row_label(row.run, row.score), href=row.run.get_absolute_url())


def _published_cell(row: ProfileRow) -> cells.Cell:
    """Show a published figure beside a measured one; its note names the source, and what differs in it."""
    if row.published is None:
        return cells.number(None)
    run, score = row.published
    note = ", ".join(filter(None, [citation(run), run.settings_group, differs(run)]))
    return replace(cells.number(score.value), href=run.get_absolute_url(), note=note)


def _published_difference(row: ProfileRow) -> float | None:
    """Return the published figure minus that measured here, on the same items in the same settings.

    Who reported a figure is no setting.
    """
    if row.published is None:
        return None
    run, score = row.published
    ignored = {REPORTED, *(PART_SETTINGS if part_in_words(row.score) else ())}
    same_settings = run.group_without(ignored) == row.run.group_without(ignored)
    comparable = same_settings and run.benchmark_id == row.run.benchmark_id and not differs(run)
    return float(score.value or 0) - row.value if comparable else None


def _similar_words(row: ProfileRow) -> str:
    if not row.band:
        return ""
    number = len(row.similar)
    if number == 1:
        return f"{row.band[0]:.3f}, 1 model"
    return f"{row.band[0]:.3f} to {row.band[1]:.3f}, {number} models"


# What it knows best and least, by group of items.


def _known_groups(rows: Sequence[ProfileRow], name: str) -> tuple[ProfileRow | None, str, list[KnownGroup]]:
    """Return the row of the chosen benchmark, or of the first with results here, or of the first at all.

    With it come the dimension that says best what the model knows, and its groups, the best known first.
    """
    own = [row for row in rows if row.run.artefact] or list(rows)
    row = next((row for row in own if row.run.benchmark.name == name), own[0] if own else None)
    if row is None:
        return None, "", []
    metric = row.run.benchmark.main_metric
    groups = breakdowns(row.run.scores.order_by("pk"), metric)
    dimension = groups_dimension(row.run.benchmark, groups)
    if not dimension:
        return row, "", []
    similar = medians(row.similar, metric, dimension, [group.name for group in groups[dimension]])
    return row, dimension, known_groups(row.run, dimension, groups[dimension], similar)


def groups_dimension(benchmark: Benchmark, groups: dict[str, list[Group]]) -> str:
    """Return the dimension that says best what a model knows; empty where none has two groups with figures."""
    dimensions = ("domain", "fact_type", *pages_of(benchmark).default_dimensions, "relation")
    return next((name for name in dimensions if len(_valued(groups.get(name, ()))) > 1), "")


def _valued(groups: Sequence[Group]) -> list[Group]:
    return [group for group in groups if group.main and group.main.value is not None]


def known_groups(run: Run, dimension: str, groups: Sequence[Group], medians: dict[str, float]) -> list[KnownGroup]:
    """Return the groups of a dimension, the best known against chance first."""
    names = relation_names(run)
    rows = []
    for group in _valued(groups):
        if group.main:
            href = group_href(run, dimension, group.name)
            name, median = group_title(dimension, group.name, names), medians.get(group.name)
            chance = group.scores["chance"].value if "chance" in group.scores else None
            rows.append(KnownGroup(group.name, name, href, group.main, chance, median))
    return sorted(rows, key=lambda row: -row.gap)


def known_section(run: Run, dimension: str, groups: Sequence[KnownGroup]) -> Section:
    """Return the shares of a model by group, beside the medians of models of similar size."""
    metric = metric_label(run.benchmark)
    title = f"{metric} by {labels.dimension(dimension).lower()}"
    measured = run.provenance == Run.Provenance.MEASURED
    marks = [
        Mark(
            *(group.name, group.value, group.score.low, group.score.high, measured, group.href),
            median=group.median,
            chance=group.chance,
        )
        for group in groups
    ]
    heads = dict.fromkeys((group.name for group in groups), "")
    points = score_points((group.name, group.score) for group in groups)
    words = summary(f"{title} on {row_label(run)}", points)
    compared = any(group.median is not None for group in groups)
    note = "The tall ticks are the medians of measured models of similar size." if compared else ""
    chart = Chart("known", title, words, dot_plots.profile(marks, heads, labels.within(metric), run.model.kind))
    return Section("known", f"{title} on {row_label(run)}", _known_table(title, dimension, groups), chart, note)


def _known_table(caption: str, dimension: str, groups: Sequence[KnownGroup]) -> Table[KnownGroup]:
    return Table(
        name="known",
        caption=caption,
        columns=[
            Column("group", labels.dimension(dimension), lambda g: titled_cell(g.key, g.name, g.href), align="head"),
            Column("value", "Score", lambda group: cells.of_score(group.score), align="score"),
            *interval_columns(lambda group: group.score),
            Column("chance", "Chance", lambda group: cells.number(group.chance), align="number"),
            Column("median", "Similar size, median", lambda group: cells.number(group.median), align="number"),
            Column("n", "Questions", lambda group: cells.items(group.score.n), align="number"),
        ],
        rows=groups,
    )


def extremes(groups: Sequence[KnownGroup]) -> tuple[list[KnownGroup], list[KnownGroup]]:
    """Return what a model knows best and least against chance, without naming a group twice.

    Groups of few questions are left out, and what it knows best is clearly above chance: its interval is.
    """
    many = [group for group in groups if group.score.n >= LEAST_QUESTIONS]
    number = min(EXTREMES, len(many) // 2)
    return [group for group in many[:number] if group.is_known], list(many[::-1][:number])
