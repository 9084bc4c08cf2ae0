"""What tests of plans and of probes share."""

from pathlib import Path

import pytest

from probing.benchmark import Benchmark
from probing.formats import dlama
from tests.probing.formats.dlama_folder import DlamaFolder


@pytest.fixture
def pairs(tmp_path: Path) -> Benchmark:
    """Facts of two culture pairs in two languages, after and before the choice of the best known ones."""
    folder = DlamaFolder(tmp_path / "pairs")
    folder.add_arabic()
    folder.facts |= {name.replace("arab-west", "other-west"): lines for name, lines in folder.facts.items()}
    folder.facts |= {name.replace("/dlama/", "/dlama_raw/"): lines for name, lines in folder.facts.items()}
    return dlama.read(folder.write())
