"""The zoo through the library: each hostile repository ends in one clear sentence with its own code, or is harmless."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from probing.errors import ProbingError
from tests.hub.local_hub import serve as serve_hub
from tests.zoo.load_each import MEMORY, SECONDS
from tests.zoo.repositories import MARKER, ZOO, build, serve

ROOT = Path(__file__).parent.parent.parent
FOLDERS = [name for name, hostile in ZOO.items() if not hostile.offer]
# The last repository with each code: `test_site` submits all of them to the site from a hub. A slow one costs as much
# time as patience lasts, which only a test in the same process can shorten, as `test_site` does.
LAST_OF_CODE = {hostile.code: name for name, hostile in ZOO.items() if not hostile.local}
AT_HUB = [name for code, name in LAST_OF_CODE.items() if code != "slow-download"]


def loaded(sources: dict[str, str], place: Path, **environment: str) -> dict[str, dict[str, Any]]:
    """Load models by `load_each`, in the empty folder `place`; return the reports by the names of the models."""
    place.mkdir()
    variables = os.environ | {
        "PYTHONPATH": str(ROOT),
        "HOME": str(place),
        "TMPDIR": str(place),
        "OMP_NUM_THREADS": "1",
        MARKER: str(place / "marker"),
    }
    command = [sys.executable, "-m", "tests.zoo.load_each", *sources.values()]
    done = subprocess.run(command, cwd=place, env=variables | environment, capture_output=True, text=True, check=True)
    reports = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return dict(zip(sources, reports, strict=True))


def from_hub_of(names: Iterable[str], place: Path) -> dict[str, dict[str, Any]]:
    with serve_hub() as hub:
        ids = {name: serve(name, hub, build(name, place / name)) for name in names}
        reports = loaded(ids, place / "here", HF_ENDPOINT=hub.url, HF_HUB_CACHE=str(place / "cache"))
    cached = [path.name for path in (place / "cache").rglob("*") if path.suffix in (".py", ".bin", ".incomplete")]
    return reports | {"left": {"names": os.listdir(place / "here"), "cached": cached}}


@pytest.fixture(scope="module")
def from_folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    place = tmp_path_factory.mktemp("zoo")
    folders = {name: str(build(name, place / name)) for name in FOLDERS} | {"honest": str(place / "honest")}
    return loaded(folders, place / "here") | {"left": {"names": os.listdir(place / "here")}}


def assert_ends_with_its_code(name: str, report: dict[str, Any]) -> None:
    assert report["status"] == 0, f"{name} went beyond {SECONDS} s, or ended the process"
    assert report["code"] == ZOO[name].code, report["message"]
    assert report["megabytes"] < MEMORY / 1e6
    if report["code"]:
        assert report["message"].endswith(".")
        assert "\n" not in report["message"]
        assert report["next_step"]


@pytest.mark.slow
@pytest.mark.parametrize("name", FOLDERS)
def test_a_hostile_folder_ends_with_its_code(name: str, from_folders: dict[str, dict[str, Any]]) -> None:
    assert_ends_with_its_code(name, from_folders[name])


@pytest.mark.slow
def test_every_repository_of_a_hub_ends_with_its_code_and_leaves_nothing_behind(tmp_path: Path) -> None:
    reports = from_hub_of(AT_HUB, tmp_path)
    for name in AT_HUB:
        assert_ends_with_its_code(name, reports[name])
    assert not any(reports["left"].values())


@pytest.mark.slow
def test_the_honest_model_from_which_all_are_made_is_loaded(from_folders: dict[str, dict[str, Any]]) -> None:
    assert (from_folders["honest"]["status"], from_folders["honest"]["code"]) == (0, "")


@pytest.mark.slow
def test_nothing_is_run_and_nothing_left_behind(from_folders: dict[str, dict[str, Any]]) -> None:
    assert from_folders["left"] == {"names": []}


def test_every_code_of_the_zoo_is_one_of_the_library() -> None:
    def codes(error: type[ProbingError]) -> set[str]:
        return {error.code}.union(*map(codes, error.__subclasses__()))

    assert {hostile.code for hostile in ZOO.values()} <= codes(ProbingError) | {""}
