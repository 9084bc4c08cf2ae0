"""Forecasts: a run is tried for some seconds, and the rest is expected to go on at the same pace."""

import itertools
from pathlib import Path

import pytest

import probing
from probing import dry_run
from probing.__main__ import main
from probing.benchmark import Benchmark
from probing.errors import BadInput
from tests.conftest import BearFolder
from tests.fakes import FakeModel
from tests.probing.command_line.helpers import printed_by


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each look at the clock of a trial take a second."""
    seconds = itertools.count()
    monkeypatch.setattr(dry_run, "perf_counter", lambda: float(next(seconds)))


def test_a_run_that_ends_within_the_time_is_measured(clock: None, benchmark: Benchmark) -> None:
    forecast = probing.forecast(FakeModel(), benchmark)
    assert forecast.rows == sum(len(relation.items) for relation in benchmark.relations)
    assert forecast.score_seconds == forecast.tried_seconds
    assert forecast.memory["process"] > 0


def test_a_run_that_takes_longer_is_stopped_and_its_pace_is_extrapolated(clock: None, benchmark: Benchmark) -> None:
    model, rows = FakeModel(), 6 * 3
    forecast = probing.forecast(model, benchmark, seconds=3, templates=[0, 1, 2])
    assert forecast.rows == rows
    assert 3 < forecast.tried_seconds <= 4, "it stops with the first batch that ends later"
    assert model.usage.statements < 3 * (4 * 3 + 2 * 2)
    assert forecast.tried_seconds < forecast.score_seconds < 60


def test_a_time_that_cannot_be_tried_is_told(benchmark: Benchmark) -> None:
    for seconds in (-1, float("nan"), "3", True):
        with pytest.raises(BadInput, match="cannot be tried for"):
            probing.forecast(FakeModel(), benchmark, seconds=seconds)


def test_a_dry_run_writes_nothing(
    bear_folder: BearFolder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    forecast = probing.forecast
    monkeypatch.setattr(probing, "forecast", lambda _, *given, **options: forecast(FakeModel(), *given, **options))
    command = ["run", "org/model", "--benchmark", str(bear_folder.write()), "--limit", "1", "--dry-run"]
    printed = printed_by(capsys, *command)
    assert printed.startswith("2 rows, about ") and " GB (process)" in printed
    assert main([*command, "--revisions", "step1"]) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["small"]
