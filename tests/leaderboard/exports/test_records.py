"""Records of Every Eval Ever and what the Hugging Face Hub takes, read back by schemas and by the Hub's own library.

The schemas are those of every_eval_ever 0.3.0 (MIT licence), whose package needs Python 3.12 and an older
huggingface_hub than this project.
"""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pyarrow.parquet as pq
import pytest
import yaml
from django.core.files.storage import storages
from django.test import Client
from huggingface_hub import ModelCard, parse_eval_result_entries
from pytest_django.fixtures import Settings

from leaderboard.models import Benchmark, Model, Run
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


def test_published_figures_are_documentation_of_their_source(client: Client) -> None:
    record = record_of(client, make.published(make.benchmark()))
    source = record["source_metadata"]
    assert source["source_type"] == "documentation"
    assert source["source_organization_name"] == "Table 1 of a paper"
    assert source["source_organization_url"] == "https://example.org/paper"


def test_a_run_that_has_not_finished_has_no_record(client: Client) -> None:
    run = make.run(make.model(), make.benchmark())
    assert client.get(f"{run.get_absolute_url()}every-eval-ever.json").status_code == 404


@pytest.fixture
def run() -> Run:
    return make.finished(make.benchmark("bear", version="c0ffee"), 0.25, make.model("org/name", kind="masked"))


def test_the_entry_of_a_run_names_data_set_figure_day_and_page(client: Client, run: Run) -> None:
    response = client.get(f"/runs/{run.pk}/eval-results.yaml")
    (entry,) = parse_eval_result_entries(yaml.safe_load(response.content))
    assert (entry.dataset_id, entry.task_id, entry.value) == ("lm-pub-quiz/BEAR", "bear", 0.25)
    assert entry.date == f"{run.finished:%Y-%m-%d}"
    assert entry.source_url == f"http://testserver/runs/{run.pk}/"
    assert entry.source_name == f"Clozeboard, run {run.pk}"
    assert entry.notes.startswith("95 % interval 0.") and entry.notes.endswith("benchmark version c0ffee")
    assert 'filename="bear.yaml"' in response["Content-Disposition"]


def test_the_metadata_of_a_model_card_has_the_figure(client: Client, run: Run) -> None:
    card = ModelCard(client.get(f"/runs/{run.pk}/model-card.md").content.decode())
    (result,) = card.data.eval_results
    assert card.data.model_name == "name"
    assert (result.task_type, result.dataset_type, result.metric_type) == ("fill-mask", "lm-pub-quiz/BEAR", "accuracy")
    assert (result.metric_value, result.source_url) == (0.25, f"http://testserver/runs/{run.pk}/")


def test_a_shipped_benchmark_is_a_data_set_of_the_organisation_that_the_site_names(
    client: Client, settings: Settings
) -> None:
    run = make.finished(make.benchmark("starter"), 0.25, make.model("org/name"))
    page, address = f"/runs/{run.pk}/", f"/runs/{run.pk}/eval-results.yaml"
    assert client.get(address).status_code == 404
    assert address not in client.get(page).content.decode()
    settings.HUB_ORGANISATION = "example"
    assert yaml.safe_load(client.get(address).content)[0]["dataset"] == {"id": "example/starter", "task_id": "starter"}
    assert address in client.get(page).content.decode()


@pytest.mark.parametrize("file", ["eval-results.yaml", "model-card.md"])
def test_published_figures_and_local_models_belong_on_no_page_of_the_hub(client: Client, file: str) -> None:
    benchmark = make.benchmark("bear")
    local = make.finished(benchmark, 0.5, make.model("org/name", source=Model.Source.LOCAL))
    for run in (make.published(benchmark), make.baseline(benchmark), local):
        assert client.get(f"/runs/{run.pk}/{file}").status_code == 404
        assert file not in client.get(f"/runs/{run.pk}/").content.decode()


def test_the_eval_yaml_of_a_benchmark_has_the_fields_that_the_hub_asks_for(client: Client, small: Benchmark) -> None:
    content = yaml.safe_load(client.get("/benchmarks/small/eval.yaml").content)
    assert set(content) == {"name", "description", "evaluation_framework", "tasks"}
    assert content["tasks"] == [{"id": "small"}]
    assert content["description"]
    make.benchmark("papers-only")
    assert client.get("/benchmarks/papers-only/eval.yaml").status_code == 404
