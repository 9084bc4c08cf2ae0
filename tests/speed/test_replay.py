"""The time left on simulated runs: parts of different cost, on machines whose speed changes."""

from random import Random

import pytest

from probing.estimate.costs import Measured
from probing.estimate.load import Load, total
from speed.replay import (
    CHANGE,
    LENGTH,
    MACHINES,
    REQUIRED,
    SLOWER,
    Estimate,
    Recording,
    always,
    condensed,
    errors,
    replayed,
    seconds_until_followed,
    stretched,
)

SLOWED_LENGTH = LENGTH * (CHANGE + 2 * (1 - CHANGE))


def step(work: float, seconds: float) -> Measured:
    """So much work, in passes of equal size, as was expected."""
    load = Load(work, 500 * work, work)
    return Measured(load, load, seconds)


def simulated(seed: int, parts: int = 120) -> Recording:
    """Parts in two steps each; the cost of work differs by a quarter between parts, as in recorded runs that decide."""
    draw, steps = Random(seed), []
    for _ in range(parts):
        work, cost = draw.uniform(1, 10), draw.lognormvariate(0, 0.25)
        steps += [step(work / 2, work / 2 * cost * draw.lognormvariate(0, 0.2)) for _ in range(2)]
    return stretched(steps)


STEADY = stretched([step(1, 1)] * 1000)
SEEDS = range(8)


@pytest.mark.parametrize("machine", ["alone", "shared in turns"])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_time_left_is_within_a_fifth_from_the_first_tenth_on(seed: int, machine: str) -> None:
    assert max(map(abs, errors(replayed(simulated(seed), MACHINES[machine])))) < REQUIRED


@pytest.mark.parametrize("seed", SEEDS)
def test_after_a_change_of_speed_the_time_left_soon_follows(seed: int) -> None:
    assert seconds_until_followed(replayed(simulated(seed), MACHINES[SLOWER])) < 180


def test_an_average_over_the_whole_run_would_follow_too_late() -> None:
    """Guards the test above: its machine is hard enough."""
    work = seconds = 0.0
    for step in STEADY:
        work, seconds = work + 1, seconds + step.seconds * MACHINES[SLOWER](seconds)
        if seconds > CHANGE * LENGTH + 180:
            break
    assert seconds * len(STEADY) / work / SLOWED_LENGTH - 1 < -REQUIRED


def test_an_estimate_of_the_work_that_is_right_makes_no_error() -> None:
    assert max(map(abs, errors(replayed(STEADY, always(1.0))))) < 1e-6


def test_a_machine_that_becomes_slower_takes_longer() -> None:
    assert replayed(STEADY, MACHINES[SLOWER])[-1].time == pytest.approx(SLOWED_LENGTH, rel=0.01)


def test_work_that_was_taken_for_more_than_it_is_makes_the_time_too_short_at_first() -> None:
    halves = [step(1, 0.5)] * 500 + [step(1, 1.5)] * 500
    assert errors(replayed(stretched(halves), always(1.0)))[0] < -0.4


def test_only_estimates_from_the_first_tenth_on_are_judged() -> None:
    assert errors([Estimate(9, 5.0), Estimate(10, 0.1), Estimate(100, 0.0)]) == [0.1, 0.0]


def test_an_estimate_follows_a_change_when_it_is_right_for_good() -> None:
    change = CHANGE * LENGTH
    late = [Estimate(change + after, error) for after, error in ((10, -0.3), (20, 0.1), (30, 0.25), (40, 0.2))]
    assert seconds_until_followed([Estimate(change - 1, 0.9), *late]) == 30
    assert seconds_until_followed(late[1:2]) == 0


def test_a_condensed_recording_has_fewer_steps_of_the_same_sum() -> None:
    steps = condensed([step(1, 0.5)] * 100, 20)
    assert 10 <= len(steps) <= 20
    expected, actual, seconds = zip(*steps, strict=True)
    assert total(expected) == total(actual) == step(100, 50).actual
    assert sum(seconds) == pytest.approx(50)
