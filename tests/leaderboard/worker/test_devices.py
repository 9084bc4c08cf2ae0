"""The GPUs of one machine among its workers."""

import subprocess
from contextlib import ExitStack
from typing import Any

import pytest
from django.core.management.base import CommandError

from leaderboard.worker.site_worker import count_gpus, own_device


@pytest.fixture
def two_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")


def test_workers_choose_different_gpus(two_gpus: None) -> None:
    with own_device() as first, own_device() as second:
        assert (first, second) == ("cuda:0", "cuda:1")
    with own_device() as again:
        assert again == "cuda:0"


def test_a_worker_keeps_away_from_a_gpu_that_another_was_given(two_gpus: None) -> None:
    with own_device("cuda:0") as given, own_device() as chosen:
        assert (given, chosen) == ("cuda:0", "cuda:1")


def test_more_workers_than_gpus_share_them(two_gpus: None) -> None:
    with ExitStack() as workers:
        devices = [workers.enter_context(own_device()) for _ in range(3)]
    assert set(devices) == {"cuda:0", "cuda:1"}


def test_a_worker_takes_no_more_than_one_device() -> None:
    with (
        pytest.raises(CommandError, match=r"not on cuda:0,cuda:1\. Start a worker for each"),
        own_device("cuda:0,cuda:1"),
    ):
        pass


@pytest.mark.parametrize("visible", ["", "-1", "0"])
def test_there_is_nothing_to_share_out_without_several_gpus(monkeypatch: pytest.MonkeyPatch, visible: str) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    with own_device() as device:
        assert device == "auto"


def test_gpus_are_counted_without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    listing = "GPU 0: A (UUID: x)\n  MIG 1g\nGPU 1: A (UUID: y)\n"

    def run(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, 0, stdout=listing)

    monkeypatch.setattr(subprocess, "run", run)
    assert count_gpus() == 2


def test_a_machine_without_the_driver_has_no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setenv("PATH", "")
    assert count_gpus() == 0
