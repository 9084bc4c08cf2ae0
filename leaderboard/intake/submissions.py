"""The one door: the form, the command and the API all call `submit`."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from django.db import transaction

from leaderboard.intake import queue
from leaderboard.intake.checks import Check, Examination, examine
from leaderboard.models import Model, Run, RunEvent, RunPart
from leaderboard.stored import benchmarks
from probing.estimate.work import estimate_work
from probing.probes import normalised
from probing.settings import Part, Settings, parts


@dataclass(frozen=True)
class Submission:
    """What came of it. `run` answers the question asked, unless a check failed; `duplicate_of` is that run where
    it was there before."""

    run: Run | None
    checks: tuple[Check, ...]
    duplicate_of: Run | None = None


def submit(model_id: str, benchmark_slug: str, *, settings: Settings | None = None, submitter: str = "") -> Submission:
    """Check the model and, unless it fails, see to it that exactly one run measures it."""
    benchmark = benchmarks.current(benchmark_slug)
    content = benchmarks.read(benchmark)
    settings = normalised(settings or benchmark.settings_with({}), content)
    asked = examine(Examination(model_id.strip(), benchmark, settings, submitter))
    if asked.failed:
        return Submission(None, asked.checks)
    kind = asked.kind or "causal"  # while the hub is silent
    wanted = {part: estimate_work(content, settings, part, kind).positions for part in parts(content, settings)}
    with transaction.atomic():
        run, new = _create(asked, wanted)
        again = not new and run.state in (Run.State.FAILED, Run.State.CANCELLED) and Run.objects.restart(run)
        transaction.on_commit(partial(queue.enqueue, run.pk))
    checks = asked.checks if queue.reachable() else (*asked.checks, QUEUE_DOWN)
    return Submission(run, checks, None if new or again else run)


QUEUE_DOWN = Check(
    "queue",
    "warning",
    "The queue server does not answer; the run is kept and starts when it is back.",
    "Nothing to do.",
)


def recheck(run: Run) -> bool:
    """Look again at a model that could not be checked, or whose run had to wait; True if the run can go on."""
    if not Run.objects.move(run, Run.State.CHECKING, "Checking again."):
        return False
    settings = Settings.from_json(run.settings)
    asked = examine(Examination(run.model.hub_id, run.benchmark, settings))
    if asked.waiting:
        Run.objects.move(run, Run.State.WAITING, _reason(asked))
        return False
    if problem := asked.failed:
        Run.objects.fail(run, problem.code, problem.message, problem.next_step)
        return False
    return _go_on(run, asked)


def _create(asked: Examination, wanted: Mapping[Part, float]) -> tuple[Run, bool]:
    """The run of this question, made with its parts if it is new; two callers at once get the same.

    `wanted`: the parts and the work that each is expected to be.
    """
    run, new = Run.objects.get_or_create(
        model=_model(asked),
        benchmark=asked.benchmark,
        settings_digest=asked.settings.digest,
        defaults={
            "settings": asked.settings.to_json(),
            "state": Run.State.WAITING if asked.waiting else Run.State.QUEUED,
            "submitter": asked.submitter,
        },
    )
    if new:
        RunPart.objects.bulk_create(RunPart(run=run, work=work, **part._asdict()) for part, work in wanted.items())
        RunEvent.objects.create(run=run, state=run.state, message=_reason(asked) or "Submitted.")
    return run, new


def _model(asked: Examination) -> Model:
    listing = asked.listing
    if asked.waiting or listing is None:
        return Model.objects.get_or_create(hub_id=asked.hub_id, commit="", source=Model.Source.HUB)[0]
    facts = {"kind": asked.kind, "architecture": asked.architecture, "licence": listing.licence[:100]}
    source = Model.Source.LOCAL if listing.folder else Model.Source.HUB
    return Model.objects.get_or_create(hub_id=listing.hub_id, commit=listing.commit, source=source, defaults=facts)[0]


def _reason(asked: Examination) -> str:
    """What the hub's silence left open, if it did."""
    return next((check.message for check in asked.checks if asked.waiting and check.state == "warning"), "")


def _go_on(run: Run, asked: Examination) -> bool:
    """Back to the queue, now with the commit pinned; a run that turns out to be a repetition ends."""
    with transaction.atomic():
        unpinned, run.model = run.model, _model(asked) if not run.model.commit else run.model
        same = Run.objects.filter(
            model=run.model, benchmark=run.benchmark, settings_digest=run.settings_digest
        ).exclude(pk=run.pk)
        if twin := same.first():
            return not Run.objects.move(run, Run.State.CANCELLED, f"The same as run {twin.pk}.")
        moved = Run.objects.move(run, Run.State.QUEUED, "Checked.", model=run.model)
        if unpinned != run.model and not unpinned.runs.exists():
            unpinned.delete()
    return moved
