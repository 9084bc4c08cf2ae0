"""Parts for workers elsewhere: hand one out, keep its lease, take its rows, its failure, or take it back.

They hold the same leases as the workers of this site. Only models of the public hub are handed out, because files never
leave the site, and no more than a part at a time.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import IO, Any, cast

from django.core import signing
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from leaderboard import schedule
from leaderboard.figures import artefacts
from leaderboard.intake import queue
from leaderboard.intake.number_format import ITEM_SIZE
from leaderboard.models import Model, Run, RunPart, WorkerToken
from leaderboard.worker.arrivals import RowsRefused, checked
from leaderboard.worker.lease import Ended
from leaderboard.worker.run_states import ATTEMPTS, LostWorker, reach, refuse_lost
from probing.errors import ProbingError
from probing.language_model import DType
from probing.results.joining import PartResult
from probing.settings import Settings

SALT = "leaderboard.worker.elsewhere"
TURNS_AT_ONCE = 100  # runs that are read from the database at once
# Packages that not every worker has, and the runs that need them.
PACKAGES: Mapping[str, Q] = {
    "peft": ~Q(model__adapter_commit=""),
    "bitsandbytes": Q(model__quantisation__startswith="bitsandbytes"),
    "gptqmodel": Q(model__quantisation__startswith="GPTQ") | Q(model__quantisation__startswith="AWQ"),
}
LONGEST = timedelta(days=7)  # how long a lease may be renewed, so that nobody holds a part for ever
STAGES: Sequence[str] = (Run.State.QUEUED, Run.State.DOWNLOADING, Run.State.SCORING)


class LeaseLost(ProbingError):
    """The part belongs to another worker now, or its rows are stored already."""

    code = "lease-lost"


@dataclass(frozen=True)
class Machine:
    """What a worker elsewhere says of itself.

    `memory`: bytes for a model's weights, None if it does not say. `run`: the run whose model it has loaded, if any; it
    then gets further parts of this run only. `packages`: which of the `PACKAGES` it has, None if it does not say.
    """

    name: str
    lanes: tuple[str, ...]
    memory: float | None = None
    run: int | None = None
    packages: frozenset[str] | None = None


def claim(token: WorkerToken, machine: Machine) -> RunPart | None:
    """Lease a part to this worker, of the first run in turn that has a free one; return None if there is none."""
    worker = f"{token.name}/{machine.name}"[:100]
    for unheard in RunPart.objects.filter(worker=worker, done=False, lease_until__gt=timezone.now()):
        RunPart.objects.release(unheard)  # the answer with this part never reached the worker
    for run in runs_for(machine):
        part = RunPart.objects.claim(run, worker)
        if part is None:
            continue
        try:
            refuse_lost(part)
            reach(run, Run.State.DOWNLOADING)
        except LostWorker as error:
            Run.objects.fail(run, error.code, error.message, error.next_step)
        except Ended:
            RunPart.objects.release(part)
        else:
            return part
    return None


def runs_for(machine: Machine) -> Iterator[Run]:
    """Yield the runs that a worker elsewhere may take part in, in turn (`schedule`).

    A worker that has loaded a model gets further parts of that run, unless it should leave it for one without a worker
    that it may take.
    """
    if machine.run is None:
        turns = [turn.run for lane in machine.lanes for turn in schedule.turns(lane) if turn.has_work]
        yield from _takeable(turns, machine)
        return
    for run in _open_runs(machine).filter(pk=machine.run):
        if not (schedule.should_leave(run) and any(_takeable(schedule.waiting(run.lane), machine))):
            yield run


def _takeable(turns: Sequence[int], machine: Machine) -> Iterator[Run]:
    """Yield those of the runs with these keys that the machine may take part in, in the same order."""
    runs = _open_runs(machine)
    for start in range(0, len(turns), TURNS_AT_ONCE):
        chosen = runs.in_bulk(turns[start : start + TURNS_AT_ONCE])
        in_turn = (chosen[pk] for pk in turns[start : start + TURNS_AT_ONCE] if pk in chosen)
        yield from (run for run in in_turn if _fits(run, machine.memory))


def _open_runs(machine: Machine) -> QuerySet[Run]:
    """Select the runs of the machine's lanes that have a free part and a model that the public hub has."""
    runs = Run.objects.filter(
        Exists(RunPart.objects.free().filter(run=OuterRef("pk"))),
        state__in=STAGES,
        lane__in=machine.lanes,
        model__source=Model.Source.HUB,
        model__gated=False,
    )
    if machine.packages is not None:
        for package in PACKAGES.keys() - machine.packages:
            runs = runs.exclude(PACKAGES[package])
    return runs.exclude(model__commit="").exclude(benchmark__path="").select_related("model", "benchmark")


def _fits(run: Run, memory: float | None) -> bool:
    """Tell whether the weights, in the number format of the run, fit into so many bytes, as far as both are known."""
    stored = ITEM_SIZE.get(cast(DType, run.model.stored_dtype))
    if memory is None or not run.model.weight_bytes or not stored:
        return True
    return run.model.weight_bytes * ITEM_SIZE[Settings.from_json(run.settings).dtype] / stored <= memory


def lease_of(part: RunPart, token: WorkerToken) -> str:
    """Return the text by which a worker proves that the part was handed out to it, in this attempt."""
    return signing.dumps([part.pk, part.attempts, part.worker, token.pk], salt=SALT)


def leased(lease: str, token: WorkerToken, max_age: timedelta | None = None) -> RunPart:
    """Return the part of a lease with the worker and the attempt of that lease.

    Raises `LeaseLost` if it is not a lease of this token, or was handed out more than `max_age` ago.
    """
    try:
        pk, attempts, worker, owner = signing.loads(lease, salt=SALT, max_age=max_age)
    except (signing.BadSignature, ValueError):
        raise LeaseLost("This is not a lease of this site.", "Claim a part.") from None
    part = RunPart.objects.select_related("run__model", "run__benchmark").filter(pk=pk).first()
    if part is None or owner != token.pk:
        raise LeaseLost("This lease is of a part that is gone, or of another token.", "Claim a part.")
    part.attempts, part.worker = attempts, worker
    return part


def renew(part: RunPart, share: float) -> bool:
    """Extend the lease and note the progress; return False if the worker should stop, and take its part back then."""
    try:
        reach(part.run, Run.State.SCORING if share > 0 else Run.State.DOWNLOADING)
    except Ended:
        RunPart.objects.release(part)
        return False
    return RunPart.objects.renew(part, int(min(max(share, 0), 1) * part.items))


def accept(part: RunPart, token: WorkerToken, rows: IO[bytes], record: str) -> None:
    """Check and store what a worker measured; the same rows again change nothing.

    Raises `RowsRefused`, which counts as a failed attempt, and `LeaseLost`.
    """
    if part.done:
        _refuse_other_rows(part, checked(part, rows, record))
        return
    if not RunPart.objects.renew(part, part.items_done):
        raise LeaseLost(f"{part} belongs to another worker now, or its run has ended.", "Claim another part.")
    try:
        done = checked(part, rows, record)
    except RowsRefused as refusal:
        fail(part, refusal)
        raise
    digest = artefacts.store_part(part, done.rows)
    with transaction.atomic():
        if not RunPart.objects.finish(part, done.record):
            raise LeaseLost(f"{part} belongs to another worker now.", "Claim another part.")
        RunPart.objects.filter(pk=part.pk).update(digest=digest, token=token)
    _note_facts(part.run, done.record["model"])
    with suppress(Ended):  # the rows are kept for the case that the run is submitted again
        reach(part.run, Run.State.SCORING)
    if not part.run.parts.filter(done=False).exists():
        queue.enqueue(part.run.pk)  # whichever worker takes the job finds all parts done and finishes the run


def _refuse_other_rows(part: RunPart, again: PartResult) -> None:
    if artefacts.digest_of_rows(again.rows) != part.digest:
        raise LeaseLost(f"Other rows of {part} are stored already.", "Claim another part.")


def _note_facts(run: Run, card: Mapping[str, Any]) -> None:
    """Store what is known only of a loaded model where nothing is known yet, and when the run started."""
    Run.objects.filter(pk=run.pk, started=None).update(started=timezone.now())
    models = Model.objects.filter(pk=run.model_id)
    models.filter(kind="").update(kind=card["kind"])
    models.filter(architecture="").update(architecture=str(card.get("architecture", ""))[:100])
    parameters = card.get("parameters")
    if isinstance(parameters, int) and 0 < parameters < 10**15:
        models.filter(parameters=None).update(parameters=parameters)


def fail(part: RunPart, error: ProbingError) -> None:
    """Take a part back after a failure; the last of `ATTEMPTS` attempts ends the run.

    A failure that may pass, such as a full disk of the worker, does not count as an attempt.
    """
    if not error.permanent:
        RunPart.objects.release(part)
        return
    if not RunPart.objects.renew(part, 0):
        return
    RunPart.objects.lose(part)
    if part.attempts >= ATTEMPTS and part.run.state in STAGES:
        message = f"{error.message} ({part}, by {part.worker}.)"
        Run.objects.fail(part.run, error.code, message, error.next_step, log=error.log)
