"""The time left on simulated runs: parts of different cost, on machines whose speed changes."""

from random import Random

import pytest

from probing import runner
from speed.time_left import CHANGE, LENGTH, MACHINES, Recording, Step, _recorded, always, replayed, stretched


def simulated(seed: int, parts: int = 120) -> Recording:
    """Parts in some steps each; the cost of work differs by a fifth between parts and between steps."""
    draw, steps = Random(seed), []
    for _ in range(parts):
        work, cost = draw.uniform(1, 10), draw.lognormvariate(0, 0.2)
        steps += [Step(work / 8, work / 8 * cost * draw.lognormvariate(0, 0.2)) for _ in range(8)]
    return stretched(steps)


SEEDS = range(8)


@pytest.mark.parametrize("machine", ["alone", "shared in turns"])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_time_left_is_within_a_fifth_from_the_first_tenth_on(seed: int, machine: str) -> None:
    assert max(map(abs, replayed(simulated(seed), MACHINES[machine]))) < 0.2


@pytest.mark.parametrize("seed", SEEDS)
def test_after_a_change_of_speed_the_time_left_soon_follows(seed: int) -> None:
    late = replayed(simulated(seed), MACHINES["half as fast after three tenths"])[4:]
    assert max(map(abs, late)) < 0.2


def test_an_average_over_the_whole_run_would_follow_too_late() -> None:
    """Guards the test above: its machine is hard enough."""
    recording = stretched([Step(1, 1)] * 1000)
    work = seconds = 0.0
    for step in recording:
        slow = MACHINES["half as fast after three tenths"](seconds)
        work, seconds = work + step.work, seconds + step.seconds * slow
        if seconds > 0.4 * LENGTH * (CHANGE + 2 * (1 - CHANGE)):
            break
    whole = LENGTH * (CHANGE + 2 * (1 - CHANGE))
    assert seconds * 1000 / work / whole - 1 < -0.15
    assert abs(replayed(recording, MACHINES["half as fast after three tenths"])[3]) < 0.15


def test_an_estimate_of_the_work_that_is_right_makes_no_error() -> None:
    assert replayed([Step(1, 1)] * 1000, always(1.0)) == pytest.approx([0.0] * 9, abs=1e-6)


def test_work_that_was_taken_for_more_than_it_is_makes_the_time_too_short_at_first() -> None:
    halves = [Step(1, 0.5)] * 500 + [Step(1, 1.5)] * 500
    assert replayed(stretched(halves), always(1.0))[0] < -0.4


def test_a_run_is_recorded_in_place_of_its_progress_bar() -> None:
    with _recorded() as steps, runner.progress_bar(10, 0, shown=True) as bar:
        bar.update(4)
        bar.update(6)
    assert [step.work for step in steps] == [4, 6]
    assert bar.n == bar.total == 10
