"""Fixtures: a benchmark's folder, and two results on it."""

from pathlib import Path

import pytest

from probing.__main__ import main
from tests.conftest import BearFolder
from tests.fakes import FakeModel
from tests.kept_folder import files_of, kept_folder
from tests.probing.command_line.helpers import use


@pytest.fixture
def folder(bear_folder: BearFolder) -> str:
    return str(bear_folder.write())


@pytest.fixture
def results(folder: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    def measure(out: Path) -> None:
        assert main(["run", "fake", "--benchmark", folder, "--out", str(out)]) == 0

    asked = tuple(files_of(Path(folder)).items())
    for name, known in (("a", []), ("b", ["Chad is located in Africa.", "Egypt is located in Africa."])):
        use(monkeypatch, FakeModel(knows=known))
        kept_folder((name, asked), tmp_path / name, measure)
    return [str(tmp_path / "a"), str(tmp_path / "b")]


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    use(monkeypatch, FakeModel())

    def run(prompting: str, *more: str) -> str:
        arguments = ["--benchmark", "pairs", "--probe", "specificity", "--set", f"prompting={prompting}", *more]

        def measure(out: Path) -> None:
            assert main(["run", "fake", *arguments, "--out", str(out)]) == 0

        return str(kept_folder(tuple(arguments), tmp_path / f"{prompting}-{len(more)}", measure))

    return run
