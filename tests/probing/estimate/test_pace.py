"""The pace of work, with more weight on what was done lately, and what it remembers."""

from random import Random

import pytest

from probing.estimate.costs import Measured
from probing.estimate.load import Load
from probing.estimate.pace import MOST_STRETCHES, Pace, Stretch, recent_rate


def measured(positions: float, seconds: float) -> Measured:
    """A stretch of work that had as many positions as were expected, in one pass."""
    load = Load(positions=positions, passes=1)
    return Measured(load, load, seconds)


def test_before_any_work_there_is_no_pace() -> None:
    assert Pace().seconds_for(Load(positions=1)) is None
    assert recent_rate([]) is None


def test_at_a_steady_pace_as_much_again_takes_as_long() -> None:
    pace = Pace()
    for _ in range(100):
        pace.add(measured(300, 2))
    assert pace.seconds_for(Load(positions=30_000, passes=100)) == pytest.approx(200)


def test_work_is_expected_to_be_off_as_it_was_so_far() -> None:
    """Half of the positions that are expected are needed, as where options are decided early."""
    pace = Pace()
    for _ in range(100):
        pace.add(Measured(Load(positions=300, passes=1), Load(positions=150, passes=1), 2))
    assert pace.seconds_for(Load(positions=3000, passes=10)) == pytest.approx(20, rel=0.05)


def test_the_first_work_says_little_of_how_far_the_rest_is_off() -> None:
    """A hundredth is done and took half of what was expected; more than half is expected of the rest."""
    pace, rest = Pace(), Load(positions=29_700, passes=99)
    pace.add(Measured(Load(positions=300, passes=1), Load(positions=150, passes=0.5), 1))
    seconds = pace.seconds_for(rest)
    assert seconds
    assert 1.6 * 99 < seconds < 1.9 * 99


def test_the_pace_of_a_machine_does_not_depend_on_how_far_expectations_are_off() -> None:
    """The last tenth took three times the work that was expected, on a machine as fast as before."""
    pace = Pace()
    for expected in [100] * 90 + [100 / 3] * 10:
        pace.add(Measured(Load(positions=expected, passes=expected), Load(positions=100, passes=100), 10))
    per_load = pace.seconds_for(Load(positions=100, passes=100))
    assert per_load == pytest.approx(10 * 1.07, rel=0.01), "all that was done needed 7 % more than was expected"


def test_what_takes_time_without_work_belongs_to_the_work_before() -> None:
    pace = Pace()
    for _ in range(20):
        pace.add(measured(300, 1))
        pace.add(Measured(Load(), Load(), 1))
    assert len(pace._done) == 20
    assert pace.seconds_for(Load(positions=3000, passes=10)) == pytest.approx(20)


def test_what_was_done_lately_counts_more() -> None:
    assert recent_rate([Stretch(100, 100), Stretch(1000, 100)]) > 6 > 1100 / 200
    assert recent_rate([Stretch(1000, 100), Stretch(100, 100)]) < 5


def test_after_a_lasting_change_only_the_new_pace_counts() -> None:
    before, after = [Stretch(20, 10)] * 50, [Stretch(20, 20)] * 3
    assert recent_rate(before + after[:1]) > 1.9, "one slow stretch says nothing"
    assert recent_rate(before + after) == pytest.approx(1.0)


def test_a_pace_that_goes_up_and_down_is_averaged() -> None:
    turns = [Stretch(20, 10), Stretch(20, 10), Stretch(10, 10), Stretch(10, 10)] * 20
    assert recent_rate(turns) == pytest.approx(1.5, rel=0.05)


def test_single_stretches_of_another_pace_are_no_change() -> None:
    draw = Random(0)
    stretches = [Stretch(10 * draw.lognormvariate(0, 0.2), 10) for _ in range(100)]
    rates = [recent_rate(stretches[:count]) for count in range(10, 100)]
    assert all(0.85 < rate < 1.15 for rate in rates if rate)


def test_a_long_run_remembers_its_pace_in_little_memory() -> None:
    pace, seconds = Pace(), [1 + number % 7 / 10 for number in range(5000)]
    for time in seconds:
        pace.add(measured(100, time))
    assert len(pace._done) <= MOST_STRETCHES
    rate = recent_rate([Stretch(100, time) for time in seconds])
    assert rate
    assert pace.seconds_for(Load(positions=1000, passes=10)) == pytest.approx(1000 / rate, rel=0.01)
