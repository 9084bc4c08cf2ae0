"""The public log of changes: every result that was added, scored again or withdrawn, with the reason."""

from functools import partial

from django.db import transaction
from django.db.models import QuerySet

from leaderboard.models import Benchmark, Change, Run
from leaderboard.stored import artefacts
from leaderboard.stored.ranks import refresh_standings


def record(kind: Change.Kind, run: Run, text: str = "") -> None:
    """Add a change of a run's result to the log, within the transaction that makes the change."""
    Change.objects.create(kind=kind, benchmark=run.benchmark.name, model=run.model.title, run=run.pk, text=text)


def record_version(benchmark: Benchmark) -> None:
    """Add a new version of a benchmark to the log."""
    text = f"Version {benchmark.version}, {benchmark.items:,} questions in {benchmark.relations:,} relations."
    Change.objects.create(kind=Change.Kind.VERSION, benchmark=benchmark.name, text=text)


def withdraw(runs: QuerySet[Run], reason: str) -> None:
    """Delete runs with their files, record the finished ones as withdrawn, and rank the other runs again."""
    benchmarks = list(Benchmark.objects.filter(runs__in=runs).distinct())
    with transaction.atomic():
        withdrawn = list(runs.select_related("model", "benchmark"))
        for run in withdrawn:
            if run.state == Run.State.FINISHED:
                record(Change.Kind.WITHDRAWN, run, reason)
        folders = [folder for run in withdrawn for folder in artefacts.folders_of(run)]
        runs.delete()
        transaction.on_commit(partial(artefacts.remove_folders, folders))
    for benchmark in benchmarks:
        refresh_standings(benchmark)
