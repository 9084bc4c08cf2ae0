"""Real processes, on the CPU: equal results, and nothing is left of them, however the run ends."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
import torch

import probing
from probing.devices.device_messages import Probe
from probing.devices.device_process import CHILD, DeviceProcess
from probing.devices.model import _Turns
from probing.errors import BadInput
from probing.measuring.failures import DeviceCrashed
from tests.probing.devices.same_results import refuse_differences
from tests.tiny_models import build_gpt2

CHOSEN: dict[str, Any] = {"relations": ["animal_class", "country_capital"], "templates": (0, 1), "batch_tokens": 256}
QUIET: dict[str, Any] = {"progress": False, **CHOSEN}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_gpt2(tmp_path_factory.mktemp("models") / "causal")


@pytest.fixture(scope="module")
def on_one(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The result folder of a run on one device."""
    out = tmp_path_factory.mktemp("one") / "out"
    probing.run(model, "starter", device="cpu", out=out, **QUIET)
    return out


@pytest.fixture
def part_processes(monkeypatch: pytest.MonkeyPatch) -> list[DeviceProcess]:
    """Let two processes begin together, however long the second one takes to load; list which one was given a part."""
    processes: list[DeviceProcess] = []
    loaded: list[DeviceProcess] = []
    admit, send = _Turns.admit, DeviceProcess.send

    def admit_together(turns: _Turns, process: DeviceProcess) -> None:
        loaded.append(process)
        if len(loaded) == 2:
            for one in loaded:
                admit(turns, one)

    def send_and_note(process: DeviceProcess, order: Any) -> None:
        send(process, order)
        if isinstance(order, Probe):
            processes.append(process)

    monkeypatch.setattr(_Turns, "admit", admit_together)
    monkeypatch.setattr(DeviceProcess, "send", send_and_note)
    return processes


def children_of(pid: int) -> list[psutil.Process]:
    return [child for child in psutil.Process(pid).children(recursive=True) if CHILD in child.cmdline()]


def test_two_processes_give_the_files_of_one_and_end(
    model: Path, on_one: Path, tmp_path: Path, part_processes: list[DeviceProcess]
) -> None:
    record = probing.run(model, "starter", device="cpu,cpu", out=tmp_path / "out", **QUIET).record
    assert len(part_processes) == 4 and len(set(part_processes)) == 2, "both have measured"
    refuse_differences(on_one, tmp_path / "out")
    assert record["device"] == "cpu"
    assert not children_of(os.getpid())


@pytest.mark.slow
def test_a_killed_process_ends_the_run_which_one_device_can_finish(
    model: Path, on_one: Path, tmp_path: Path, part_processes: list[DeviceProcess], monkeypatch: pytest.MonkeyPatch
) -> None:
    send = DeviceProcess.send

    def send_and_kill(process: DeviceProcess, order: Any) -> None:
        send(process, order)
        if len(part_processes) == 3:
            process._process.kill()

    monkeypatch.setattr(DeviceProcess, "send", send_and_kill)
    with pytest.raises(DeviceCrashed, match=r"The process on cpu ended by signal SIGKILL\. Run it again: complete"):
        probing.run(model, "starter", device="cpu,cpu", out=tmp_path / "out", **QUIET)
    assert not children_of(os.getpid())
    assert list((tmp_path / "out.partial").glob("*.parquet"))
    probing.run(model, "starter", device="cpu", out=tmp_path / "out", **QUIET)
    refuse_differences(on_one, tmp_path / "out")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_device_that_is_not_here_is_named(model: Path) -> None:
    with pytest.raises(BadInput, match=r"There is no device cuda:0 here\. Choose from: cpu\."):
        probing.run(model, "starter", device="cpu,cuda:0", **QUIET)


@pytest.mark.slow
@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGINT], ids=["killed", "Ctrl-C"])
def test_nothing_is_left_of_a_run_that_is_ended_from_outside(model: Path, tmp_path: Path, ending: int) -> None:
    words = ["run", str(model), "--benchmark", "starter", "--device", "cpu,cpu", "--out", str(tmp_path / "out")]
    slow = ["--batch-tokens", "1", "--template", "0", "1"]
    program = [sys.executable, "-m", "probing", *words, *slow]
    with subprocess.Popen(program, stderr=subprocess.PIPE, text=True, process_group=0) as run:
        wait_until(lambda: len(children_of(run.pid)) == 2 and len(finished_parts(tmp_path)) > 0)
        children = children_of(run.pid)
        os.killpg(run.pid, ending)
        _, errors = run.communicate()
    assert run.returncode == (130 if ending == signal.SIGINT else -signal.SIGKILL)
    wait_until(lambda: not any(child.is_running() for child in children))
    assert "Traceback" not in errors
    assert finished_parts(tmp_path)


def finished_parts(folder: Path) -> list[Path]:
    return list((folder / "out.partial").glob("*.parquet"))


def wait_until(is_true: Any, seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < end, "in vain"
        time.sleep(0.1)
