"""The command that measures the time left: its recordings, its table, and what it requires."""

from typing import Any

import pytest

from probing import runner
from probing.estimate.load import Load
from speed import time_left
from speed.stored_results import stored
from speed.time_left import JUDGED, PLANS, _recorded, _steps, judged, missed


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    """The stored recordings and figures."""
    return stored("time_left")


def test_a_run_is_recorded_in_place_of_its_progress_bar() -> None:
    first, second = Load(1, 4, 1), Load(2, 6, 1)
    with _recorded() as steps, runner.progress_bar(first.plus(second), Load(), shown=True) as bar:
        bar.advance(first, second)
        bar.advance(second, first)
    assert [(step.expected, step.actual) for step in steps] == [(first, second), (second, first)]
    assert min(step.seconds for step in steps) >= 0


def test_the_stored_figures_are_those_of_the_stored_recordings(results: dict[str, Any]) -> None:
    """With the pace as it is now; this needs no network."""
    for name, run in results["runs"].items():
        assert {figure: run[figure] for figure in ("errors", "seconds_until_followed")} == judged(_steps(run)), name


def test_each_stored_recording_is_of_a_run_that_the_command_makes(results: dict[str, Any]) -> None:
    plans = {plan.name: {"settings": dict(plan.settings), "every": plan.every} for plan in PLANS}
    assert results["runs"]
    assert all(
        {name: run[name] for name in ("settings", "every")} == plans[key] for key, run in results["runs"].items()
    )


def test_the_time_left_of_every_run_was_as_near_as_is_required(results: dict[str, Any]) -> None:
    assert set(results["runs"]) == {plan.name for plan in PLANS}
    assert missed(results) == []


def test_an_error_above_a_fifth_is_a_miss_alone_and_shared() -> None:
    extents = {machine: [-0.25, 0.1] for machine in JUDGED}
    lines = missed({"runs": {"graph": {"errors": extents}, "pairs": {"errors": {m: [-0.2, 0.2] for m in JUDGED}}}})
    assert [line.partition(":")[0] for line in lines] == [f"graph, {machine}" for machine in JUDGED]
    assert lines[0].endswith("the time was off by −25 to +10 %, allowed are 20%")


def test_an_unknown_run_is_refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["time_left", "no such run"])
    with pytest.raises(SystemExit):
        time_left.main()
    assert "there is no run 'no such run'" in capsys.readouterr().err
