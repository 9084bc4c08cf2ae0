"""What the packages without extras do, and the site's web process: they run where torch and its like are missing."""

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from probing.__main__ import main
from probing.extras import SCORING_PACKAGES
from tests.conftest import BearFolder
from tests.fakes import FakeModel
from tests.probing.command_line.helpers import use
from tests.tiny_models import build_gpt2
from tests.tools.deployment import MIGRATE, ROOT, Deployment

pytestmark = pytest.mark.slow  # starts many processes
Command = Callable[..., subprocess.CompletedProcess[str]]
MISSING = f"import sys\nsys.modules.update(dict.fromkeys({SCORING_PACKAGES}))\n"  # as Python marks what cannot be found

# Answers several commands one after the other, as importing what they need takes longer than they do.
ANSWERING = """
import contextlib, io, json, sys
from probing.__main__ import main
answers = []
for words in json.loads(sys.argv[1]):
    errors = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(errors):
        code = main(words)
    answers.append((code, errors.getvalue()))
print(json.dumps(answers))
"""


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


def answers(command: Command, words: Sequence[Sequence[str]]) -> list[tuple[int, str]]:
    """Return the exit code of each command, and what it printed of errors."""
    done = command("-c", ANSWERING, json.dumps(words))
    assert done.returncode == 0, done.stderr
    printed: list[tuple[int, str]] = json.loads(done.stdout)
    return printed


def test_results_are_shown_compared_and_rescored(
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
    rescored = ("rescore", *results, "--benchmark", folder)
    words = (("show", results[0], "--details"), ("compare", *results), rescored, ("list",))
    for (name, *_), (code, printed) in zip(words, answers(command, words), strict=True):
        with subtests.test(name):
            assert code == 0, printed


def test_commands_that_compute_name_the_extra(command: Command, tmp_path: Path, subtests: pytest.Subtests) -> None:
    model, sentences = str(build_gpt2(tmp_path / "model")), str(ROOT / "LICENSE")
    where = ("--benchmark", "starter", "--out", str(tmp_path / "out"))
    (tmp_path / "study.yaml").write_text(f"models: [{model}]", encoding="utf-8")
    (tmp_path / "old").mkdir()
    (tmp_path / "old/pytorch_model.bin").write_bytes(b"")
    words = (
        ("run", model, *where),
        ("run", model, "--benchmark", "starter", "--dry-run"),
        ("study", str(tmp_path / "study.yaml"), *where),
        ("perplexity", model, "--sentences", sentences),
        ("download", "--convert", str(tmp_path / "old")),
    )
    for (name, *_), (code, printed) in zip(words, answers(command, words), strict=True):
        with subtests.test(name):
            assert (code, printed.count("\n")) == (2, 1), printed
            assert printed.endswith('Install it: pip install -e ".[hf]".\n')


def test_the_site_serves_pages(path: str, bear_folder: BearFolder, tmp_path: Path) -> None:
    site = Deployment(tmp_path / "data", PYTHONPATH=path)
    small = ("import_benchmark", "bear", str(bear_folder.write()), "--slug=small")
    site.run_commands(MIGRATE, ("load_published",), small)
    with site.served():
        for page in ("/", "/benchmarks/small/", "/submit/", "/queue/", "/api/v1/models"):
            with urllib.request.urlopen(site.url + page, timeout=60) as answer:
                assert answer.status == 200


def test_a_worker_that_cannot_measure_ends_with_its_extra(command: Command) -> None:
    done = command("manage.py", "rqworker", "measure")
    assert done.returncode == 2 and done.stderr.endswith('Install it: pip install -e ".[work]".\n'), done.stderr
