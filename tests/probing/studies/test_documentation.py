"""The examples of docs/studies.md about studies run as they stand there, on models without networks."""

import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

import probing
from probing.__main__ import main
from probing.catalog import open_benchmark

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "studies.md").read_text(encoding="utf-8").partition("\n## Sweeps")[0]
COMMANDS = re.findall(r"^clozeboard (.*)$", PAGE, re.MULTILINE)
EXAMPLES = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    few = {"starter": ["country_continent"], "pairs": ["lies_in", "kind_of"], "culture": ["P36.arab-west.en"]}
    for module in ("probing.studies.study", "probing.command_line.run", "probing.runner"):
        monkeypatch.setattr(f"{module}.open_benchmark", lambda name: open_benchmark(name).select(few[name]))
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_page_shows_the_file_among_the_examples() -> None:
    assert f"```yaml\n{(ROOT / 'examples' / 'study.yaml').read_text(encoding='utf-8')}```" in PAGE


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_the_command_runs(
    command: str, loaded: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    forecast = probing.forecast
    monkeypatch.setattr(probing, "forecast", lambda *given, **options: forecast(*given, **options, seconds=0))
    assert main([*shlex.split(re.sub("--executor .*", "", command)), "--sample", "3"]) == 0
    assert capsys.readouterr().out
    measured = {str(path.parent.relative_to(folder)) for path in folder.rglob("run.json")}
    if "--config" in command:
        models = ("gpt2", "gpt2-without-start", "bert-base-cased")
        assert measured == {f"study/{model}/{benchmark}" for model in models for benchmark in ("starter", "pairs")}
    else:
        pairs = 18 if "board" in command else 4
        assert len(measured) == (0 if "--dry-run" in command else pairs)


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_example_runs(example: str, loaded: list[str], folder: Path) -> None:
    names: dict[str, Any] = {}
    exec(example.replace("sample=5", "sample=3").replace("seconds=20", "seconds=0"), names)
    assert "study" not in names or len(names["study"].table) == 4
