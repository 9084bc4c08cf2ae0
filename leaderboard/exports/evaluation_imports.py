"""Records of Every Eval Ever, imported as runs of third parties.

A record that this project exported together with its samples becomes a result, whose rows are checked as those of any
third party. Of all other records only the figures are stored, in the version "published" of their benchmark, because
nothing shows that they are about the same questions.
"""

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping
from math import isfinite
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from django.db import transaction

from leaderboard.display.visible import visible
from leaderboard.exports.every_eval_ever import LIBRARY, Json
from leaderboard.lists.runs import ANY_VERSION
from leaderboard.models import Benchmark, Model, Run, Score
from leaderboard.serving.json_bodies import parse_object
from leaderboard.worker.claims import is_hub_id, web_address
from leaderboard.worker.third_party import import_result
from probing.errors import BadInput
from probing.results.result import RECORD
from probing.results.row_file import ITEMS

LARGEST = 20 * 10**6  # bytes of a record
NO_RECORD = "Give the two files as Every Eval Ever has them, schema 0.2 or 0.3."
DIFFERS = "Measured elsewhere, with {library}: whether the questions were the same is not known."
LENGTHS = {"metric": 50, "dimension": 50, "group": 200}  # characters that the table of scores has for them
OVERALL = {"dimension": "overall", "group": "all"}


def import_evaluation(record: Path, samples: Path | None = None, slug: str = "") -> Run:
    """Store a record as a run of provenance "third-party", and return the run.

    `samples`: its file with answers, which only records of this project need. `slug`: the benchmark that the figures of
    another project's record are about. Raises `BadInput` where the files are not such a record.
    """
    content = _read(record)
    try:
        if samples and content["eval_library"]["name"] == LIBRARY:
            return _import_answers(content, samples)
        return _store_figures(content, slug)
    except (LookupError, TypeError, ValueError, AttributeError, pa.ArrowException) as error:
        raise BadInput(f"{record.name} is not a record of Every Eval Ever ({error!r:.200}).", NO_RECORD) from error


def _read(path: Path) -> Json:
    if path.stat().st_size > LARGEST:
        raise BadInput(f"{path.name} is larger than a record can be.", NO_RECORD)
    try:
        return parse_object(path.read_bytes())
    except ValueError as error:
        raise BadInput(f"{path.name} cannot be read: it {error}.", NO_RECORD) from error


def _import_answers(content: Json, samples: Path) -> Run:
    """Write the record and its samples as the result that they came from, and import that."""
    packed = content["detailed_evaluation_results"]["additional_details"]["arrow_schema"]
    schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(packed)))
    source = content["source_metadata"]
    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        pq.write_table(pa.Table.from_pylist(list(_rows(samples)), schema), folder / ITEMS)
        (folder / RECORD).write_text(content["eval_library"]["additional_details"]["record"], encoding="utf-8")
        return import_result(
            folder, source["source_organization_name"], source.get("source_organization_url", ""), _model_id(content)
        )


def _rows(samples: Path) -> Iterator[Json]:
    """Yield the columns of each answer, which stand in the metadata of its sample."""
    with samples.open(encoding="utf-8") as lines:
        for line in lines:
            yield {name: json.loads(text) for name, text in json.loads(line)["metadata"].items()}


def _store_figures(content: Json, slug: str) -> Run:
    """Store the figures of a record; importing it again replaces them."""
    source = content["source_metadata"]
    with transaction.atomic():
        run, _ = Run.objects.update_or_create(
            model=_model(content),
            benchmark=_benchmark(content, slug),
            settings_digest=hashlib.sha256(str(content["evaluation_id"]).encode()).hexdigest(),
            defaults={
                "state": Run.State.FINISHED,
                "provenance": Run.Provenance.THIRD_PARTY,
                "reference": visible(str(source["source_organization_name"]))[:300],
                "reference_url": web_address(str(source.get("source_organization_url", ""))),
                "provenance_record": {
                    "differs": DIFFERS.format(library=visible(content["eval_library"]["name"])[:100]),
                    "every_eval_ever": content,
                },
            },
        )
        run.scores.all().delete()
        Score.objects.bulk_create(Score(run=run, **score) for score in _scores(content))
    return run


def _benchmark(content: Json, slug: str) -> Benchmark:
    """Return the version "published" of the benchmark that the record names, or of the one that the caller names."""
    details = content["evaluation_results"][0]["source_data"].get("additional_details", {})
    slug = slug or str(details.get("slug", ""))
    versions = Benchmark.objects.filter(slug=slug).order_by("-current", "-main", "pk")
    version = versions.filter(probe=details.get("probe", "")).first() or versions.first()
    if version is None:
        slugs = ", ".join(Benchmark.objects.order_by("slug").values_list("slug", flat=True).distinct()) or "none"
        raise BadInput(f"The record names no benchmark of this site ({slugs}).", "Name it: --benchmark SLUG.")
    defaults = {"title": version.title, "source": version.source, "current": False, "main": version.main}
    return Benchmark.objects.get_or_create(slug=slug, version=ANY_VERSION, probe=version.probe, defaults=defaults)[0]


def _model_id(content: Json) -> str:
    name = str(content["model_info"]["id"])
    if not is_hub_id(name):
        raise BadInput(f"The record names its model {name[:200]!r}.", "Records name it as the hub does: org/name.")
    return name


def _model(content: Json) -> Model:
    """Return the model of the record: that of the same commit, or else of the same name without a commit."""
    name, details = _model_id(content), content["model_info"].get("additional_details", {})
    commit = visible(str(details.get("commit", "")))[:64]
    same = Model.objects.filter(hub_id=name, commit=commit).first()
    return same or Model.objects.create(hub_id=name, commit=commit, source=Model.Source.PUBLISHED)


def _scores(content: Json) -> Iterator[Json]:
    """Yield the fields of each score; a result of another project is a group named as its evaluation is."""
    names = set()
    for number, result in enumerate(content["evaluation_results"]):
        metric, details = result["metric_config"], result["score_details"].get("details", {})
        own = {name: details[name] for name in ("metric", "dimension", "group") if name in details}
        evaluation = {"dimension": "evaluation", "group": result["evaluation_name"]}
        stated = {
            "metric": metric.get("metric_id") or metric.get("metric_name") or "score",
            **(OVERALL if number == 0 else evaluation),
            **own,
        }
        fields = {name: visible(str(text))[: LENGTHS[name]] for name, text in stated.items()}
        if tuple(fields.values()) not in names:
            names.add(tuple(fields.values()))
            yield {**fields, **_figures(result["score_details"], details)}


def _figures(score: Mapping[str, Any], details: Mapping[str, str]) -> Json:
    uncertainty = score.get("uncertainty") or {}
    interval = uncertainty.get("confidence_interval") or {}
    bounds = {"low": interval.get("lower"), "high": interval.get("upper")}
    bounds |= {name: details[name] for name in ("cluster_low", "cluster_high") if name in details}
    return {
        "value": _number(score["score"]),
        "n": _number(details.get("n") or uncertainty.get("num_samples") or 0),
        **{name: None if bound is None else _number(bound) for name, bound in bounds.items()},
    }


def _number(value: Any) -> float:
    """Return a number, which may be written as a text; raise `ValueError` if it is infinite or none."""
    number = float(value)
    if not isfinite(number):
        raise ValueError(f"{number} is no figure")
    return number
