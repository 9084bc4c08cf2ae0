"""The folds of comparisons and trainings with the accuracies of several runs by exposure and by popularity."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from django.db.models import Q

from leaderboard.figures.scores import OVERALL_SLICE
from leaderboard.models import Run, Score
from leaderboard.probes import pages_of
from leaderboard.ui import cells, charts, labels
from leaderboard.ui.charts.basics import Point
from leaderboard.ui.columns import interval_columns
from leaderboard.ui.sections import Section, section
from leaderboard.ui.tables import Column, Table
from probing.analysis.accuracy import CHANCE
from probing.analysis.exposure import ALPHA, EXPOSURE, POPULARITY, WASB

LEADS = {
    EXPOSURE: "Accuracy by how often a corpus states the fact, and how fast it grows.",
    POPULARITY: "Accuracy by how many of Wikimedia's sites have an article about the subject.",
}
ANOTHER_FILE = "Not all of these runs have the same counts, so that their groups are not of the same facts."


class CountedGroup(NamedTuple):
    """A bucket of counts, or a metric of all facts, with the score of each run that has one."""

    name: str
    title: str
    scores: Mapping[int, Score]
    chance: float | None = None

    @property
    def n(self) -> float:
        return max(score.n for score in self.scores.values())


def exposure_folds(runs: Mapping[str, Run]) -> list[Section]:
    """Return the section of each tag by which at least two of the runs are broken down. A query, and one for each tag.

    `runs`: those of one benchmark by what the page calls them.
    """
    metric = next(iter(runs.values())).benchmark.main_metric
    in_buckets = Q(dimension__in=LEADS, metric__in=(metric, CHANCE))
    of_all_facts = Q(dimension=OVERALL_SLICE.dimension, metric__in=(WASB, ALPHA))
    numbers = [run.pk for run in runs.values()]
    scores = list(Score.objects.filter(in_buckets | of_all_facts, run__in=numbers, value__isnull=False).order_by("pk"))
    sections = []
    for tag in LEADS:
        tagged = {score.run_id for score in scores if score.dimension == tag}
        if len(tagged) > 1:
            named = {name: run for name, run in runs.items() if run.pk in tagged}
            sections.append(_section(tag, named, _groups(tag, metric, scores)))
    return sections


def _groups(tag: str, metric: str, scores: Sequence[Score]) -> list[CountedGroup]:
    """Return the buckets in their order; WASB and α follow those of exposure."""
    by_group: dict[str, dict[int, Score]] = {}
    chance: dict[str, float | None] = {}
    for score in scores:
        if score.dimension == tag and score.metric == metric:
            by_group.setdefault(score.group, {})[score.run_id] = score
        elif score.dimension == tag:
            chance[score.group] = score.value
    buckets = [CountedGroup(group, group, by_run, chance.get(group)) for group, by_run in by_group.items()]
    of_all = [
        CountedGroup(name, labels.METRICS[name], {score.run_id: score for score in scores if score.metric == name})
        for name in ((WASB, ALPHA) if tag == EXPOSURE else ())
    ]
    return [*sorted(buckets, key=_least), *(group for group in of_all if group.scores)]


def _least(group: CountedGroup) -> int:
    """Return the least number of a bucket such as 4–7."""
    return int(re.findall(r"\d+", group.name)[0])


def _section(tag: str, runs: Mapping[str, Run], groups: Sequence[CountedGroup]) -> Section:
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
    figure = charts.beside(points, {group.title: "" for group in buckets}, labels.within(metric))
    sizes = f"{labels.number_of(len(runs), 'run')}, {labels.number_of(len(buckets), 'group')}"
    words = f"{title}: {sizes}. Lines are 95 % intervals."
    digests = Run.objects.filter(pk__in=[run.pk for run in runs.values()]).values_list(f"provenance_record__{tag}")
    note = ANOTHER_FILE if len(set(digests)) > 1 else ""
    return replace(section(_table(tag, title, runs, groups), (words, figure), note), lead=LEADS[tag])


def _table(tag: str, title: str, runs: Mapping[str, Run], groups: Sequence[CountedGroup]) -> Table[CountedGroup]:
    def columns(name: str, run: Run) -> list[Column[CountedGroup]]:
        def score(group: CountedGroup) -> Score | None:
            return group.scores.get(run.pk)

        value: Column[CountedGroup] = Column(
            f"run_{run.pk}",
            name,
            lambda group: replace(cells.of_score(score(group)), bar=None),
            run.name,
            align="number",
        )
        return [value, *interval_columns(score, value.name)]

    return Table(
        name=tag,
        caption=title,
        columns=[
            Column("group", labels.dimension(tag), lambda group: cells.text(group.title), align="head"),
            Column("n", "Questions", lambda group: cells.items(group.n), align="number"),
            Column("chance", "Chance", lambda group: cells.number(group.chance), align="number"),
            *(column for name, run in runs.items() for column in columns(name, run)),
        ],
        rows=groups,
        sortable=False,
    )
