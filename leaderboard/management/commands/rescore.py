"""Compute the scores of finished runs again, from their stored rows with the present tags of their benchmarks."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import pandas as pd
from django.db import transaction
from django.db.models import QuerySet

from leaderboard.figures import artefacts, benchmarks, item_rows
from leaderboard.figures.benchmarks import replace_scores
from leaderboard.figures.ranks import refresh_standings, store_figures
from leaderboard.management.base import PlainCommand
from leaderboard.models import Benchmark, Run, RunEvent
from leaderboard.models.benchmark import named
from probing.analysis.accuracy import SCORE_COLUMNS
from probing.analysis.added_tags import read_tags
from probing.analysis.paired_tests import score_changes
from probing.errors import BadInput, ProbingError
from probing.plan import plan_of
from probing.results.rescoring import digests, rescored
from probing.results.result import Result
from probing.settings import Settings


class Command(PlainCommand):
    help = "Compute scores again from stored rows and the present tags and metrics; no model is loaded."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--benchmark", metavar="SLUG", default="", help="only runs on this benchmark, any version")
        parser.add_argument("--run", metavar="N", dest="number", type=int, help="only the run with this number")
        parser.add_argument("--tags", metavar="FILE", type=Path, help="a table with further tags of items")

    def run(self, *, benchmark: str, number: int | None, tags: Path | None, **options: Any) -> None:
        runs = chosen_runs(benchmark, number)
        added = read_tags(tags) if tags else None
        changed: set[Benchmark] = set()
        counts = {"changed": 0, "unchanged": 0, "skipped": 0}
        for run in runs:
            former = run.benchmark
            try:
                sentences = rescore(run, added)
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
                benchmarks.store_baselines(version, plan_of(benchmarks.read(version), version.settings_with({})))
        self.say(", ".join(f"{count} runs {outcome}" for outcome, count in counts.items()) + ".")


def chosen_runs(benchmark: str, number: int | None) -> QuerySet[Run]:
    """Return the finished runs that were measured; raise `BadInput` where none is chosen."""
    runs = Run.objects.filter(state=Run.State.FINISHED).select_related("model", "benchmark").order_by("pk")
    chosen = runs.filter(benchmark__slug=benchmark) if benchmark else runs
    chosen = chosen.filter(pk=number) if number is not None else chosen
    if not chosen and (benchmark or number is not None):
        raise BadInput("There is no such finished run.", "Name a benchmark or a run that was measured here.")
    return chosen


def rescore(run: Run, added: pd.DataFrame | None = None) -> list[str]:
    """Compute the scores of a finished run again; return sentences on what has changed, none if nothing has.

    `added`: further tags of the items, as `probing.results.rescoring.rescored` takes them.
    The run moves to the current version of its benchmark if that asks the same as the run was asked. Its files, its
    scores and its record change together or not at all. Raises `ItemsMissing` if it has no stored rows,
    `OtherQuestions` if they do not belong to its benchmark, and `BadInput` if another process changes the run at the
    same time.
    """
    result = stored_result(run)
    version = version_for(run, result)
    again = rescored(result, benchmarks.read(version), added)
    if again is result:
        return []
    moved = [f"Moved from version {run.benchmark.version} to {version.version}."] if version != run.benchmark else []
    sentences = [*moved, *score_changes(result.scores, again.scores)] or ["The scores are the same."]
    former, folder = run.artefact, artefacts.store_result(run, again)
    try:
        replace_result(run, version, again, folder, " ".join(sentences))
    except BaseException:
        artefacts.remove_folder(folder)
        raise
    artefacts.remove_folder(former)
    return sentences


def stored_result(run: Run) -> Result:
    """Return what is stored of a run, with a record that says what it was asked."""
    with item_rows.opened(run) as file:
        rows = pd.read_parquet(file)
    scores = pd.DataFrame(list(run.scores.order_by("pk").values_list(*SCORE_COLUMNS)), columns=SCORE_COLUMNS)
    benchmark = {name: getattr(run.benchmark, name) for name in ("slug", "version", "digest")}
    return Result(rows, scores, {**run.provenance_record, "settings": run.settings, "benchmark": benchmark})


def version_for(run: Run, result: Result) -> Benchmark:
    """Return the current version of the run's benchmark if it asks the same, else the version that the run belongs to.

    The questions of a run that does not record their digest are read from the files of its own version, and are then
    part of the record of `result`.
    """
    current = Benchmark.objects.filter(named(run.benchmark.name), current=True).exclude(path="").first()
    if current is None or current == run.benchmark or current.probe != run.benchmark.probe:
        return run.benchmark
    if Run.objects.filter(model=run.model, benchmark=current, settings_digest=run.settings_digest).exists():
        return run.benchmark
    if "questions" not in result.record:
        result.record["questions"] = digests(benchmarks.plan_of_run(run))["questions"]
    asked_now = plan_of(benchmarks.read(current), Settings.from_json(run.settings))
    same = digests(asked_now)["questions"] == result.record["questions"]
    return current if same else run.benchmark


def replace_result(run: Run, version: Benchmark, result: Result, folder: str, message: str) -> None:
    """Make the result that is stored in `folder` the run's only one; pages show either the former one or this one.

    Ranks are left to the caller, who may rescore many runs of a benchmark before they are ranked again.
    """
    facts = {"benchmark": version, "artefact": folder, "provenance_record": result.record}
    with transaction.atomic():
        unchanged = Run.objects.filter(pk=run.pk, state=Run.State.FINISHED, artefact=run.artefact)
        if not unchanged.update(**facts):
            raise BadInput(f"Run {run.pk} was changed by another process.", "Try again.")
        for name, value in facts.items():
            setattr(run, name, value)
        replace_scores(run, result.scores)
        store_figures(run, result.items)
        RunEvent.objects.create(run=run, state=run.state, message=f"Scores computed again. {message}")
