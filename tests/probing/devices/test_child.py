"""The steps of a process on a device, in this process, where their errors can be seen."""

from multiprocessing import Pipe
from typing import Any, NoReturn

import pytest
import torch

from probing.devices import device_child
from probing.devices.device_messages import Load
from probing.errors import ModelNotFound
from probing.model_source import ModelSource
from probing.settings import Settings


def load(model: str, device: str, *others: str, sharers: int = 1) -> Load:
    """Return the order to load a model on one device of a run that has others as well."""
    return Load(ModelSource(model, device=device), Settings(), sharers, (device, *others))


def test_it_ends_with_the_run() -> None:
    run, own = Pipe()
    run.close()
    assert device_child.serve(own) == 0


def test_it_reports_that_the_model_cannot_be_loaded() -> None:
    run, own = Pipe()
    run.send(load("no-such-folder/model.gguf", "cpu"))
    assert device_child.serve(own) == 1
    assert isinstance(run.recv(), ModelNotFound)


@pytest.mark.parametrize(("threads", "processes", "share"), [(8, 2, 4), (8, 3, 2), (2, 4, 1)])
def test_processes_on_the_cpu_share_its_threads(
    threads: int, processes: int, share: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen: list[int] = []
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    monkeypatch.setattr(torch, "set_num_threads", chosen.append)
    run, own = Pipe()
    run.send(load("no-such-folder/model.gguf", "cpu", sharers=processes))
    device_child.serve(own)
    assert chosen == [share]


def test_a_process_makes_its_gpu_the_present_one_before_it_loads_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []

    def open_model(source: ModelSource, *_: Any) -> NoReturn:
        steps.append(f"loaded on {source.device}")
        raise ModelNotFound("There is no such model.", "Name another one.")

    monkeypatch.setattr(device_child, "usable_device", torch.device)
    monkeypatch.setattr(torch.cuda, "set_device", lambda device: steps.append(f"set to {device}"))
    monkeypatch.setattr(device_child, "open_model", open_model)
    for device in ("cuda:1", "cpu"):
        run, own = Pipe()
        run.send(load("org/model", device))
        assert device_child.serve(own) == 1
    assert steps == ["set to cuda:1", "loaded on cuda:1", "loaded on cpu"]


def test_a_missing_device_of_the_run_is_named_before_the_model_is_loaded_on_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda check_available: torch.device("xpu"))
    monkeypatch.setattr(torch.accelerator, "device_count", lambda: 2)
    run, own = Pipe()
    run.send(load("org/model", "xpu:0", "xpu:1", "xpu:2"))
    assert device_child.serve(own) == 1
    assert str(run.recv()) == "There is no device xpu:2 here. Choose from: cpu, xpu:0, xpu:1."
