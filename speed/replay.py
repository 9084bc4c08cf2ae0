"""Replays of recorded runs: how far the time left was off, on machines of a steady and of a changing speed.

What a machine will do later cannot be known. After a lasting change of its speed, it is only measured how long the
estimate takes to follow.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from probing.estimate.costs import Measured
from probing.estimate.load import total
from probing.estimate.pace import Pace

LENGTH = 600.0  # seconds that each recording is stretched to, so that changes of the machine matter
CHANGE = 0.3  # the share of the work after which the speed of a machine changes for good
SLOWER = "half as fast after three tenths"
TICK = 0.5  # seconds for which the speed of a machine is taken as the same
TURN = 20.0  # seconds for which a shared machine is this run's alone, and then shared
FIRST_TENTH = 0.1  # the share of the time from which on estimates are judged
REQUIRED = 0.2  # the largest error that is allowed


class Estimate(NamedTuple):
    """An estimate of the whole time: when it was made, in seconds, and its relative error; positive is too long."""

    time: float
    error: float


Recording = Sequence[Measured]  # what a run did between two moves of its progress bar
Slowness = Callable[[float], float]  # by which the seconds of a machine are longer at a time


def always(slowness: float) -> Slowness:
    return lambda seconds: slowness


MACHINES: Mapping[str, Slowness] = {
    "alone": always(1.0),
    "shared in turns": lambda seconds: 1.0 if seconds % (2 * TURN) < TURN else 2.0,
    SLOWER: lambda seconds: 1.0 if seconds < CHANGE * LENGTH else 2.0,
}


def replayed(recording: Recording, slowness: Slowness) -> list[Estimate]:
    """Return the estimates of a run with these steps on a machine of this slowness, one after each step."""
    elapsed, left, pace = 0.0, total(step.expected for step in recording), Pace()
    wholes: list[tuple[float, float]] = []
    for step in recording:
        seconds = _on_machine(step.seconds, elapsed, slowness)
        elapsed, left = elapsed + seconds, left.minus(step.expected)
        pace.add(step._replace(seconds=seconds))
        seconds_left = pace.seconds_for(left)
        wholes.append((elapsed, float("inf") if seconds_left is None else elapsed + seconds_left))
    return [Estimate(now, whole / elapsed - 1) for now, whole in wholes]


def _on_machine(seconds: float, begin: float, slowness: Slowness) -> float:
    """Return for how long a machine works, from a time on, at what takes so many seconds on a machine of its own."""
    ticks, rest = divmod(seconds, TICK)
    now = begin
    for _ in range(int(ticks)):
        now += TICK * slowness(now)
    return now + rest * slowness(now) - begin


def errors(estimates: Sequence[Estimate]) -> list[float]:
    """Return the errors from the first tenth of the time on."""
    return [error for time, error in estimates if time >= FIRST_TENTH * estimates[-1].time]


def seconds_until_followed(estimates: Iterable[Estimate]) -> float:
    """Return for how long after the lasting change of speed an estimate was ever off by more than is allowed."""
    change = CHANGE * LENGTH
    return max((time - change for time, error in estimates if time > change and abs(error) > REQUIRED), default=0.0)


def stretched(recording: Recording, length: float = LENGTH) -> Recording:
    """Return the recording with other seconds, which add up to `length`."""
    factor = length / sum(step.seconds for step in recording)
    return [step._replace(seconds=step.seconds * factor) for step in recording]


def condensed(recording: Recording, steps: int) -> Recording:
    """Return the recording in about so many steps, by joining those that follow each other within a short time."""
    shortest = sum(step.seconds for step in recording) / steps
    joined: list[Measured] = []
    for step in recording:
        if joined and joined[-1].seconds < shortest:
            joined[-1] = joined[-1].plus(step)
        else:
            joined.append(step)
    return joined
