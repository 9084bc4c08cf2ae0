"""The examples of docs/studies.md run as they stand there: studies on models without networks, sweeps on tiny ones."""

import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

import probing
from probing.__main__ import main
from probing.catalog import open_benchmark
from tests.hub.local_hub import Hub

ROOT = Path(__file__).parents[3]
STUDIES, _, SWEEPS = (ROOT / "docs" / "studies.md").read_text(encoding="utf-8").partition("\n## Sweeps")
FEW = ["--relation", "country_continent", "--sample", "2", "--device", "cpu"]


def commands_of(text: str) -> list[str]:
    return re.findall(r"^clozeboard (.*)$", text, re.MULTILINE)


def examples_of(text: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    few = {"starter": ["country_continent"], "pairs": ["lies_in", "kind_of"], "culture": ["P36.arab-west.en"]}
    for module in ("probing.studies.study", "probing.command_line.run", "probing.runner"):
        monkeypatch.setattr(f"{module}.open_benchmark", lambda name: open_benchmark(name).select(few[name]))
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_page_shows_the_file_among_the_examples() -> None:
    assert f"```yaml\n{(ROOT / 'examples' / 'study.yaml').read_text(encoding='utf-8')}```" in STUDIES


@pytest.mark.slow
@pytest.mark.parametrize("command", commands_of(STUDIES))
def test_a_command_of_studies_runs(
    command: str, loaded: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    forecast = probing.forecast
    monkeypatch.setattr(probing, "forecast", lambda *given, **options: forecast(*given, **options, seconds=0))
    assert main([*shlex.split(re.sub("--executor .*", "", command)), "--sample", "3"]) == 0
    assert capsys.readouterr().out
    measured = {str(path.parent.relative_to(folder)) for path in folder.rglob("run.json")}
    if "examples/study.yaml" in command:
        models = ("gpt2", "gpt2-without-start", "bert-base-cased")
        assert measured == {f"study/{model}/{benchmark}" for model in models for benchmark in ("starter", "pairs")}
    else:
        pairs = 18 if "board" in command else 4
        assert len(measured) == (0 if "--dry-run" in command else pairs)


@pytest.mark.parametrize("example", examples_of(STUDIES))
def test_an_example_of_studies_runs(example: str, loaded: list[str], folder: Path) -> None:
    names: dict[str, Any] = {}
    exec(example.replace("sample=5", "sample=3").replace("seconds=20", "seconds=0"), names)
    assert "study" not in names or len(names["study"].table) == 4


@pytest.mark.slow
def test_the_commands_of_sweeps_run(training: Path, tmp_path: Path, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    repository = hub.repositories["org/model"]
    pythia = hub.add("EleutherAI/pythia-70m", repository.folder)
    for name in ("step0", "step1000", "step2000"):
        pythia.add_revision(name, repository.revisions["step1000"].folder)
    commands = commands_of(SWEEPS)
    assert len(commands) == 3
    for command in commands:
        words = shlex.split(command)
        assert main(words + (FEW if words[0] == "run" else [])) == 0, command
    assert len(list((tmp_path / "pythia").glob("step*/run.json"))) == 3


@pytest.mark.slow
@pytest.mark.parametrize("example", examples_of(SWEEPS))
def test_an_example_of_sweeps_runs(
    example: str, training: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    exec(example.replace("progress=False", "progress=False, relations=['country_continent'], sample=2"), {})
    assert (tmp_path / "chart.html").is_file()
