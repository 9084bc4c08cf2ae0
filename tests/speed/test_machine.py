"""The description of the machine."""

import platform
from pathlib import Path

import pytest

from speed import machine


def test_the_description_names_the_processor_and_nothing_personal() -> None:
    description = machine.describe()
    assert description.keys() == {"cores", "processor", "torch_threads"}
    assert description["cores"] >= 1
    assert platform.node() not in str(description)


def test_the_processor_is_the_first_model_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cpuinfo").write_text("processor : 0\nmodel name : Some CPU: 2 GHz\nmodel name : Another\n")
    monkeypatch.setattr(machine, "CPUINFO", tmp_path / "cpuinfo")
    assert machine.describe()["processor"] == "Some CPU: 2 GHz"


def test_without_a_model_name_the_processor_is_the_architecture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "CPUINFO", tmp_path / "nothing")
    assert machine.describe()["processor"] == platform.machine()
