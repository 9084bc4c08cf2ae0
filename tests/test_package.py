"""The library by itself, as `pip install .` leaves it: without the site, with the benchmarks that ship with it."""

import os
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parent.parent
TRY = """
import sys
import probing
from probing.catalog import CATALOG, open_benchmark
assert probing.__file__.startswith(sys.argv[1]), probing.__file__
print(sorted(slug for slug, entry in CATALOG.items() if not entry.archive and open_benchmark(slug).size))
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("installed")
    built = tmp_path_factory.mktemp("built")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(built)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = built.glob("*.whl")
    ZipFile(wheel).extractall(folder)
    return folder


def python(installed: Path, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=installed, env=environment, check=True, capture_output=True, text=True
    )
    return done.stdout


def test_it_has_the_library_and_no_site(installed: Path) -> None:
    assert sorted(path.name for path in installed.iterdir() if path.suffix != ".dist-info") == ["probing"]


def test_its_benchmarks_can_be_opened(installed: Path) -> None:
    found = python(installed, "-c", TRY, str(installed))
    assert found.strip() == "['culture', 'geography', 'graph', 'pairs', 'starter']"


def test_its_command_line_works(installed: Path) -> None:
    assert "run" in python(installed, "-m", "probing", "--help")
