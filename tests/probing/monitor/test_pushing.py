"""Measurements pushed to a site while a model is trained: the training goes on whatever the site does."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from accelerate.state import AcceleratorState, PartialState
from transformers import TrainerControl, TrainerState

from probing.benchmark import Benchmark
from probing.errors import BadInput
from probing.monitor import KnowledgeCallback, Monitor
from probing.remote.connection import TOKEN_VARIABLE, NotWelcome
from probing.results.result import Result
from tests.probing.monitor.helpers import measured, trainer_of
from tests.probing.remote.receiving_site import BUSY, CREATED, ReceivingSite, problem, receiving


@pytest.fixture(autouse=True)
def fresh_accelerator() -> Iterator[None]:
    yield
    AcceleratorState._reset_state(True)
    PartialState._reset_state()


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[ReceivingSite]:
    monkeypatch.setenv(TOKEN_VARIABLE, "from the environment")
    with receiving() as server:
        yield server


def revisions(site: ReceivingSite) -> list[str]:
    return [upload.fields["revision"] for upload in site.uploads]


def test_each_measurement_is_pushed_as_the_revision_of_its_step(
    folder: Path, benchmark: Benchmark, tmp_path: Path, site: ReceivingSite
) -> None:
    trainer = trainer_of(folder, tmp_path / "out", max_steps=4)
    callback = KnowledgeCallback(trainer, benchmark, every_steps=2, push_to=site.url, model="org/name")
    trainer.add_callback(callback)
    trainer.train()
    assert revisions(site) == ["step0", "step2", "step4"]
    first = site.uploads[0]
    assert (first.token, first.fields["model"]) == ("Bearer from the environment", "org/name")
    assert json.loads(first.files["record"][1])["model"]["revision"] == "step0"


def test_a_site_that_does_not_take_results_ends_no_training_and_gets_them_again(
    folder: Path, benchmark: Benchmark, tmp_path: Path, site: ReceivingSite, caplog: pytest.LogCaptureFixture
) -> None:
    site.answers = [BUSY, CREATED, problem(400, "bad-result", "The rows do not fit."), CREATED]
    trainer = trainer_of(folder, tmp_path / "out", max_steps=4)
    push_to = (site.url, "secret")
    save_to = tmp_path / "saved"
    trainer.add_callback(
        KnowledgeCallback(trainer, benchmark, every_steps=2, push_to=push_to, model="org/name", save_to=save_to)
    )
    trainer.train()
    assert list(measured(trainer)) == [0, 2, 4]
    assert revisions(site) == ["step0", "step2", "step4", "step0", "step4"]
    assert {upload.token for upload in site.uploads} == {"Bearer secret"}
    assert Result.load(save_to / "step-4").record["model"]["revision"] == "step4"


def test_only_the_first_process_pushes(folder: Path, benchmark: Benchmark, tmp_path: Path, site: ReceivingSite) -> None:
    trainer = trainer_of(folder, tmp_path / "out")
    callback = KnowledgeCallback(trainer, benchmark, every_steps=2, push_to=site.url, model="org/name", sample=1)
    state = TrainerState(is_world_process_zero=False)
    callback.on_train_begin(trainer.args, state, TrainerControl())
    callback.on_train_end(trainer.args, state, TrainerControl())
    assert not site.uploads


def test_what_cannot_be_pushed_is_told_before_the_training(
    folder: Path, benchmark: Benchmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer = trainer_of(folder, tmp_path)
    monkeypatch.delenv(TOKEN_VARIABLE, raising=False)
    for arguments, kind, sentence in (
        ({"push_to": "https://site.example"}, BadInput, "A network in training has no name for a site"),
        ({"push_to": "https://site.example", "model": "org/name"}, BadInput, "There is no token"),
        ({"push_to": ("ftp://site.example", "T"), "model": "org/name"}, NotWelcome, "is not an address of a site"),
    ):
        with pytest.raises(kind, match=sentence):
            KnowledgeCallback(trainer, benchmark, every_steps=2, **arguments)


def test_a_measurement_names_the_step_as_its_revision(folder: Path, benchmark: Benchmark, tmp_path: Path) -> None:
    trainer = trainer_of(folder, tmp_path)
    monitor = Monitor(benchmark, sample=1)
    assert monitor.measure(trainer.model, step=7).result.record["model"]["revision"] == "step7"
    assert monitor.measure(trainer.model).result.record["model"]["revision"] == ""
