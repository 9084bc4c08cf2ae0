"""What the packages without extras do, and the site's web process: they run where torch and its like are missing."""

import os
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from probing.__main__ import main
from probing.extras import SCORING_PACKAGES
from tests.conftest import BearFolder
from tests.fakes import FakeModel
from tests.probing.command_line.helpers import use
from tests.probing.remote.receiving_site import CREATED, receiving
from tests.tiny_models import build_gpt2
from tests.tools.deployment import ROOT, Deployment

Command = Callable[..., subprocess.CompletedProcess[str]]
MISSING = f"import sys\nsys.modules.update(dict.fromkeys({SCORING_PACKAGES}))\n"  # as Python marks what cannot be found


@pytest.fixture
def path(tmp_path: Path) -> str:
    """Return the path of Python on which the packages that score seem not to be installed."""
    (tmp_path / "absent").mkdir()
    (tmp_path / "absent/sitecustomize.py").write_text(MISSING, encoding="utf-8")
    return os.pathsep.join((str(tmp_path / "absent"), str(ROOT)))


@pytest.fixture
def command(path: str, tmp_path: Path) -> Command:
    def run(*words: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": path, "CLOZEBOARD_DATA": str(tmp_path / "data")}
        program = [sys.executable, *words]
        return subprocess.run(program, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=200)

    return run


def test_results_are_shown_compared_rescored_and_pushed(
    command: Command,
    bear_folder: BearFolder,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    subtests: pytest.Subtests,
) -> None:
    folder, results = str(bear_folder.write()), [str(tmp_path / name) for name in ("first", "second")]
    for result, knows in zip(results, ([], ["Chad is located in Africa."]), strict=True):
        use(monkeypatch, FakeModel(knows=knows))
        assert main(["run", "fake", "--benchmark", folder, "--out", result]) == 0
    with receiving() as site:
        site.answers = [CREATED]
        pushed = ("push", results[0], "--site", site.url, "--model", "org/name", "--token", "T")
        rescored = ("rescore", *results, "--benchmark", folder)
        for words in (("show", results[0], "--details"), ("compare", *results), rescored, pushed, ("list",)):
            with subtests.test(words[0]):
                done = command("-m", "probing", *words)
                assert done.returncode == 0, done.stderr


def test_commands_that_compute_name_the_extra(command: Command, tmp_path: Path, subtests: pytest.Subtests) -> None:
    model, sentences = str(build_gpt2(tmp_path / "model")), str(ROOT / "LICENSE")
    where = ("--benchmark", "starter", "--out", str(tmp_path / "out"))
    (tmp_path / "study.yaml").write_text(f"models: [{model}]", encoding="utf-8")
    (tmp_path / "old").mkdir()
    (tmp_path / "old/pytorch_model.bin").write_bytes(b"")
    for words in (
        ("run", model, *where),
        ("run", model, "--benchmark", "starter", "--dry-run"),
        ("study", str(tmp_path / "study.yaml"), *where),
        ("perplexity", model, "--sentences", sentences),
        ("surprisal", model, sentences),
        ("convert", str(tmp_path / "old")),
    ):
        with subtests.test(" ".join(words[:1])):
            done = command("-m", "probing", *words)
            assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
            assert done.stderr.endswith('Install it: pip install "clozeboard[hf]".\n')


def test_the_site_serves_pages(path: str, bear_folder: BearFolder, tmp_path: Path) -> None:
    site = Deployment(tmp_path / "data", PYTHONPATH=path)
    site.command("migrate", "--verbosity=0")
    site.command("import_benchmark", "bear", str(bear_folder.write()), "--slug", "small")
    site.command("load_published")
    with site.served():
        for page in ("/", "/benchmarks/small/", "/submit/", "/queue/", "/api/v1/runs"):
            with urllib.request.urlopen(site.url + page, timeout=60) as answer:
                assert answer.status == 200


def test_a_worker_that_cannot_measure_ends_with_its_extra(command: Command) -> None:
    done = command("manage.py", "rqworker", "measure")
    assert done.returncode == 2 and done.stderr.endswith('Install it: pip install "clozeboard[work]".\n'), done.stderr
