"""Results that a third party measured with this library: checked as a worker's rows are, and stored as such."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from django.db import transaction

from leaderboard.display.visible import visible
from leaderboard.models import Benchmark, Model, Run, RunPart
from leaderboard.stored import artefacts, benchmarks
from leaderboard.worker import arrivals
from leaderboard.worker.jobs import finish
from probing.errors import BadInput
from probing.probes.normalise import normalised
from probing.probes.parts import parts
from probing.results.joining import PartResult, joined
from probing.results.result import ITEMS, RECORD, Result
from probing.settings import Settings

HUB_ID = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)


def import_result(folder: Path, source: str, url: str = "", hub_id: str = "") -> Run:
    """Store the result in a folder as a run of provenance "third-party", and return the run.

    All that follows from the benchmark is computed here and must be equal, and scores are computed from the rows; the
    folder's scores are not read. `source`: who measured it. `hub_id`: the model's name as org/name, where the result
    names a folder. Raises `BadInput` where the benchmark's version is not here, the result is here already, or
    something is not as a run has it.
    """
    record = _read_record(folder)
    benchmark = _benchmark(record["benchmark"])
    content = benchmarks.read(benchmark)
    settings = normalised(_settings(record["settings"], benchmark), content)
    model = _claimed_model(record["model"], hub_id)
    question = hashlib.sha256(json.dumps(["third-party", source, settings.digest]).encode()).hexdigest()
    _refuse_stored(model, benchmark, question)
    claimed = Run(model=model, benchmark=benchmark, settings=_as_stored(settings))
    claimed.settings_digest = str(record.get("settings_digest", ""))
    rows = [RunPart(run=claimed, **part._asdict()) for part in parts(content, settings)]
    result = joined([_checked(rows, folder, _with_model(record, model))], content, settings)
    return _store(claimed, result, question, source, url)


def _checked(rows: Sequence[RunPart], folder: Path, record: Mapping[str, Any]) -> PartResult:
    try:
        with (folder / ITEMS).open("rb") as items:
            return arrivals.checked_whole(rows, items, json.dumps(record))
    except arrivals.RowsRefused as error:
        raise BadInput(
            f"The result in {folder} is not what a measurement gives. {error.message}",
            "Measure it with the version of the library that this site has, and give the folder unchanged.",
        ) from error


def _read_record(folder: Path) -> dict[str, Any]:
    path = folder / RECORD
    if not path.is_file() or not (folder / ITEMS).is_file():
        raise BadInput(f"{folder} is not a result.", f"Give a folder with {ITEMS} and {RECORD}.")
    if path.stat().st_size > arrivals.RECORD_LIMIT:
        raise BadInput(f"{path} is too large for a record.", "Give the folder as the library wrote it.")
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        if all(isinstance(record[name], dict) for name in ("model", "benchmark", "settings")):
            return dict(record)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadInput(f"{path} cannot be read ({error}).", "Give the folder as the library wrote it.") from error
    raise BadInput(f"{path} is not the record of a run.", "Give the folder as the library wrote it.")


def _benchmark(facts: Mapping[str, Any]) -> Benchmark:
    """Return the version that the result is about; its files must be here, as rows are checked against them."""
    here = Benchmark.objects.exclude(path="")
    slug, version = facts.get("slug"), facts.get("version")
    benchmark = here.filter(digest=facts.get("digest", "")).order_by("-current", "pk").first()
    if benchmark is None:
        versions = ", ".join(here.filter(slug=slug).order_by("pk").values_list("version", flat=True)) or "none"
        raise BadInput(
            f"The result is on {slug} {version}, which is not here (versions of {slug} here: {versions}).",
            "Import that version of the benchmark first, or measure the model on the version that is here.",
        )
    return benchmark


def _settings(values: Mapping[str, Any], benchmark: Benchmark) -> Settings:
    try:
        settings = Settings.from_json(dict(values))
    except (TypeError, ValueError, KeyError) as error:
        raise BadInput(f"The result's settings cannot be read ({error}).", "Measure it with this version.") from error
    if settings.probe != benchmark.probe:
        raise BadInput(
            f"The result was measured with the probe {settings.probe}, and {benchmark.slug} is imported here for "
            f"{benchmark.probe}.",
            f"Import the benchmark for it under another name: --probe {settings.probe}.",
        )
    return settings


def _as_stored(settings: Settings) -> dict[str, Any]:
    """Return settings as a run has them once it was stored and read again."""
    return dict(json.loads(json.dumps(settings.to_json())))


def _claimed_model(card: Mapping[str, Any], hub_id: str) -> Model:
    """Return the model that the result names: the row of that commit if there is one, else one that is not saved."""
    name, commit = hub_id or str(card.get("id", "")), str(card.get("commit", ""))
    if not HUB_ID.fullmatch(name):
        raise BadInput(f"The result names its model {name[:200]!r}.", "Name it as the hub does: --model org/name.")
    rows = Model.objects.filter(hub_id=name, commit=commit)
    if model := rows.filter(source=Model.Source.HUB).first() or rows.first():
        return model
    facts = {field: card.get(field) or None for field in ("kind", "architecture", "parameters")}
    stated = {field: value for field, value in facts.items() if value is not None}
    files = [file for file in card.get("files") or () if card.get("source") == "gguf"]
    weights_file = visible(str(files[0]))[:200] if files else ""
    return Model(hub_id=name, commit=commit[:64], source=Model.Source.PUBLISHED, weights_file=weights_file, **stated)


def _with_model(record: Mapping[str, Any], model: Model) -> dict[str, Any]:
    """Return the record with the model's name on this site."""
    return {**record, "model": {**record["model"], "id": model.hub_id}}


def _refuse_stored(model: Model, benchmark: Benchmark, question: str) -> None:
    stored = (
        Run.objects.filter(model=model, benchmark=benchmark, settings_digest=question).first() if model.pk else None
    )
    if stored:
        raise BadInput(f"This result is here already, as run {stored.pk}.", "Delete that run first to replace it.")


def _store(run: Run, result: Result, question: str, source: str, url: str) -> Run:
    """Store model, run, files and scores, all of them or nothing."""
    folder = ""
    try:
        with transaction.atomic():
            run.model.save()
            run.settings_digest, run.reference, run.reference_url = question, source[:300], url
            run.provenance, run.state = Run.Provenance.THIRD_PARTY, Run.State.AGGREGATING
            run.save()
            folder = artefacts.store_result(run, result)
            finish(run, result, folder)
    except BaseException:
        if folder:
            artefacts.remove_folder(folder)
        raise
    run.refresh_from_db()
    return run
