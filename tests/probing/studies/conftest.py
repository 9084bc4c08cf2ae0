"""Fixtures of tests of studies: benchmarks, models without networks under any name, and checkpoints of a training."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import constants

import probing
from probing.errors import ModelNotFound
from probing.formats import bear
from probing.studies.study_results import Sweep
from tests.conftest import BearFolder
from tests.fakes import FAKE_CARD, FakeModel
from tests.hub.local_hub import Hub, serve
from tests.tiny_models import build_gpt2

STEPS = (0, 500, 1000)
QUIET: dict[str, Any] = {"progress": False, "device": "cpu", "batch_tokens": 512}


@pytest.fixture
def folders(tmp_path: Path) -> list[str]:
    """The folders of two benchmarks, `small` and `other`."""
    return [str(BearFolder(tmp_path / name).write()) for name in ("small", "other")]


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Load a fake model whatever is named, except no/such; the list has the names of those that were loaded."""
    names: list[str] = []

    def load(model: str, **options: Any) -> FakeModel:
        names.append(model)
        if model == "no/such":
            raise ModelNotFound("There is no public model no/such.", "Check the name.")
        knows = ["Chad is located in Africa."] if model == "org/clever" else []
        return FakeModel(replace(FAKE_CARD, id=model), knows=knows, dtype=options["dtype"])

    monkeypatch.setitem(vars(probing), "load", load)  # to read the former value would import torch
    monkeypatch.setattr("probing.studies.checkpoints.locate", lambda model, commit: None)
    return names


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Save three checkpoints as the Trainer does: without the tokenizer, which lies in the folder around them."""
    folder = tmp_path_factory.mktemp("saved") / "training"
    for step in STEPS:
        build_gpt2(folder / f"checkpoint-{step}", seed=step)
    for path in (folder / "checkpoint-0").glob("tokenizer*"):
        shutil.copy(path, folder)
    for path in folder.glob("checkpoint-*/tokenizer*"):
        path.unlink()
    return folder


@pytest.fixture(scope="session")
def swept(saved: Path, tmp_path_factory: pytest.TempPathFactory) -> Sweep:
    """The sweep over all checkpoints, which no test changes."""
    folder = tmp_path_factory.mktemp("swept")
    content = bear.read(BearFolder(folder / "small").write())
    sweep: Sweep = probing.sweep(saved, content, revisions="all", out=folder / "out", **QUIET)
    return sweep


@pytest.fixture
def training(saved: Path, tmp_path: Path) -> Path:
    """A copy of the training, for a test to spoil."""
    return Path(shutil.copytree(saved, tmp_path / "training"))


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A hub with the model org/model at the revisions step1000 and step2000-tokens4B."""
    with serve() as server:
        repository = server.add("org/model", build_gpt2(tmp_path / "main"))
        repository.add_revision("step1000", build_gpt2(tmp_path / "1000", seed=1))
        repository.add_revision("step2000-tokens4B", build_gpt2(tmp_path / "2000", seed=2))
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
        yield server
