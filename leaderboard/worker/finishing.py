"""The end of a run: its parts are joined, and scores, figures of items and state are written in one transaction."""

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd
from django.db import transaction
from django.utils import timezone

from leaderboard.figures import artefacts
from leaderboard.figures.artefacts import patiently
from leaderboard.figures.benchmarks import replace_scores
from leaderboard.figures.ranks import store_figures
from leaderboard.models import Run, RunPart
from probing.plan import Part
from probing.results.completeness import count_left_out, skipped_in_words
from probing.results.result import Result


class PartsOfRun:
    """The stored parts of a run, as `joined_in_folder` reads them."""

    def __init__(self, parts: Iterable[RunPart]) -> None:
        self._parts = {part.covered: part for part in parts}

    def rows(self, part: Part) -> pd.DataFrame:
        return artefacts.read_part(self._parts[part])

    def records(self, covered: Sequence[Part]) -> list[dict[str, Any]]:
        return [self._parts[part].record for part in covered]


def store_and_finish(run: Run, result: Result) -> bool:
    """Store the files of a result and finish its run; return False if another worker has finished the run."""
    folder = artefacts.store_result(run, result)
    if patiently(finish, run, result, folder):
        artefacts.remove_leftovers(run)
        return True
    artefacts.remove_folder(folder)
    return False


def finish(run: Run, result: Result, folder: str) -> bool:
    """Write scores, figures of items and state in one transaction; return False if another worker has finished the run.

    `folder`: where the result is stored. By it the caller knows its own transaction if the confirmation was lost.
    """
    run.items_left_out = count_left_out(result.record)
    facts = {
        "provenance_record": result.record,
        "items_left_out": run.items_left_out,
        "group": run.group_now(),
        "artefact": folder,
        "finished": timezone.now(),
    }
    rows = result.items_without_options
    note = " ".join([f"{len(rows)} rows.", *skipped_in_words(result.record)])
    run.refresh_from_db(fields=["state", "artefact"])
    if run.state in Run.FINAL:
        return run.artefact == folder
    with transaction.atomic():
        if not Run.objects.move(run, Run.State.FINISHED, note, **facts):
            return False
        replace_scores(run, result.scores)
        store_figures(run, rows)
    return True
