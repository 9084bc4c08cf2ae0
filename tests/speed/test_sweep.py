"""The measurement of what a sweep costs: its ratios, and the exit code."""

import pytest

from speed.sweep import Cost, ratios, report


def test_the_ratio_is_the_median_of_the_rounds() -> None:
    rounds = [{"single": Cost(10.0, 8.0), "sweep": Cost(clock, processor)} for clock, processor in ((9, 8), (20, 4))]
    assert ratios([*rounds, {"single": Cost(4.0, 2.0), "sweep": Cost(4.4, 3.0)}]) == pytest.approx(
        {"clock": 1.1, "processor": 1.0}
    )


def test_the_exit_code_tells_whether_the_limit_is_missed(capsys: pytest.CaptureFixture[str]) -> None:
    assert report({"clock": 9.0, "processor": 1.05}) == 0
    assert report({"clock": 0.9, "processor": 1.06}) == 1
    assert "Missed: a sweep may cost 1.05 times the single runs." in capsys.readouterr().err
