"""The steps of a process on a device, in this process, where their errors can be seen."""

from multiprocessing import Pipe

import pytest
import torch

from probing.devices import child
from probing.devices.messages import Load
from probing.errors import ModelNotFound
from probing.model_source import ModelSource
from probing.settings import Settings


def test_it_ends_with_the_run() -> None:
    run, own = Pipe()
    run.close()
    assert child.serve(own) == 0


def test_it_reports_that_the_model_cannot_be_loaded() -> None:
    run, own = Pipe()
    run.send(Load(ModelSource("no-such-folder/model.gguf", device="cpu"), Settings(), sharers=1))
    assert child.serve(own) == 1
    assert isinstance(run.recv(), ModelNotFound)


@pytest.mark.parametrize(("threads", "processes", "share"), [(8, 2, 4), (8, 3, 2), (2, 4, 1)])
def test_processes_on_the_cpu_share_its_threads(
    threads: int, processes: int, share: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen: list[int] = []
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    monkeypatch.setattr(torch, "set_num_threads", chosen.append)
    run, own = Pipe()
    run.send(Load(ModelSource("no-such-folder/model.gguf", device="cpu"), Settings(), processes))
    child.serve(own)
    assert chosen == [share]
