"""The end of a run: its scores, the figures of its items and its state are written in one transaction."""

from typing import Any, cast

from django.db import transaction
from django.utils import timezone

from leaderboard.models import Change, Run, Score
from leaderboard.stored import changes
from leaderboard.stored.ranks import store_figures
from probing.results.result import Result
from probing.results.skipped_items import count_left_out, skipped_in_words


def finish(run: Run, result: Result, folder: str) -> bool:
    """Write scores, figures of items and state in one transaction; return False if another worker has finished the run.

    `folder`: where the result is stored. By it the caller knows its own transaction if the confirmation was lost.
    """
    table = result.scores.astype(object).where(result.scores.notna(), None)
    scores = cast(list[dict[str, Any]], table.to_dict("records"))
    facts = {
        "provenance_record": result.record,
        "items_left_out": count_left_out(result.record),
        "artefact": folder,
        "finished": timezone.now(),
    }
    note = " ".join([f"{len(result.items)} rows.", *skipped_in_words(result.record)])
    run.refresh_from_db(fields=["state", "artefact"])
    if run.state in Run.FINAL:
        return run.artefact == folder
    with transaction.atomic():
        if not Run.objects.move(run, Run.State.FINISHED, note, **facts):
            return False
        run.scores.all().delete()
        Score.objects.bulk_create(Score(run=run, **score) for score in scores)
        store_figures(run, result.items)
        changes.record(Change.Kind.ADDED, run, run.reference)
    return True
