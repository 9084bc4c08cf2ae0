"""Runs as records of Every Eval Ever, the shared format of evaluation results (schema 0.3.0).

A record has two files: one with all scores, and for runs with stored answers one with a line for each of them. Both
contain everything that the run has, in the fields that the format leaves open, so that nothing is lost.
The package `every_eval_ever` is not used to write them, as it needs an older huggingface_hub than this project; the
tests hold the files against its schema.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

import pyarrow.parquet as pq
from django.utils import timezone

from leaderboard.exports import reproduction
from leaderboard.exports.references import SITE
from leaderboard.figures import benchmarks, item_rows
from leaderboard.figures.item_rows import Row
from leaderboard.models import Model, Run, Score
from leaderboard.probes import pages_of
from probing.benchmark import Relation
from probing.extras import package_version
from probing.template import BLANK_TEXT, prompt

SCHEMA_VERSION = "0.3.0"
LIBRARY = "clozeboard"
NOT_ASKED = "The question could not be put to the model."
# Shares, whose bounds are known; other metrics have none.
SHARES = frozenset(
    {"accuracy", "precision_at_5", "mean_reciprocal_rank", "chance", "ties", "p_at_1", "p_at_5", "specificity"}
)
Json = dict[str, Any]


def aggregate(run: Run, scores: Sequence[Score], root: str) -> Json:
    """Return the record of a finished run with all its scores; `root`: the absolute address of the site."""
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": evaluation_id(run),
        "evaluation_timestamp": _timestamp(run),
        "retrieved_timestamp": _timestamp(run),
        "source_metadata": _source(run, root),
        "eval_library": _library(run, [score for score in scores if score.value is None]),
        "model_info": _model(run),
        "evaluation_results": [_result(run, score) for score in scores if score.value is not None],
        **({"detailed_evaluation_results": samples_reference(run)} if has_samples(run) else {}),
    }


def has_samples(run: Run) -> bool:
    """Tell whether the answers of a run fit the format: they are stored, and each is right or wrong."""
    return bool(run.artefact and run.benchmark.correctness.column)


def evaluation_id(run: Run) -> str:
    return f"{_collection(run)}/{run.model.hub_id}/{_timestamp(run)}"


def file_id(run: Run) -> UUID:
    """Return the identifier that the format puts into file names: the same whenever the run is exported."""
    return UUID(bytes=hashlib.sha256(f"{run.pk} {evaluation_id(run)}".encode()).digest()[:16], version=4)


def samples_reference(run: Run) -> Json:
    """Return where the answers of the run belong in the data store of the format."""
    with item_rows.opened(run) as file:
        rows = pq.ParquetFile(file).metadata.num_rows
    return {
        "format": "jsonl",
        "file_path": f"data/{_collection(run)}/{_folder(run.model)}/{file_id(run)}_samples.jsonl",
        "hash_algorithm": "sha256",
        "total_rows": rows,
    }


def samples(run: Run) -> Iterator[Json]:
    """Yield the answers of a run, each as a single-turn interaction; all its columns are in `metadata`."""
    relations = {relation.id: relation for relation in benchmarks.read(run.benchmark).relations}
    answer_of, right = pages_of(run.benchmark).model_answer, run.benchmark.correctness.column
    of_run = {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": evaluation_id(run),
        "model_id": run.model.hub_id,
        "evaluation_name": run.benchmark.name,
        "evaluation_result_id": f"{run.benchmark.main_metric}/overall/all",
    }
    for number, row in enumerate(item_rows.rows(run, item_rows.find(run, item_rows.ItemFilter()))):
        yield {**of_run, **_sample(number, row, relations.get(row["relation"]), answer_of.text(row), row.get(right))}


def _sample(number: int, row: Row, relation: Relation | None, answer: str, right: object) -> Json:
    question, reference = _question(row, relation), [str(row.get("answer_label") or "")]
    is_right = bool(right)
    content = json.dumps([question, reference], ensure_ascii=False).encode()
    return {
        "sample_id": f"{row['relation']}/{row['template']}/{row['index']}/{number}",
        "sample_hash": hashlib.sha256(content).hexdigest(),
        "interaction_type": "single_turn",
        "input": {"raw": question, "reference": reference},
        "output": {"raw": [answer]},
        "answer_attribution": [
            {
                "turn_idx": 0,
                "source": "output.raw",
                "extracted_value": answer,
                "extraction_method": "custom",
                "is_terminal": True,
            }
        ],
        "evaluation": {"score": float(is_right), "is_correct": is_right},
        **({"error": NOT_ASKED} if right is None else {}),
        "metadata": {name: json.dumps(value, ensure_ascii=False) for name, value in row.items()},
    }


def _question(row: Row, relation: Relation | None) -> str:
    """Return the sentence with its blank; the subject where the benchmark has no such relation any more."""
    if relation is None or row["template"] >= len(relation.templates):
        return str(row.get("subject") or row.get("statement") or "")
    return prompt(relation.templates[row["template"]], row["subject"]).fill(BLANK_TEXT, BLANK_TEXT).text


def _timestamp(run: Run) -> str:
    """Return when the run was finished, in seconds since 1970, or when it was stored where that is not known."""
    return f"{(run.finished or run.created or timezone.now()).timestamp():.0f}"


def _collection(run: Run) -> str:
    return f"clozeboard-{run.benchmark.slug}"


def _folder(model: Model) -> str:
    developer, _, name = model.hub_id.partition("/")
    return f"{developer}/{name.replace('/', '_')}"


def _source(run: Run, root: str) -> Json:
    own = not run.reference
    return {
        "source_name": SITE,
        "source_type": "evaluation_run" if run.artefact else "documentation",
        "source_organization_name": SITE if own else run.reference,
        "source_organization_url": root if own else run.reference_url or root,
        "evaluator_relationship": "third_party",
        "additional_details": {
            "run": str(run.pk),
            "page": f"{root.rstrip('/')}{run.get_absolute_url()}",
            "provenance": run.provenance,
        },
    }


def _library(run: Run, without_value: Sequence[Score]) -> Json:
    """Return the library with everything that the run's record says, and the scores that have no value."""
    empty = [_details(score) for score in without_value]
    return {
        "name": LIBRARY if run.artefact else "unknown",
        "version": package_version() if run.artefact else "unknown",
        "additional_details": {
            "record": json.dumps(run.provenance_record, ensure_ascii=False),
            "settings": json.dumps(run.settings, ensure_ascii=False),
            "settings_digest": run.settings_digest,
            **({"scores_without_value": json.dumps(empty)} if empty else {}),
        },
    }


def _model(run: Run) -> Json:
    model = run.model
    on_hub = model.source == Model.Source.HUB
    names = ("commit", "revision", "kind", "architecture", "parameters", "adapter_commit", "quantisation", "licence")
    facts = {name: str(value) for name in names if (value := getattr(model, name))}
    engine = run.provenance_record.get("packages", {}).get("transformers")
    return {
        "name": model.title,
        "id": model.hub_id,
        "developer": model.hub_id.partition("/")[0],
        **({"inference_engine": {"name": "transformers", "version": engine}} if engine else {}),
        "additional_details": {
            "deployment_type": "self_deployed" if run.artefact else "unknown",
            "model_availability": "open_weights" if on_hub else "unknown",
            **facts,
        },
    }


def _result(run: Run, score: Score) -> Json:
    arguments = {"generation_args": {"execution_command": reproduction.command(run)}}
    return {
        "evaluation_result_id": f"{score.metric}/{score.dimension}/{score.group}",
        "evaluation_name": run.benchmark.name,
        "source_data": _dataset(run),
        "evaluation_timestamp": _timestamp(run),
        "metric_config": _metric(run, score.metric),
        "score_details": {
            "score": score.value,
            "details": _details(score),
            "uncertainty": _uncertainty(score),
        },
        "generation_config": {**arguments, "additional_details": {"settings": json.dumps(run.settings)}},
    }


def _dataset(run: Run) -> Json:
    benchmark = run.benchmark
    facts: Mapping[str, str] = {
        **{"slug": benchmark.slug, "version": benchmark.version, "digest": benchmark.digest},
        **{"probe": benchmark.probe, "licence": benchmark.licence},
    }
    kind = {"source_type": "url", "url": [benchmark.source]} if benchmark.source else {"source_type": "other"}
    return {"dataset_name": benchmark.title, **kind, "additional_details": dict(facts)}


def _metric(run: Run, metric: str) -> Json:
    bounds = (0, 1) if metric in SHARES else ("-Infinity", "Infinity")
    return {
        "metric_id": metric if metric == "accuracy" else f"clozeboard.{metric}",
        "metric_name": pages_of(run.benchmark).metric_label(metric),
        "lower_is_better": "perplexity" in metric or metric in ("ties", "accuracy_sem"),
        "score_type": "continuous",
        "min_score": bounds[0],
        "max_score": bounds[1],
    }


def _details(score: Score) -> dict[str, str]:
    """Return what the format has no field for, as text."""
    names = ("metric", "dimension", "group", "n", "cluster_low", "cluster_high")
    return {name: str(value) for name in names if (value := getattr(score, name)) is not None}


def _uncertainty(score: Score) -> Json:
    interval = {"lower": score.low, "upper": score.high, "confidence_level": 0.95, "method": "over items"}
    has_interval = score.low is not None and score.high is not None
    number = {"num_samples": int(score.n)} if score.n == int(score.n) else {}
    return {**({"confidence_interval": interval} if has_interval else {}), **number}
