"""Environments of peers: made once for each list of requirements, and the reason where one cannot be made."""

import sys
from pathlib import Path

import pytest

from speed import processes
from speed.processes import NotMeasured, python_for


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """The commands that would make environments; they only make the folder."""
    made: list[tuple[str, ...]] = []

    def run(*command: str) -> None:
        made.append(command)
        if "venv" in command:
            Path(command[-1]).mkdir(parents=True, exist_ok=True)

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(processes, "PEERS", tmp_path)
    monkeypatch.setattr(processes, "_run", run)
    return made


def test_a_module_without_requirements_is_run_by_this_interpreter(commands: list[tuple[str, ...]]) -> None:
    assert python_for("own") == sys.executable
    assert commands == []


def test_an_environment_is_made_once_for_each_requirements(commands: list[tuple[str, ...]], tmp_path: Path) -> None:
    (tmp_path / "peer.txt").write_text("peer==1.0\n")
    first = python_for("peer")
    assert python_for("peer") == first and len(commands) == 2
    assert Path(first).is_relative_to(tmp_path / "cache" / "clozeboard" / "peers")
    (tmp_path / "peer.txt").write_text("peer==1.1\n")
    assert python_for("peer") != first and len(commands) == 4


def test_an_environment_that_was_not_completed_is_made_again(
    commands: list[tuple[str, ...]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "peer.txt").write_text("peer==1.0\n")
    run = processes._run

    def fail(*command: str) -> None:
        raise NotMeasured("No such release.")

    monkeypatch.setattr(processes, "_run", fail)
    with pytest.raises(NotMeasured):
        python_for("peer")
    monkeypatch.setattr(processes, "_run", run)
    python_for("peer")
    assert len(commands) == 2


def test_the_reason_is_what_the_command_wrote_last() -> None:
    with pytest.raises(NotMeasured, match=r"^b c d$"):
        processes._run(sys.executable, "-c", "raise SystemExit('a\\nb\\nc\\nd')")


@pytest.mark.parametrize("module", ["llama_cpp", "minicons"])
def test_every_requirement_is_pinned(module: str) -> None:
    lines = Path(processes.__file__).with_name("peers").joinpath(f"{module}.txt").read_text().splitlines()
    pins = [line for line in lines if not line.startswith(("#", "--"))]
    assert pins and all("==" in pin for pin in pins)
    assert module != "minicons" or "torch==2.13.0" in pins
