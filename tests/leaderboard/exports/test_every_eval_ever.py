"""Records of Every Eval Ever: valid by its schema, and the same again after an import.

The schemas are those of every_eval_ever 0.3.0 (MIT licence), whose package needs Python 3.12 and an older
huggingface_hub than this project.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pandas as pd
import pytest
from django.core.files.storage import storages
from django.core.management import call_command
from django.test import Client

from leaderboard.exports.evaluation_imports import import_evaluation
from leaderboard.models import Benchmark, Run
from leaderboard.stored import benchmarks
from leaderboard.worker.third_party import import_result
from probing.catalog import open_benchmark
from probing.errors import BadInput
from probing.known_benchmarks import CATALOG, EMBEDDED
from probing.runner import run as measure
from tests.fakes import FAKE_CARD, Pupil
from tests.leaderboard import factories as make

pytestmark = pytest.mark.django_db
SCHEMAS = Path(__file__).parent / "every_eval_ever"
AGGREGATE, SAMPLE = (
    jsonschema.Draft7Validator(json.loads((SCHEMAS / name).read_text(encoding="utf-8")))
    for name in ("eval.schema.json", "instance_level_eval.schema.json")
)
SHIPPED = [slug for slug, entry in CATALOG.items() if not entry.downloads]
FOREIGN: dict[str, Any] = {
    "schema_version": "0.3.0",
    "evaluation_id": "tiny/org/elsewhere/1760492095",
    "retrieved_timestamp": "1760492095",
    "source_metadata": {
        "source_name": "Example board",
        "source_type": "documentation",
        "source_organization_name": "Example University",
        "source_organization_url": "https://example.org/",
        "evaluator_relationship": "third_party",
    },
    "eval_library": {"name": "lm_eval", "version": "0.4.13"},
    "model_info": {
        "name": "Elsewhere",
        "id": "org/elsewhere",
        "additional_details": {"deployment_type": "unknown", "model_availability": "unknown"},
    },
    "evaluation_results": [
        {
            "evaluation_name": name,
            "source_data": {"dataset_name": "Tiny", "source_type": "other"},
            "metric_config": {
                "metric_id": "accuracy",
                "lower_is_better": False,
                "score_type": "continuous",
                "min_score": 0,
                "max_score": 1,
            },
            "score_details": {
                "score": value,
                "uncertainty": {"confidence_interval": {"lower": 0.2, "upper": 0.6}, "num_samples": 40},
            },
        }
        for name, value in (("tiny", 0.4), ("tiny_arts", 0.3))
    ],
}


def record_of(client: Client, run: Run) -> dict[str, Any]:
    content: dict[str, Any] = client.get(f"{run.get_absolute_url()}every-eval-ever.json").json()
    AGGREGATE.validate(content)
    return content


def samples_of(client: Client, run: Run) -> list[dict[str, Any]]:
    response = client.get(f"{run.get_absolute_url()}every-eval-ever-samples.jsonl")
    lines = [json.loads(line) for line in response.getvalue().decode().splitlines()]
    for line in lines:
        SAMPLE.validate(line)
    return lines


def imported(slug: str, folder: Path) -> Run:
    """A run of a shipped benchmark with everything that a real run has."""
    benchmarks.install(CATALOG[slug].format, EMBEDDED / slug, slug)
    probe = CATALOG[slug].probe
    limit = None if probe == "perplexity" else 4  # what is false stands behind what is true
    card = replace(FAKE_CARD, id="org/elsewhere", kind="causal")
    measure(Pupil(card=card), open_benchmark(slug), out=folder, probe=probe, limit=limit)
    return import_result(folder, "Example University", "https://example.org/")


@pytest.mark.parametrize("slug", SHIPPED)
def test_a_run_of_every_probe_is_the_same_after_export_and_import(client: Client, slug: str, tmp_path: Path) -> None:
    run = imported(slug, tmp_path / "result")
    record = record_of(client, run)
    scores = {(s.metric, s.dimension, s.group): (s.value, s.n, s.low, s.high, s.cluster_low) for s in run.scores.all()}
    assert len(record["evaluation_results"]) == sum(value is not None for value, *_ in scores.values())
    if not run.benchmark.correctness.column:
        assert "detailed_evaluation_results" not in record
        assert client.get(f"{run.get_absolute_url()}every-eval-ever-samples.jsonl").status_code == 404
        return
    samples = samples_of(client, run)
    assert record["detailed_evaluation_results"]["total_rows"] == len(samples)
    assert {sample["evaluation_id"] for sample in samples} == {record["evaluation_id"]}
    with storages["artefacts"].open(f"{run.artefact}/items.parquet") as file:
        items = pd.read_parquet(file)
    (tmp_path / "record.json").write_text(json.dumps(record))
    (tmp_path / "samples.jsonl").write_text("\n".join(map(json.dumps, samples)))
    run.delete()
    again = import_evaluation(tmp_path / "record.json", tmp_path / "samples.jsonl")
    with storages["artefacts"].open(f"{again.artefact}/items.parquet") as file:
        pd.testing.assert_frame_equal(pd.read_parquet(file), items)
    assert scores == {
        (s.metric, s.dimension, s.group): (s.value, s.n, s.low, s.high, s.cluster_low) for s in again.scores.all()
    }
    assert again.reference == "Example University"


def test_a_sample_has_the_question_with_its_blank_the_right_answer_and_the_models(
    client: Client, small: Benchmark
) -> None:
    run = make.measured(small, make.model(), skill=1, templates=(0,))
    first = samples_of(client, run)[0]
    assert first["input"]["raw"].count("____") == 1
    metadata = first["metadata"]
    assert first["input"]["reference"] == [json.loads(metadata["answer_label"])]
    assert first["output"]["raw"] == [json.loads(metadata["prediction_label"])]
    assert first["evaluation"]["is_correct"] == json.loads(metadata["correct"])


def test_scores_without_a_value_are_kept_beside_the_results(client: Client) -> None:
    run = make.finished(make.benchmark(), None)
    record = record_of(client, run)
    assert record["evaluation_results"] == []
    kept = json.loads(record["eval_library"]["additional_details"]["scores_without_value"])
    assert [score["group"] for score in kept] == ["all", "Arts", "P30"]


def test_published_figures_are_documentation_of_their_source(client: Client) -> None:
    record = record_of(client, make.published(make.benchmark()))
    source = record["source_metadata"]
    assert source["source_type"] == "documentation"
    assert source["source_organization_name"] == "Table 1 of a paper"
    assert source["source_organization_url"] == "https://example.org/paper"


def test_the_record_of_another_project_becomes_a_run_and_comes_back_as_it_was(client: Client, tmp_path: Path) -> None:
    make.finished(make.benchmark("tiny"), 0.5)
    path = tmp_path / "record.json"
    path.write_text(json.dumps(FOREIGN))
    for _ in range(2):  # the second import replaces the first
        call_command("import_evaluation", str(path), benchmark="tiny", verbosity=0)
    run = Run.objects.get(provenance=Run.Provenance.THIRD_PARTY)
    assert (run.benchmark.version, run.model.hub_id, run.reference) == (
        "published",
        "org/elsewhere",
        "Example University",
    )
    assert list(run.scores.order_by("pk").values_list("dimension", "group", "value", "low", "n")) == [
        ("overall", "all", 0.4, 0.2, 40),
        ("evaluation", "tiny_arts", 0.3, 0.2, 40),
    ]
    assert record_of(client, run) == FOREIGN
    page = client.get(run.get_absolute_url()).content.decode()
    assert "Example University" in page
    overview = client.get("/benchmarks/tiny/?format=csv").content.decode()
    assert "org/elsewhere" not in overview  # it has other questions, as far as anybody can tell


def with_result(**changes: Any) -> str:
    """The record with other facts of its first result."""
    return json.dumps(FOREIGN | {"evaluation_results": [FOREIGN["evaluation_results"][0] | changes]})


def with_source(address: str) -> str:
    source = FOREIGN["source_metadata"] | {"source_organization_url": address}
    return json.dumps(FOREIGN | {"source_metadata": source})


@pytest.mark.parametrize(
    "content",
    [
        "[]",
        "{",
        "{}",
        '{"a": "\\ud800"}',
        json.dumps(FOREIGN | {"evaluation_results": 3}),
        json.dumps(FOREIGN | {"evaluation_results": []}),
        json.dumps(FOREIGN | {"model_info": {"id": "x"}}),
        json.dumps(FOREIGN | {"model_info": {"id": "../x"}}),
        with_source("javascript:alert(1)"),
        with_source(f"https://example.org/{'x' * 200}"),
        with_result(score_details={"score": "nan"}),
        with_result(score_details={"score": float("inf")}),
        with_result(score_details={"score": 0.5, "details": {"cluster_low": "-inf"}}),
        with_result(score_details={"score": 0.5, "uncertainty": {"confidence_interval": {"lower": "low"}}}),
    ],
)
def test_what_is_no_record_is_refused(content: str, tmp_path: Path) -> None:
    make.benchmark("tiny")
    (tmp_path / "record.json").write_text(content)
    with pytest.raises(BadInput):
        import_evaluation(tmp_path / "record.json", slug="tiny")
    assert not Run.objects.exists()


def test_a_record_about_an_unknown_benchmark_names_those_of_the_site(tmp_path: Path) -> None:
    make.benchmark("tiny")
    (tmp_path / "record.json").write_text(json.dumps(FOREIGN))
    with pytest.raises(BadInput, match="tiny"):
        import_evaluation(tmp_path / "record.json", slug="other")


def test_a_run_that_has_not_finished_has_no_record(client: Client) -> None:
    run = make.run(make.model(), make.benchmark())
    assert client.get(f"{run.get_absolute_url()}every-eval-ever.json").status_code == 404
