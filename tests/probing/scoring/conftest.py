"""One thread, so that tests neither fight for cores nor differ by their number; and a quiet transformers."""

import pytest
import torch
from transformers.utils import logging


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> None:
    torch.set_num_threads(1)
    logging.set_verbosity_error()
