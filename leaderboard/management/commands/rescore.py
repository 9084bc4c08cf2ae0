"""Compute the scores of finished runs again, with the present tags of their benchmarks."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.db.models import QuerySet

from leaderboard.figures import benchmarks
from leaderboard.figures.ranks import refresh_standings
from leaderboard.figures.rescoring import rescore
from leaderboard.management.base import PlainCommand
from leaderboard.models import Benchmark, Run
from probing.analysis.exposure import read_counts
from probing.errors import BadInput, ProbingError
from probing.plan import plan_of


class Command(PlainCommand):
    help = "Compute scores again from stored rows and the present tags and metrics; no model is loaded."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--benchmark", metavar="SLUG", default="", help="only runs on this benchmark, any version")
        parser.add_argument("--run", metavar="N", dest="number", type=int, help="only the run with this number")
        parser.add_argument("--tags", metavar="FILE", type=Path, help="a file of exposure or curate popularity")

    def run(self, *, benchmark: str, number: int | None, tags: Path | None, **options: Any) -> None:
        runs = chosen_runs(benchmark, number)
        counts_of_facts = read_counts(tags) if tags else None
        changed: set[Benchmark] = set()
        counts = {"changed": 0, "unchanged": 0, "skipped": 0}
        for run in runs:
            former = run.benchmark
            try:
                sentences = rescore(run, counts_of_facts)
            except ProbingError as error:
                counts["skipped"] += 1
                self.say(f"Run {run.pk} is skipped. {error}")
                continue
            counts["changed" if sentences else "unchanged"] += 1
            if sentences:
                changed |= {former, run.benchmark}
                self.say(f"Run {run.pk}, {run.name}: {' '.join(sentences)}")
        for version in changed:
            refresh_standings(version)
        if number is None:
            for version in Benchmark.objects.filter(pk__in={run.benchmark_id for run in runs}).exclude(path=""):
                benchmarks.store_chance(version, plan_of(benchmarks.read(version), version.settings_with({})))
        self.say(", ".join(f"{count} runs {outcome}" for outcome, count in counts.items()) + ".")


def chosen_runs(benchmark: str, number: int | None) -> QuerySet[Run]:
    """Return the finished runs that were measured; raise `BadInput` where none is chosen."""
    runs = Run.objects.filter(state=Run.State.FINISHED).select_related("model", "benchmark").order_by("pk")
    runs = runs.filter(provenance__in=(Run.Provenance.MEASURED, Run.Provenance.THIRD_PARTY))
    chosen = runs.filter(benchmark__slug=benchmark) if benchmark else runs
    chosen = chosen.filter(pk=number) if number is not None else chosen
    if not chosen and (benchmark or number is not None):
        raise BadInput("There is no such finished run.", "Name a benchmark or a run that was measured here.")
    return chosen
