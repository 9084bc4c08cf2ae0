from importlib import import_module

from django.apps import apps

from leaderboard.models import Benchmark, Run
from tests.leaderboard import factories as make

migration = import_module("leaderboard.migrations.0005_runs_are_checked_before")


def test_a_run_that_was_still_to_be_checked_is_queued(small: Benchmark) -> None:
    unchecked, finished = make.run(make.model(), small, "checking"), make.finished(small)
    migration.queue_checked_runs(apps, None)
    assert Run.objects.get(pk=unchecked.pk).state == Run.State.QUEUED
    assert Run.objects.get(pk=finished.pk).state == Run.State.FINISHED
