"""The pace of work, with more weight on what was done lately, and what it remembers."""

import pytest

from probing.estimate.pace import MOST_STRETCHES, Pace, Stretch, recent_rate


def test_before_any_work_there_is_no_pace() -> None:
    assert Pace().rate is None
    assert recent_rate([]) is None


def test_at_a_steady_pace_the_rate_is_that_pace() -> None:
    pace = Pace()
    for _ in range(100):
        pace.add(3, 2)
    assert pace.rate == pytest.approx(1.5)


def test_what_was_done_lately_counts_more() -> None:
    assert recent_rate([Stretch(100, 100), Stretch(1000, 100)]) > 6 > 1100 / 200
    assert recent_rate([Stretch(1000, 100), Stretch(100, 100)]) < 5


def test_a_long_run_remembers_its_pace_in_little_memory() -> None:
    pace, stretches = Pace(), [Stretch(1 + number / 1000, 1) for number in range(5000)]
    for stretch in stretches:
        pace.add(*stretch)
    assert len(pace._done) <= MOST_STRETCHES
    assert pace.rate == pytest.approx(recent_rate(stretches), rel=0.01)
