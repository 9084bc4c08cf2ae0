"""Fixtures of tests of runs on several devices."""

import pytest
import torch

import probing
from probing.devices import device_child, device_process
from tests.probing.devices.fake_devices import Devices, ThreadAsProcess


@pytest.fixture
def devices(monkeypatch: pytest.MonkeyPatch) -> Devices:
    """Load fake models in threads, whatever device is named."""
    fakes = Devices()
    monkeypatch.setitem(vars(probing), "load", fakes.load)  # to read the former value would import torch
    monkeypatch.setattr(device_child, "usable_device", torch.device)
    monkeypatch.setattr(device_process, "launched", ThreadAsProcess)
    monkeypatch.setattr(device_process, "kill", fakes.kill)
    return fakes
