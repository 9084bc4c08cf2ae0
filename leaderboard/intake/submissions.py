"""The core of every submission: check a model, and make sure that exactly one run measures it.

`submit` does all of it at once. The check job calls the same steps one by one, so that the database is locked only for
the last of them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db import transaction

from leaderboard import schedule
from leaderboard.display.visible import visible
from leaderboard.intake import hub, queue
from leaderboard.intake.checks import examine
from leaderboard.intake.checks.examination import Check, Examination
from leaderboard.intake.checks.weights import adapter_bytes
from leaderboard.models import Benchmark, Model, Run, RunEvent, RunPart
from leaderboard.stored import benchmarks
from probing.kinds import Kind
from probing.plan import Part, Plan
from probing.settings import LM_EVAL
from probing.time_left import estimate_work

QUEUE_DOWN = Check(
    "queue",
    "warning",
    "The queue server does not answer; the run is kept and starts when it is back.",
    "Nothing to do.",
)


@dataclass(frozen=True)
class Outcome:
    """What a submission led to.

    `run`: the run that measures the model; None if a check failed or the hub did not answer. `duplicate_of`: the same
    run if it existed before.
    """

    run: Run | None
    checks: tuple[Check, ...]
    duplicate_of: Run | None = None


def submit(
    model_id: str, benchmark: Benchmark, options: Mapping[str, Any] | None = None, *, submitter: str = ""
) -> Outcome:
    """Check the model and, unless a check fails, make sure that exactly one run measures it.

    `options`: settings of the run and options of the benchmark's probe; the others are the benchmark's usual ones, and
    the number format follows from the model's size.
    """
    examination = examined(model_id, benchmark, options or {}, submitter=submitter)
    if examination.failed or examination.waiting:
        return Outcome(None, examination.checks)
    return accept(examination, lane_of(examination), expected_work(examination), queue_warning())


def examined(
    model_id: str,
    benchmark: Benchmark,
    options: Mapping[str, Any],
    *,
    revision: str = "",
    submitter: str = "",
    on_check: Callable[[Check], None] | None = None,
) -> Examination:
    """Run every check of a model, at its newest commit unless a revision is named.

    `on_check` is called after each check. Raises `BadInput` if an option is not valid.
    """
    plan = benchmarks.usual_plan(benchmark, options)
    dtype_chosen = "dtype" in options or plan.settings.protocol == LM_EVAL
    examination = Examination(model_id.strip(), benchmark, plan, submitter, revision, dtype_chosen=dtype_chosen)
    return examine(examination, on_check)


def lane_of(examination: Examination) -> str:
    """Return the lane of a model that passed its checks; for its size, the hub may be asked once more."""
    listing = examination.listing
    return schedule.lane_of(hub.weight_bytes(listing) + adapter_bytes(examination) if listing else None)


def expected_work(examination: Examination) -> dict[Part, float]:
    """Return the parts of the run, each with its expected number of token positions.

    The numbers are the same for every model of one kind, so they are taken from an earlier run where there is one.
    """
    earlier = Run.objects.filter(
        benchmark=examination.benchmark,
        settings_digest=examination.settings.digest,
        model__kind=examination.kind,
        parts__isnull=False,
    ).first()
    if earlier:
        return {part.covered: part.work for part in earlier.parts.order_by("pk")}
    return _estimated(examination.plan, examination.kind or "causal")


def _estimated(plan: Plan, kind: Kind) -> dict[Part, float]:
    return {part: estimate_work(plan, part, kind).work for part in plan.parts}


def usual_positions(benchmark: Benchmark, options: Mapping[str, Any]) -> float:
    """Return the expected number of token positions of a run of a causal model."""
    chosen, usual = (benchmarks.usual_plan(benchmark, values) for values in (options, {}))
    if benchmark.work is not None and chosen.settings.digest == usual.settings.digest:
        return benchmark.work
    return sum(_estimated(chosen, "causal").values())


def queue_warning() -> tuple[Check, ...]:
    """Return a check that says so if the queue server does not answer."""
    return () if queue.reachable() else (QUEUE_DOWN,)


@transaction.atomic
def accept(examination: Examination, lane: str, work: Mapping[Part, float], further: tuple[Check, ...] = ()) -> Outcome:
    """Make sure that one run measures a model that passed its checks; a failed or cancelled one is queued again.

    `work`: the parts of the run with their expected work. `further`: checks to add to those of the model.
    """
    run, new = _create(examination, lane, work)
    again = not new and run.state in (Run.State.FAILED, Run.State.CANCELLED) and Run.objects.restart(run)
    transaction.on_commit(partial(queue.enqueue, run.pk))
    return Outcome(run, (*examination.checks, *further), None if new or again else run)


def _create(examination: Examination, lane: str, work: Mapping[Part, float]) -> tuple[Run, bool]:
    """Return the run of these settings, and True if it is new; two callers at the same time get the same run."""
    run, new = Run.objects.get_or_create(
        model=_model(examination),
        benchmark=examination.benchmark,
        settings_digest=examination.settings.digest,
        defaults={
            "settings": examination.settings.to_json(),
            "state": Run.State.QUEUED,
            "submitter": examination.submitter,
            "lane": lane,
            "waiting_work": sum(work.values()),
        },
    )
    if new:
        rows = (RunPart(run=run, work=positions, **part._asdict()) for part, positions in work.items())
        RunPart.objects.bulk_create(rows)
        RunEvent.objects.create(run=run, state=run.state, message="Submitted.")
    return run, new


def _quantisation(examination: Examination) -> str:
    """Return how the weights are quantised, as a GGUF file or a config says; empty where they are not."""
    if examination.quantisation:
        return examination.quantisation.title
    is_file = examination.listing is not None and examination.listing.gguf is not None
    return str((examination.config or {}).get("quantisation", "")) if is_file else ""


def _model(examination: Examination) -> Model:
    """Return the row of the model. What its card and config say is text of a stranger, so it is made visible."""
    listing, weights = examination.listing, examination.weights
    assert listing is not None and weights is not None, "a model that passed its checks has a listing and weights"
    facts = {
        "weight_bytes": weights.bytes + adapter_bytes(examination),
        "parameters": weights.parameters,
        "stored_dtype": weights.dtype,
        "weights_file": visible(listing.gguf.name)[:200] if listing.gguf else "",
        "quantisation": _quantisation(examination)[:20],
        "kind": examination.kind,
        "architecture": visible(examination.architecture)[:100],
        "licence": visible(listing.licence)[:100],
    }
    identity = {"commit": listing.commit, "adapter_commit": examination.adapter_commit, "source": examination.source}
    model, _ = Model.objects.get_or_create(hub_id=examination.name, **identity, defaults=facts)
    if model.name_revision(examination.revision):
        model.save(update_fields=["revision", "step", "tokens"])
    return model
