"""What the Hugging Face Hub takes, read back by the Hub's own library."""

import pytest
import yaml
from django.test import Client
from huggingface_hub import ModelCard, parse_eval_result_entries
from pytest_django.fixtures import Settings

from leaderboard.models import Benchmark, Model, Run
from tests.leaderboard import factories as make

pytestmark = pytest.mark.django_db


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
