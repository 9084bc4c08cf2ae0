"""The sections of a model's page: its profile, what it knows best, and what tuning changed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isnan

from django.urls import reverse

from leaderboard.figures.profiles import ProfileRow, TunedPair
from leaderboard.figures.scores import PART_SETTINGS, Group
from leaderboard.figures.standings import differs
from leaderboard.models import Benchmark, Run, Score
from leaderboard.pages.comparison_tables import difference_cell
from leaderboard.probes import pages_of
from leaderboard.probes.benchmark_words import topic_of, topic_order
from leaderboard.probes.breakdowns import group_href, titled_cell
from leaderboard.probes.culture.pairs import part_in_words, settings_in_words
from leaderboard.probes.wording import group_title, relation_names
from leaderboard.ui import cells, labels
from leaderboard.ui.charts.basics import Chart
from leaderboard.ui.charts.dot_plots import Mark, profile
from leaderboard.ui.sections import Section, section
from leaderboard.ui.tables import Column, Table, citation, interval_columns, score_points, source_column, summary
from probing.analysis.paired_tests import SIDE_BOUNDS

EXTREMES = 3  # groups that are named as known best, and as known least
LEAST_QUESTIONS = 10  # of each of these
REPORTED = "reported"  # among the differences of a published run
DIFFERENCE_HELP = "Only where both are about the same items in the same settings."
TUNING_NOTE = "The same questions, asked of both models in the same way, compared one by one."


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
    drawing = (_profile_summary(rows), profile(marks, heads, "score", rows[0].run.model.kind))
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
            Column("run", "Run", lambda row: _run_number(row.run), shown=False),
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


def _run_number(run: Run) -> cells.Cell:
    return cells.Cell(run.pk, str(run.pk), href=run.get_absolute_url(), kind="number")


def _similar_words(row: ProfileRow) -> str:
    if not row.band:
        return ""
    number = len(row.similar)
    if number == 1:
        return f"{row.band[0]:.3f}, 1 model"
    return f"{row.band[0]:.3f} to {row.band[1]:.3f}, {number} models"


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
            rows.append(KnownGroup(group.name, name, href, group.main, _chance(group), median))
    return sorted(rows, key=lambda row: -row.gap)


def _chance(group: Group) -> float | None:
    score = group.scores.get("chance")
    return score.value if score else None


def known_section(run: Run, dimension: str, groups: Sequence[KnownGroup]) -> Section:
    """Return the shares of a model by group, beside the medians of models of similar size."""
    metric = pages_of(run.benchmark).metric_label(run.benchmark.main_metric)
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
    chart = Chart("known", title, words, profile(marks, heads, labels.within(metric), run.model.kind))
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


def tuning_section(base: str, pairs: Sequence[TunedPair]) -> Section:
    """Return what changed from the base model to the one that was made from it, benchmark by benchmark."""

    def benchmark(pair: TunedPair) -> cells.Cell:
        comparison = f"{reverse('compare')}?m={pair.base.pk}&m={pair.tuned.pk}"
        return cells.text(row_label(pair.tuned, pair.score), href=comparison)

    table = Table(
        name="tuning",
        caption=f"What changed from {base}",
        columns=[
            Column("benchmark", "Benchmark", benchmark, align="head"),
            Column("metric", "Metric", lambda pair: cells.text(metric_label(pair.tuned.benchmark)), shown=False),
            Column("n", "Questions", lambda pair: cells.items(pair.figures["n"]), align="number"),
            _side_column("first", "Base"),
            _side_column("second", "Tuned"),
            Column("difference", "Difference", lambda pair: difference_cell(pair.figures), align="number"),
            *map(_bound_column, ("low", "high", *SIDE_BOUNDS)),
            Column("p", "p", lambda pair: cells.p_value(pair.figures["p"]), align="number"),
            Column("chance", "Chance", lambda pair: cells.number(pair.chance), align="number"),
        ],
        rows=pairs,
        sortable=False,
    )
    return section(table, note=TUNING_NOTE)


def _side_column(name: str, title: str) -> Column[TunedPair]:
    """Return the column with the share of one of the two models, and its own interval."""

    def cell(pair: TunedPair) -> cells.Cell:
        low, high = (_bound(pair, f"{name}_{end}") for end in ("low", "high"))
        return cells.score(pair.figures[name], low, high, pair.chance)

    return Column(name, title, cell, align="score")


def _bound_column(name: str) -> Column[TunedPair]:
    return Column(name, "", lambda pair: cells.number(_bound(pair, name)), shown=False)


def _bound(pair: TunedPair, name: str) -> float | None:
    """Return the end of an interval; a share that is a mean of several relations has none of its own."""
    value = float(pair.figures[name])
    return None if isnan(value) else value
