"""Runs that ended lately."""

from datetime import timedelta

from leaderboard.figures.progress import LATELY, recent_failures, recent_results
from leaderboard.models import Benchmark, Run
from tests.leaderboard import factories as make


def test_results_come_with_their_overall_scores_the_newest_first(small: Benchmark) -> None:
    first, second = make.finished(small, 0.25), make.finished(small, 0.5)
    make.published(small)
    make.run(make.model(), small, Run.State.FAILED, finished=make.DAY)
    results = recent_results(make.DAY + timedelta(days=1))
    assert [(row.run, row.scores["accuracy"].value) for row in results] == [(second, 0.5), (first, 0.25)]
    assert not recent_results(make.DAY + LATELY + timedelta(days=1))


def test_failures_are_failed_and_cancelled_runs_the_newest_first(small: Benchmark) -> None:
    make.finished(small)
    failed = make.run(make.model(), small, Run.State.FAILED, finished=make.DAY)
    cancelled = make.run(make.model(), small, Run.State.CANCELLED, finished=make.DAY)
    assert list(recent_failures(make.DAY)) == [cancelled, failed]
    assert not recent_failures(make.DAY + LATELY + timedelta(days=1))
