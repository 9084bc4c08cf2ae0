"""What `speed.memory` has done in processes of a site, whose models can be imported only there."""

import gc
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.db.models import QuerySet

from leaderboard.figures import artefacts, benchmarks
from leaderboard.models import Benchmark, Model, Run, RunPart
from leaderboard.worker.jobs import finish_run
from leaderboard.worker.third_party import import_result
from probing.baselines import UniformModel
from probing.part_runner import probe_part
from probing.plan import plan, plan_of
from speed.made_up import BEAR_TEMPLATES, write_bear
from speed.peers.protocol import high_water_mark

MODEL = "org/uniform"
# The settings of a run of one question, and of the run that is measured.
SMALL: dict[str, Any] = {"templates": (0,), "relations": ("P0",), "limit": 1}
WHOLE: dict[str, Any] = {"templates": tuple(range(len(BEAR_TEMPLATES)))}


def prepare(data: Path, items: int) -> None:
    """Store a benchmark and the parts of two runs, as the workers do that have measured them."""
    call_command("migrate", verbosity=0)
    write_bear(data / "large", items)
    benchmark, _ = benchmarks.install("bear", data / "large", "large")
    model = Model.objects.create(hub_id=MODEL, commit="0" * 40, kind=UniformModel.card.kind)
    for chosen in (SMALL, WHOLE):
        store_parts(benchmark, model, chosen)


def store_parts(benchmark: Benchmark, model: Model, chosen: dict[str, Any]) -> None:
    content = benchmarks.read(benchmark)
    settings = plan(content, chosen).settings
    facts = {"settings": settings.to_json(), "settings_digest": settings.digest, "state": Run.State.AGGREGATING}
    run = Run.objects.create(model=model, benchmark=benchmark, **facts)
    for part in plan_of(content, settings).parts:
        measured = probe_part(UniformModel(), plan_of(content, settings), part)
        row = RunPart.objects.create(run=run, done=True, record=measured.record, **part._asdict())
        artefacts.store_part(row, measured.rows)


def finish_runs(data: Path) -> int:
    """Finish the small run and then the whole one; return the bytes that the whole one takes."""
    small, whole = runs_of_model()
    return peak_of_second(partial(finish, small), partial(finish, whole))


def finish(run: Run) -> None:
    """Do the job of a worker that finishes a run; raise `RuntimeError` if it did not."""
    finish_run(run.pk)
    run.refresh_from_db()
    if run.state != Run.State.FINISHED:
        raise RuntimeError(f"Run {run.pk} is {run.state}. {run.message}")


def import_runs(data: Path) -> int:
    """Import the files of the small run and then those of the whole one; return the bytes that the whole one takes."""
    folders = [Path(artefacts.storage().path(run.artefact)) for run in runs_of_model()]
    return peak_of_second(*(partial(import_result, folder, "elsewhere", hub_id=MODEL) for folder in folders))


def runs_of_model() -> QuerySet[Run]:
    """Select the two runs; the site has one of a model without knowledge as well."""
    return Run.objects.filter(model__hub_id=MODEL).select_related("model", "benchmark").order_by("pk")


def peak_of_second(first: Callable[[], Any], second: Callable[[], Any]) -> int:
    first()
    gc.collect()
    with high_water_mark() as peak:
        second()
    return peak.bytes
