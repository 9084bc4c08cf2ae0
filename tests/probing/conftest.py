"""What tests of plans and of probes share."""

from pathlib import Path
from typing import Any

import pytest

from probing import runner
from probing.benchmark import Benchmark
from probing.formats import dlama
from probing.part_runner import probe_part
from probing.plan import Part
from probing.results.joining import PartResult
from tests.probing.formats.dlama_folder import DlamaFolder
from tests.tiny_models import build_bert, build_gpt2, build_llama


@pytest.fixture(scope="session")
def model_folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Folders of tiny models by name, which no test may change."""
    folder = tmp_path_factory.mktemp("models")
    return {
        name: build(folder / name)
        for name, build in (("gpt2", build_gpt2), ("llama", build_llama), ("bert", build_bert))
    }


@pytest.fixture
def gpt2(model_folders: dict[str, Path]) -> Path:
    return model_folders["gpt2"]


@pytest.fixture
def llama(model_folders: dict[str, Path]) -> Path:
    return model_folders["llama"]


@pytest.fixture
def bert(model_folders: dict[str, Path]) -> Path:
    return model_folders["bert"]


@pytest.fixture
def pairs(tmp_path: Path) -> Benchmark:
    """Facts of two culture pairs in two languages, after and before the choice of the best known ones."""
    folder = DlamaFolder(tmp_path / "pairs")
    folder.add_arabic()
    folder.facts |= {name.replace("arab-west", "other-west"): lines for name, lines in folder.facts.items()}
    folder.facts |= {name.replace("/dlama/", "/dlama_raw/"): lines for name, lines in folder.facts.items()}
    return dlama.read(folder.write())


@pytest.fixture
def parts_begun(monkeypatch: pytest.MonkeyPatch) -> list[Part]:
    """The parts that runs have begun from now on; the user interrupts the second one, and no other."""
    begun: list[Part] = []

    def interrupted(model: Any, plan: Any, part: Part, **rest: Any) -> PartResult:
        begun.append(part)
        if len(begun) == 2:
            raise KeyboardInterrupt
        return probe_part(model, plan, part, **rest)

    monkeypatch.setattr(runner, "probe_part", interrupted)
    return begun
