"""Records of Every Eval Ever, read back by its schemas.

The schemas are those of every_eval_ever 0.3.0 (MIT licence), whose package needs Python 3.12 and an older
huggingface_hub than this project.
"""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pyarrow.parquet as pq
import pytest
from django.core.files.storage import storages
from django.test import Client

from leaderboard.models import Benchmark, Run
from tests.leaderboard import factories as make

pytestmark = pytest.mark.django_db
SCHEMAS = Path(__file__).parent / "every_eval_ever"
AGGREGATE, SAMPLE = (
    jsonschema.Draft7Validator(json.loads((SCHEMAS / name).read_text(encoding="utf-8")))
    for name in ("eval.schema.json", "instance_level_eval.schema.json")
)


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


def expect_record_with_all_scores_and_answers(client: Client, run: Run) -> None:
    record = record_of(client, run)
    results = {
        tuple(result["score_details"]["details"][name] for name in ("metric", "dimension", "group")): result
        for result in record["evaluation_results"]
    }
    scores = {(s.metric, s.dimension, s.group): s.value for s in run.scores.exclude(value=None)}
    assert {name: result["score_details"]["score"] for name, result in results.items()} == scores
    if not run.benchmark.correctness.column:
        assert "detailed_evaluation_results" not in record
        assert client.get(f"{run.get_absolute_url()}every-eval-ever-samples.jsonl").status_code == 404
        return
    samples = samples_of(client, run)
    assert record["detailed_evaluation_results"]["total_rows"] == len(samples)
    assert {sample["evaluation_id"] for sample in samples} == {record["evaluation_id"]}
    with storages["artefacts"].open(f"{run.artefact}/items.parquet") as file:
        rows = pq.read_table(file).to_pylist()
    answers = [{name: json.loads(text) for name, text in sample["metadata"].items()} for sample in samples]
    assert json.dumps(answers) == json.dumps(rows)  # as text, in which missing numbers equal each other


def test_a_sample_has_the_question_with_its_blank_the_right_answer_and_the_models(
    client: Client, small: Benchmark
) -> None:
    run = make.measured(small, make.model(), skill=1, templates=(0,))
    expect_record_with_all_scores_and_answers(client, run)
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


def test_results_from_elsewhere_name_their_source(client: Client) -> None:
    origin = {"reference": "A laboratory", "reference_url": "https://example.org/results"}
    source = record_of(client, make.finished(make.benchmark(), **origin))["source_metadata"]
    assert source["source_type"] == "documentation"
    assert source["source_organization_name"] == "A laboratory"
    assert source["source_organization_url"] == "https://example.org/results"


def test_a_run_that_has_not_finished_has_no_record(client: Client) -> None:
    run = make.run(make.model(), make.benchmark())
    assert client.get(f"{run.get_absolute_url()}every-eval-ever.json").status_code == 404
