"""Fixtures: a benchmark's folder, two results on it, and results of promptings."""

import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from probing.__main__ import main
from probing.runner import run
from tests.conftest import BearFolder
from tests.fakes import FakeModel
from tests.probing.command_line.helpers import use


@pytest.fixture
def folder(bear_folder: BearFolder) -> str:
    return str(bear_folder.write())


@pytest.fixture(scope="session")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two results, of which tests get copies."""
    place = tmp_path_factory.mktemp("results")
    benchmark = BearFolder(place / "small").write()
    for name, known in (("a", []), ("b", ["Chad is located in Africa.", "Egypt is located in Africa."])):
        run(FakeModel(knows=known), str(benchmark), out=place / name, progress=False)
    return place


@pytest.fixture
def results(measured: Path, tmp_path: Path) -> list[str]:
    return [str(shutil.copytree(measured / name, tmp_path / name)) for name in ("a", "b")]


@pytest.fixture(scope="session")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """Return a function that runs the command with a prompting once, and returns the folder of its result."""

    @cache
    def result_of(prompting: str, *more: str) -> str:
        out = tmp_path_factory.mktemp(prompting) / "result"
        arguments = ["--benchmark", "pairs", "--probe", "specificity", "--set", f"prompting={prompting}", *more]
        with pytest.MonkeyPatch.context() as patch:
            use(patch, FakeModel())
            assert main(["run", "fake", *arguments, "--out", str(out)]) == 0
        return str(out)

    return result_of
