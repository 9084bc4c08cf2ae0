"""The command that measures the time left: its recordings, its table, and what it requires."""

from typing import Any

import pytest

from probing import runner
from probing.time_left import Step
from speed import time_left
from speed.stored_results import stored
from speed.time_left import ALLOWED, PLANS, _recorded, _steps, condensed, errors, extent_of_errors, missed


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    """The stored recordings and figures."""
    return stored("time_left")


def test_a_run_is_recorded_in_place_of_its_progress_bar() -> None:
    with _recorded() as steps, runner.progress_bar(10, 0, shown=True) as bar:
        bar.advance(4)
        bar.advance(6)
    assert [step.work for step in steps] == [4, 6]
    assert min(step.seconds for step in steps) >= 0


def test_the_stored_figures_are_those_of_the_stored_recordings(results: dict[str, Any]) -> None:
    """With the pace as it is now; this needs no network."""
    for name, run in results["runs"].items():
        assert run["errors"] == extent_of_errors(_steps(run)), name


def test_each_stored_recording_is_of_a_run_that_the_command_makes(results: dict[str, Any]) -> None:
    plans = {plan.name: {"settings": dict(plan.settings), "every": plan.every} for plan in PLANS}
    assert results["runs"]
    assert all(
        {name: run[name] for name in ("settings", "every")} == plans[key] for key, run in results["runs"].items()
    )


def test_the_time_left_of_every_run_was_as_near_as_is_required(results: dict[str, Any]) -> None:
    assert set(results["runs"]) == {plan.name for plan in PLANS}
    assert missed(results) == []


def test_an_error_above_what_is_allowed_is_a_miss() -> None:
    (line,) = missed({"runs": {"graph": {"errors": [-0.35, 0.1]}, "pairs": {"errors": [-ALLOWED, ALLOWED]}}})
    assert line == "graph: the time was off by −35 to +10 %, allowed are 30%"


def test_an_estimate_of_the_work_that_is_right_makes_no_error() -> None:
    assert max(map(abs, errors([Step(1, 1)] * 1000))) < 1e-6


def test_work_that_was_taken_for_more_than_it_is_makes_the_time_too_short_at_first() -> None:
    assert errors([Step(1, 0.5)] * 500 + [Step(1, 1.5)] * 500)[0] < -0.4


def test_only_estimates_from_the_first_quarter_on_are_judged() -> None:
    assert len(errors([Step(1, 1)] * 100)) == 76


def test_a_condensed_recording_has_fewer_steps_of_the_same_sum() -> None:
    steps = condensed([Step(1, 0.5)] * 100, 20)
    assert 10 <= len(steps) <= 20
    assert sum(step.work for step in steps) == 100
    assert sum(step.seconds for step in steps) == pytest.approx(50)


def test_an_unknown_run_is_refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["time_left", "no such run"])
    with pytest.raises(SystemExit):
        time_left.main()
    assert "there is no run 'no such run'" in capsys.readouterr().err
