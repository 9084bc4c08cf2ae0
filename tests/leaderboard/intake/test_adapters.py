"""Models with a LoRA adapter: submitted as `org/base+org/adapter`, checked, pinned, measured, and named everywhere."""

from datetime import date
from pathlib import Path

import pytest
from django.test import Client

from leaderboard.exports.reproduction import command
from leaderboard.figures import benchmarks
from leaderboard.intake import checks, queue
from leaderboard.intake.checks import Check
from leaderboard.models import Benchmark, Model, Run
from probing.runner import run as probe
from tests.hub.local_hub import Hub
from tests.leaderboard.in_process import Outcome, submit, work_off
from tests.probing.scoring.test_adapters import build_adapter

pytestmark = pytest.mark.django_db(transaction=True)
NAME = "org/causal+lab/lora"


@pytest.fixture
def lora(local_hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An adapter at the hub, made for the causal model there."""
    monkeypatch.setattr(queue, "enqueue", lambda run_id: True)
    build_adapter(tmp_path / "lora", "gpt2", base_model_name_or_path="org/causal")
    local_hub.add("lab/lora", tmp_path / "lora")
    return tmp_path / "lora"


def of_adapter(outcome: Outcome) -> Check:
    (check,) = [check for check in outcome.checks if check.name == "adapter"]
    return check


@pytest.mark.slow
def test_it_is_measured_with_the_adapter_and_named_by_both(
    small: Benchmark, lora: Path, tiny_models: dict[str, Path], client: Client
) -> None:
    outcome = submit(NAME, small)
    assert "LoRA of rank 2" in of_adapter(outcome).message and "made for org/causal" in of_adapter(outcome).message
    assert outcome.run is not None
    work_off(outcome.run)
    run = Run.objects.get(pk=outcome.run.pk)
    assert (run.state, run.model.hub_id) == (Run.State.FINISHED, NAME), run.message
    assert len(run.model.commit) == len(run.model.adapter_commit) == 40
    assert run.provenance_record["model"]["adapter"] == f"lab/lora@{run.model.adapter_commit}"
    direct = probe(f"{tiny_models['org/causal']}+{lora}", benchmarks.read(small), progress=False)
    accuracy = direct.scores.query("metric == 'accuracy' and dimension == 'overall'")["value"].item()
    assert run.scores.get(metric="accuracy", dimension="overall").value == pytest.approx(accuracy)
    assert f"{NAME}@{run.model.adapter_commit}" in command(run)
    page = client.get(run.model.get_absolute_url())
    assert page.status_code == 200 and "with a LoRA adapter" in page.content.decode()
    assert "with a LoRA adapter" in client.get(f"/runs/{run.pk}/").content.decode()
    assert NAME in client.get("/?kind=adapter").content.decode()
    assert submit(NAME, small).duplicate_of == run
    assert submit("org/causal", small).run != run


def test_an_adapter_of_another_model_is_refused_and_leaves_no_model(
    small: Benchmark, lora: Path, local_hub: Hub, tmp_path: Path
) -> None:
    build_adapter(tmp_path / "other", "gpt2", base_model_name_or_path="org/masked")
    local_hub.add("lab/other", tmp_path / "other")
    outcome = submit("org/causal+lab/other", small)
    assert outcome.run is None and of_adapter(outcome).state == "failed"
    assert "was made for org/masked, not for org/causal" in of_adapter(outcome).message
    assert not Model.objects.filter(hub_id__contains="+").exists()


def test_an_adapter_whose_config_names_a_folder_passes(
    small: Benchmark, lora: Path, local_hub: Hub, tmp_path: Path
) -> None:
    build_adapter(tmp_path / "other", "gpt2", base_model_name_or_path="/home/me/models/gpt2")
    local_hub.add("lab/other", tmp_path / "other")
    outcome = submit("org/causal+lab/other", small)
    assert "names no model of the hub" in of_adapter(outcome).message and outcome.run is not None


def test_its_date_is_that_of_the_adapter(small: Benchmark, lora: Path, local_hub: Hub) -> None:
    for name, year in (("org/causal", 2023), ("lab/lora", 2025)):
        local_hub.repositories[name].info["createdAt"] = f"{year}-07-31T09:00:00.000Z"
    run = submit(NAME, small).run
    assert run is not None and run.model.hub_created == date(2025, 7, 31)


def test_without_peft_no_adapter_is_measured(small: Benchmark, lora: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "find_spec", lambda name: None)
    assert "peft is not installed" in of_adapter(submit(NAME, small)).message


@pytest.mark.parametrize(
    "name", ["org/causal+", "org/causal+lab/a/b", "org/causal+../x", f"org/{'a' * 90}+lab/{'b' * 120}"]
)
def test_malformed_names_are_refused(small: Benchmark, lora: Path, name: str) -> None:
    outcome = submit(name, small)
    assert outcome.run is None and outcome.checks[0].state == "failed"
