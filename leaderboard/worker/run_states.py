"""The states of a run while workers measure it: it goes on, fails, or waits until a fault is gone."""

from contextlib import suppress
from datetime import timedelta

from django.utils import timezone

from leaderboard.figures.artefacts import UNAVAILABLE, DatabaseUnavailable, patiently
from leaderboard.intake import queue
from leaderboard.models import Run
from leaderboard.worker.claims import ATTEMPTS, Ended
from probing.errors import ProbingError, SlowDownload

LONGEST_WAIT = timedelta(days=7)  # after which a run that could not go on fails
ORDER: list[str] = [Run.State.QUEUED, Run.State.DOWNLOADING, Run.State.SCORING, Run.State.AGGREGATING]


def reach(run: Run, state: Run.State) -> None:
    """Move the run on to `state` unless another worker has; raise `Ended` where it was ended or made to wait."""
    if run.state in ORDER and ORDER.index(run.state) < ORDER.index(state):
        patiently(_move, run, state)
    patiently(run.refresh_from_db, fields=["state"])
    if run.state not in ORDER:
        raise Ended


def _move(run: Run, state: Run.State) -> None:
    """Change the state unless another worker has; `run` tells the former state even if the change was not committed."""
    former = run.state
    try:
        Run.objects.move(run, state)
    except UNAVAILABLE:
        run.state = former
        raise


def stop(run: Run, error: ProbingError, trace: str = "") -> None:
    """End a run as failed, or let it wait where trying again later may succeed."""

    def end() -> None:
        run.refresh_from_db(fields=["state"])
        if run.state in Run.FINAL:
            return
        if error.permanent or waited_enough(run, error):
            Run.objects.fail(run, error.code, error.message, error.next_step, trace, error.log)
        else:
            Run.objects.move(run, Run.State.WAITING, str(error), code=error.code)

    with suppress(DatabaseUnavailable):  # the next job of this run meets the same error
        patiently(end)


def waited_enough(run: Run, error: ProbingError) -> bool:
    """Tell whether a run whose error is temporary has been tried so often, or so long, that it fails.

    A download that is too slow is tried `ATTEMPTS` times, as the next worker would be held up as well. For a hub, a
    disk or a storage that does not answer, a run waits for `LONGEST_WAIT`.
    """
    ended = run.events.filter(state__in=Run.FINAL).order_by("-pk").values_list("pk", flat=True).first() or 0
    waits = run.events.filter(state=Run.State.WAITING, pk__gt=ended)
    if error.code == SlowDownload.code:
        return waits.count() + 1 >= ATTEMPTS
    return waits.filter(time__lt=timezone.now() - LONGEST_WAIT).exists()


def note_recovery(run: Run) -> None:
    """Note that a fault is gone for which this run had to wait; others need not wait for it any longer either."""
    if not run.code:
        return
    Run.objects.filter(pk=run.pk).update(code="")
    if run.code != SlowDownload.code:  # which is a fault of this model's files only
        queue.end_outage(run.code)
    run.code = ""
