"""The machine: its description and its rates."""

import platform
from pathlib import Path

import pytest
from torch import nn

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


def test_rates_count_two_operations_for_each_multiplication(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_product_seconds", lambda rows, inner, columns, *_: 1e-9 * rows * inner * columns)
    assert machine.square_rate() == pytest.approx(2)
    network = nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 7))
    assert machine.shapes_rate(network, rows=4) == pytest.approx(2)


def test_shapes_are_weighted_by_how_often_they_occur(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_product_seconds", lambda rows, inner, columns, *_: 1.0 if columns == 5 else 4.0)
    network = nn.Sequential(nn.Linear(3, 5), nn.Linear(3, 5), nn.Linear(5, 7))
    assert machine.shapes_rate(network, rows=4) == pytest.approx(2e-9 * 4 * (15 + 15 + 35) / (1 + 1 + 4))
