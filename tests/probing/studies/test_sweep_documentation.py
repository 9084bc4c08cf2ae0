"""The examples of docs/studies.md about sweeps run as they stand there, on tiny models and a few items."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from probing.__main__ import main
from probing.remote.connection import TOKEN_VARIABLE
from tests.hub.local_hub import Hub
from tests.probing.remote.receiving_site import ReceivingSite, receiving

PAGE = (Path(__file__).parents[3] / "docs" / "studies.md").read_text(encoding="utf-8").partition("\n## Sweeps")[2]
COMMANDS = re.findall(r"^clozeboard (.*)$", PAGE, re.MULTILINE)
EXAMPLES = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
FEW = ["--relation", "country_continent", "--sample", "2", "--device", "cpu"]


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[ReceivingSite]:
    monkeypatch.setenv(TOKEN_VARIABLE, "T")
    with receiving() as server:
        yield server


@pytest.mark.slow
def test_the_commands_run(
    training: Path, tmp_path: Path, hub: Hub, site: ReceivingSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    repository = hub.repositories["org/model"]
    pythia = hub.add("EleutherAI/pythia-70m", repository.folder)
    for name in ("step0", "step1000", "step2000"):
        pythia.add_revision(name, repository.revisions["step1000"].folder)
    assert len(COMMANDS) == 5
    for command in COMMANDS:
        words = shlex.split(command.replace("https://site.example", site.url))
        assert main(words + (FEW if words[0] == "run" else [])) == 0, command
    assert [upload.fields["revision"] for upload in site.uploads] == [
        *("checkpoint-0", "checkpoint-500", "checkpoint-1000"),
        "step500",
    ]
    assert len(list((tmp_path / "pythia").glob("step*/run.json"))) == 3


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES)
def test_the_example_runs(example: str, training: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(example.replace("progress=False", "progress=False, relations=['country_continent'], sample=2"), {})
    assert (tmp_path / "chart.html").is_file()
