"""Runs that ended lately: results with their overall scores, and runs that ended without one."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models import QuerySet

from leaderboard.lists.runs import State, measured_runs
from leaderboard.lists.scores import OVERALL
from leaderboard.models import Run, Score
from leaderboard.models.benchmark import named

LATELY = timedelta(days=7)
MOST = 20  # rows of each list of what ended lately
NEWEST = 50  # results that `newest_results` returns


class RecentResult(NamedTuple):
    """A run that was measured lately, with its overall scores by metric."""

    run: Run
    scores: Mapping[str, Score]


def recent_results(now: datetime) -> list[RecentResult]:
    """Return the runs that were finished lately, the newest first."""
    return with_scores(measured_runs().filter(finished__gt=now - LATELY)[:MOST])


def newest_results(benchmark: str = "") -> list[RecentResult]:
    """Return the newest results, of all benchmarks or of one. Two queries."""
    runs = measured_runs()
    return with_scores((runs.filter(named(benchmark, "benchmark__")) if benchmark else runs)[:NEWEST])


def with_scores(selected: Iterable[Run]) -> list[RecentResult]:
    """Return runs with their overall scores. One query beside that for the runs, if there are any."""
    runs = list(selected)
    if not runs:
        return []
    by_run: dict[int, dict[str, Score]] = {run.pk: {} for run in runs}
    for score in Score.objects.filter(run__in=by_run, dimension=OVERALL.dimension, group=OVERALL.group):
        by_run[score.run_id][score.metric] = score
    return [RecentResult(run, by_run[run.pk]) for run in runs]


def recent_failures(now: datetime) -> QuerySet[Run]:
    """Return the runs that failed or were cancelled lately, the newest first."""
    ended = Run.objects.filter(state__in=(State.FAILED, State.CANCELLED), finished__gt=now - LATELY)
    return ended.select_related("model", "benchmark").order_by("-finished", "-pk")[:MOST]
