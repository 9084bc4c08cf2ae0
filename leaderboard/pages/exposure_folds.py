"""The folds of comparisons and trainings with the accuracies of several runs by exposure, popularity and page views."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

from django.db.models import Q

from leaderboard.figures.scores import OVERALL_SLICE
from leaderboard.models import Run, Score
from leaderboard.probes import pages_of
from leaderboard.ui import cells, charts, labels
from leaderboard.ui.cells import Cell
from leaderboard.ui.charts.basics import Point
from leaderboard.ui.sections import Section, section
from leaderboard.ui.tables import Column, Table, score_columns
from probing.analysis.accuracy import CHANCE
from probing.analysis.breakdowns import least_number
from probing.analysis.exposure import ALPHA, EXPOSURE, POPULARITY, WASB, WASB_CHANCE
from probing.benchmark import PAGE_VIEWS

LEADS = {
    EXPOSURE: "Accuracy by how often a corpus states the fact, and how fast it grows.",
    POPULARITY: "Accuracy by how many of Wikimedia's sites have an article about the subject.",
    PAGE_VIEWS: "Accuracy by how often people read the article about the subject.",
}
MOST_RUNS = 8  # as many as a comparison has
ANOTHER_FILE = "Not all of these runs have the same counts, so that their groups are not of the same facts."
OTHER_NUMBERS = "The runs differ in how many questions a group has, so that each has a number of its own."


class CountedGroup(NamedTuple):
    """A bucket of counts, or a metric of all facts, with the score of each run that has one, and with chance."""

    name: str
    title: str
    scores: Mapping[int, Score]
    chances: Mapping[int, float | None] = MappingProxyType({})

    def n(self, run: Run) -> float | None:
        return self.scores[run.pk].n if run.pk in self.scores else None

    def chance(self, run: Run) -> float | None:
        return self.chances.get(run.pk)


class SharedFigure(NamedTuple):
    """A column with what runs with the same counts have in common in each group, and how a group has it of a run."""

    name: str
    title: str
    cell: Callable[[float | None], Cell]
    of_run: Callable[[CountedGroup, Run], float | None]

    def values(self, group: CountedGroup, runs: Mapping[str, Run]) -> set[float]:
        """Return the different values that the runs have in a group."""
        return {value for run in runs.values() if (value := self.of_run(group, run)) is not None}

    def differs(self, groups: Sequence[CountedGroup], runs: Mapping[str, Run]) -> bool:
        return any(len(self.values(group, runs)) > 1 for group in groups)


NUMBER = SharedFigure("n", "Questions", cells.items, CountedGroup.n)
CHANCES = SharedFigure("chance", "Chance", cells.number, CountedGroup.chance)


def exposure_folds(runs: Mapping[str, Run]) -> list[Section]:
    """Return the section of each tag by which at least two of the runs are broken down. Two queries, one for each tag.

    `runs`: those of one benchmark by what the page calls them. Of more runs with a tag than `MOST_RUNS`, as many are
    shown, spread evenly from the first to the last, and the note says so.
    """
    numbers = [run.pk for run in runs.values()]
    having = Score.objects.filter(dimension__in=LEADS, run__in=numbers, value__isnull=False).order_by()
    tagged = set(having.values_list("dimension", "run").distinct())
    sections = []
    for tag in LEADS:
        named = {name: run for name, run in runs.items() if (tag, run.pk) in tagged}
        if len(named) > 1:
            shown = _evenly(named)
            left_out = f"The chart and the table have {len(shown)} of the {len(named)} runs with counts."
            note = left_out if len(shown) < len(named) else ""
            sections.append(_section(tag, shown, _groups(tag, shown), note))
    return sections


def _evenly(runs: Mapping[str, Run]) -> dict[str, Run]:
    """Return as many of the runs as are shown, the first and the last among them."""
    places = {round(place * (len(runs) - 1) / (MOST_RUNS - 1)) for place in range(MOST_RUNS)}
    return {name: run for place, (name, run) in enumerate(runs.items()) if place in places}


def _groups(tag: str, runs: Mapping[str, Run]) -> list[CountedGroup]:
    """Return the buckets in their order; WASB and α follow those of exposure. One query."""
    metric = next(iter(runs.values())).benchmark.main_metric
    wanted = Q(dimension=tag, metric__in=(metric, CHANCE))
    wanted |= Q(dimension=OVERALL_SLICE.dimension, metric__in=(WASB, WASB_CHANCE, ALPHA))
    numbers = [run.pk for run in runs.values()]
    scores = list(Score.objects.filter(wanted, run__in=numbers, value__isnull=False).order_by("pk"))
    by_group: dict[str, dict[int, Score]] = {}
    chances: dict[str, dict[int, float | None]] = {}
    for score in scores:
        if score.dimension == tag and score.metric == metric:
            by_group.setdefault(score.group, {})[score.run_id] = score
        elif score.metric in (CHANCE, WASB_CHANCE):
            group = score.group if score.dimension == tag else WASB
            chances.setdefault(group, {})[score.run_id] = score.value
    buckets = [CountedGroup(group, group, by_run, chances.get(group, {})) for group, by_run in by_group.items()]
    of_all = [
        CountedGroup(
            name,
            labels.METRICS[name],
            {score.run_id: score for score in scores if score.metric == name},
            chances.get(name, {}),
        )
        for name in ((WASB, ALPHA) if tag == EXPOSURE else ())
    ]
    return [
        *sorted(buckets, key=lambda bucket: least_number(bucket.name)),
        *(group for group in of_all if group.scores),
    ]


def _section(tag: str, runs: Mapping[str, Run], groups: Sequence[CountedGroup], left_out: str) -> Section:
    benchmark = next(iter(runs.values())).benchmark
    metric = pages_of(benchmark).metric_label(benchmark.main_metric)
    title = f"{metric} by {labels.dimension(tag).lower()}"
    buckets = [group for group in groups if group.name not in (WASB, ALPHA)]
    points = [
        Point(group.title, score.value, score.low, score.high, group=name, href=run.get_absolute_url())
        for name, run in runs.items()
        for group in buckets
        if (score := group.scores.get(run.pk)) and score.value is not None
    ]
    alike = not CHANCES.differs(groups, runs)
    chance = {group.title: value for group in buckets for value in CHANCES.values(group, runs) if alike}
    figure = charts.beside(points, {group.title: "" for group in buckets}, labels.within(metric), chance=chance)
    sizes = f"{labels.number_of(len(runs), 'run')}, {labels.number_of(len(buckets), 'group')}"
    words = f"{title}: {sizes}. Lines are 95 % intervals.{' Ticks are chance.' if chance else ''}"
    digests = Run.objects.filter(pk__in=[run.pk for run in runs.values()]).values_list(f"provenance_record__{tag}")
    counts = ANOTHER_FILE if len(set(digests)) > 1 else ""
    numbers = OTHER_NUMBERS if NUMBER.differs(groups, runs) else ""
    note = " ".join(filter(None, [counts, numbers, left_out]))
    return replace(section(_table(tag, title, runs, groups), (words, figure), note), lead=LEADS[tag])


def _table(tag: str, title: str, runs: Mapping[str, Run], groups: Sequence[CountedGroup]) -> Table[CountedGroup]:
    differing = [figure for figure in (NUMBER, CHANCES) if figure.differs(groups, runs)]
    return Table(
        name=tag,
        caption=title,
        columns=[
            Column("group", labels.dimension(tag), lambda group: cells.text(group.title), align="head"),
            *(_shared_column(figure, runs, shown=figure not in differing) for figure in (NUMBER, CHANCES)),
            *(column for name, run in runs.items() for column in _run_columns(name, run, differing)),
        ],
        rows=groups,
        sortable=False,
    )


def _shared_column(figure: SharedFigure, runs: Mapping[str, Run], *, shown: bool) -> Column[CountedGroup]:
    """Return the column with the value that all runs have in a group, which is empty where they differ."""

    def cell(group: CountedGroup) -> Cell:
        values = figure.values(group, runs)
        return figure.cell(values.pop() if len(values) == 1 else None)

    return Column(figure.name, figure.title, cell, align="number", shown=shown)


def _run_columns(name: str, run: Run, differing: Sequence[SharedFigure]) -> list[Column[CountedGroup]]:
    """Return the columns of a run: its score, and its own number of questions and chance, shown where runs differ."""

    def score(group: CountedGroup) -> Score | None:
        return group.scores.get(run.pk)

    def own(figure: SharedFigure) -> Column[CountedGroup]:
        return Column(
            f"run_{run.pk}_{figure.name}",
            figure.title,
            lambda group: figure.cell(figure.of_run(group, run)),
            run.name,
            align="number",
            shown=figure in differing,
        )

    def cell(group: CountedGroup) -> Cell:
        return replace(cells.of_score(score(group)), bar=None)

    return [*score_columns(f"run_{run.pk}", name, score, cell, run.name, "number"), own(NUMBER), own(CHANCES)]
