"""Real files of benchmarks and papers, which are no part of this project: CLOZEBOARD_TEST_DATA names their folder."""

import os
from pathlib import Path

import pytest


def real_data(name: str) -> Path:
    """Return a file or folder of the real data, or skip the test where they are not at hand."""
    data = os.environ.get("CLOZEBOARD_TEST_DATA")
    if not data:
        pytest.skip(f"CLOZEBOARD_TEST_DATA is not set: there is no {name}")
    return Path(data) / name
