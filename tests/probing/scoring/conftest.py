"""Fixtures: one thread for torch, no progress bars of transformers, and tiny models."""

from collections.abc import Iterator
from pathlib import Path
from shutil import copytree

import pytest
import torch
from huggingface_hub import constants
from transformers.utils import logging

from probing.scoring import products as products_module
from probing.scoring import pruning, tree_passes
from tests.hub.local_hub import Hub, serve


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> None:
    """Use one thread, so that parallel tests do not compete and results do not depend on the number of cores."""
    torch.set_num_threads(1)
    logging.set_verbosity_error()


@pytest.fixture(autouse=True)
def few_statements_are_decided_early(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pruning, "FEWEST_STATEMENTS", 1)
    monkeypatch.setattr(pruning, "FEWEST_OPTIONS", 1)
    monkeypatch.setattr(tree_passes, "OPTIONS_PER_ROUND", 1)


@pytest.fixture
def gpt2(model_folders: dict[str, Path], tmp_path: Path) -> Path:
    """A copy that tests may damage."""
    return copytree(model_folders["gpt2"], tmp_path / "gpt2")


@pytest.fixture
def bert(model_folders: dict[str, Path], tmp_path: Path) -> Path:
    """A copy that tests may damage."""
    return copytree(model_folders["bert"], tmp_path / "bert")


@pytest.fixture
def hub(model_folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Hub]:
    """A hub with `org/gpt2`, and an empty cache."""
    with serve() as server:
        server.add("org/gpt2", model_folders["gpt2"])
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
        yield server


@pytest.fixture
def products(monkeypatch: pytest.MonkeyPatch) -> list[torch.Size]:
    """The shapes of the weights of all products by oneDNN, which is taken as the faster one for any size."""
    shapes: list[torch.Size] = []

    def noted(states: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
        shapes.append(weight.shape)
        return by_onednn(states, weight, bias)

    by_onednn = products_module.linear
    monkeypatch.setattr(products_module, "onednn_is_faster", lambda: True)
    monkeypatch.setattr(products_module, "FEWEST_MULTIPLICATIONS", 1)
    monkeypatch.setattr(products_module, "linear", noted)
    return shapes
