"""Fixtures of tests of the monitor: one thread for torch, and a tiny model on disk."""

from pathlib import Path

import pytest
import torch
from transformers.utils import logging

from tests.tiny_models import build_gpt2


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> None:
    """Use one thread, so that parallel tests do not compete and results do not depend on the number of cores."""
    torch.set_num_threads(1)
    logging.set_verbosity_error()
    logging.disable_progress_bar()


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_gpt2(tmp_path_factory.mktemp("model") / "gpt2")
