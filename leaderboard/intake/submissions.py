"""Submission of models: the form, the command and the API all call `submit`."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db import transaction

from leaderboard import schedule
from leaderboard.intake import hub, queue
from leaderboard.intake.checks import Check, Examination, examine
from leaderboard.models import Benchmark, Model, Run, RunEvent, RunPart
from leaderboard.stored import benchmarks
from probing.estimate.work import estimate_work
from probing.probes.normalise import normalised
from probing.probes.parts import Part, parts
from probing.settings import Settings


@dataclass(frozen=True)
class Submission:
    """The outcome of a submission.

    `run`: the run that measures the model, or None if a check failed. `duplicate_of`: the same run if it existed
    before.
    """

    run: Run | None
    checks: tuple[Check, ...]
    duplicate_of: Run | None = None


def submit(
    model_id: str, benchmark: Benchmark, options: Mapping[str, Any] | None = None, *, submitter: str = ""
) -> Submission:
    """Check the model and, unless a check fails, make sure that exactly one run measures it.

    `options` are those of the benchmark's probe; where they say nothing, the benchmark's usual ones apply.
    """
    content = benchmarks.read(benchmark)
    settings = normalised(benchmark.settings_with(options or {}), content)
    examination = examine(Examination(model_id.strip(), benchmark, settings, submitter))
    if examination.failed:
        return Submission(None, examination.checks)
    kind = examination.kind or "causal"  # while the hub does not answer
    work = {part: estimate_work(content, settings, part, kind).positions for part in parts(content, settings)}
    with transaction.atomic():
        run, new = _create(examination, work)
        again = not new and run.state in (Run.State.FAILED, Run.State.CANCELLED) and Run.objects.restart(run)
        transaction.on_commit(partial(queue.enqueue, run.pk))
    checks = examination.checks if queue.reachable() else (*examination.checks, QUEUE_DOWN)
    return Submission(run, checks, None if new or again else run)


QUEUE_DOWN = Check(
    "queue",
    "warning",
    "The queue server does not answer; the run is kept and starts when it is back.",
    "Nothing to do.",
)


def recheck(run: Run) -> bool:
    """Check a model again whose run had to wait; return True if the run can go on."""
    if not Run.objects.move(run, Run.State.CHECKING, "Checking again."):
        return False
    settings = Settings.from_json(run.settings)
    examination = examine(Examination(run.model.hub_id, run.benchmark, settings))
    if examination.waiting:
        Run.objects.move(run, Run.State.WAITING, _reason(examination))
        return False
    if problem := examination.failed:
        Run.objects.fail(run, problem.code, problem.message, problem.next_step)
        return False
    return _go_on(run, examination)


def _create(examination: Examination, work: Mapping[Part, float]) -> tuple[Run, bool]:
    """Return the run of these settings, and True if it is new; two callers at the same time get the same run.

    `work`: the parts of the run, each with its expected number of token positions.
    """
    run, new = Run.objects.get_or_create(
        model=_model(examination),
        benchmark=examination.benchmark,
        settings_digest=examination.settings.digest,
        defaults={
            "settings": examination.settings.to_json(),
            "state": Run.State.WAITING if examination.waiting else Run.State.QUEUED,
            "submitter": examination.submitter,
            "lane": _lane(examination),
        },
    )
    if new:
        rows = (RunPart(run=run, work=positions, **part._asdict()) for part, positions in work.items())
        RunPart.objects.bulk_create(rows)
        RunEvent.objects.create(run=run, state=run.state, message=_reason(examination) or "Submitted.")
    return run, new


def _model(examination: Examination) -> Model:
    listing = examination.listing
    if examination.waiting or listing is None:
        return Model.objects.get_or_create(hub_id=examination.hub_id, commit="", source=Model.Source.HUB)[0]
    kind, architecture = examination.kind, examination.architecture
    facts = {"kind": kind, "architecture": architecture, "licence": listing.licence[:100]}
    source = Model.Source.LOCAL if listing.folder else Model.Source.HUB
    return Model.objects.get_or_create(hub_id=listing.hub_id, commit=listing.commit, source=source, defaults=facts)[0]


def _lane(examination: Examination) -> str:
    return schedule.lane_of(hub.weight_bytes(examination.listing) if examination.listing else None)


def _reason(examination: Examination) -> str:
    """Return which check the hub did not answer, if the run has to wait for it."""
    if not examination.waiting:
        return ""
    return next((check.message for check in examination.checks if check.state == "warning"), "")


def _go_on(run: Run, examination: Examination) -> bool:
    """Queue the run again, now with the commit pinned; a run that turns out to repeat another one is cancelled."""
    with transaction.atomic():
        unpinned, run.model = run.model, _model(examination) if not run.model.commit else run.model
        same = Run.objects.filter(
            model=run.model, benchmark=run.benchmark, settings_digest=run.settings_digest
        ).exclude(pk=run.pk)
        if twin := same.first():
            return not Run.objects.move(run, Run.State.CANCELLED, f"The same as run {twin.pk}.")
        moved = Run.objects.move(run, Run.State.QUEUED, "Checked.", model=run.model, lane=_lane(examination))
        if unpinned != run.model and not unpinned.runs.exists():
            unpinned.delete()
    return moved
