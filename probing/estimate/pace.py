"""The pace of work: how fast it has been lately, from which the time left of a run follows, here and on a site."""

from collections.abc import Sequence
from itertools import pairwise
from math import log, sqrt
from typing import NamedTuple

from probing.estimate.costs import Measured, fitted_costs
from probing.estimate.load import Load

HALF_LIFE = 120.0  # seconds of work after which what was measured counts half
SHARE = 1 / 2  # in long runs, the half-life is this share of all the time that was worked
MOST_STRETCHES = 400  # that are remembered; beyond that, neighbours are joined
# A lasting change of the pace is looked for between blocks of at least so many seconds, and of this share of the time.
BLOCK_SECONDS, BLOCK_SHARE = 20.0, 1 / 60
FEWEST_BLOCKS = 3  # on either side of a change
# A change is one by so many standard errors, as told by the differences between neighbouring blocks.
CHANGE = 3.5
LEAST_SPREAD = 0.2  # of logarithms of the pace: what parts really cost differs by about as much from the estimates
# What the estimates of the work are worth, as a share of the whole: as if so much was done and was as expected.
CONFIDENCE = 0.03


class Stretch(NamedTuple):
    """Work that took so many seconds without a break."""

    work: float
    seconds: float


def recent_rate(done: Sequence[Stretch]) -> float | None:
    """Return the work per second, given work in its order, with more weight on what was done lately; None without any.

    The weight halves with each half-life of time worked afterwards. What was done before a lasting change of the pace
    does not count. Breaks do not count either, so a run that was interrupted for a day goes on at the pace that it had.
    """
    recent = done[_last_change(done) :]
    half_life = max(HALF_LIFE, SHARE * sum(stretch.seconds for stretch in recent))
    work = seconds = after = 0.0
    for stretch in reversed(recent):
        weight = 0.5 ** ((after + stretch.seconds / 2) / half_life)
        work += weight * stretch.work
        seconds += weight * stretch.seconds
        after += stretch.seconds
    return work / seconds if work and seconds else None


def _last_change(done: Sequence[Stretch]) -> int:
    """Return the first stretch after the clearest lasting change of the pace, 0 if there is none.

    A pace that goes up and down all the time differs between neighbouring blocks, too, and then nothing is a change.
    """
    begins, logs = _blocks(done)
    count, sum_of_all = len(logs), sum(logs)
    if count < 2 * FEWEST_BLOCKS:
        return 0
    differences = [later - earlier for earlier, later in pairwise(logs)]
    spread = max(sqrt(sum(difference**2 for difference in differences) / len(differences) / 2), LEAST_SPREAD)
    clearest, change, sum_before = CHANGE, 0, 0.0
    for index in range(1, count - FEWEST_BLOCKS + 1):
        sum_before += logs[index - 1]
        before, after = sum_before / index, (sum_of_all - sum_before) / (count - index)
        errors = abs(after - before) / (spread * sqrt(1 / index + 1 / (count - index)))
        next_logs = logs[index : index + FEWEST_BLOCKS]  # all are nearer to the new pace: one alone is no change
        lasting = all(abs(value - after) < abs(value - before) for value in next_logs)
        if index >= FEWEST_BLOCKS and errors > clearest and lasting:
            clearest, change = errors, begins[index]
    return change


def _blocks(done: Sequence[Stretch]) -> tuple[list[int], list[float]]:
    """Join stretches to blocks; return the first stretch of each block, and the logarithm of its pace."""
    shortest = max(BLOCK_SECONDS, BLOCK_SHARE * sum(stretch.seconds for stretch in done))
    begins, logs = [], []
    begin, work, seconds = 0, 0.0, 0.0
    for index, stretch in enumerate(done):
        work, seconds = work + stretch.work, seconds + stretch.seconds
        if seconds >= shortest and work > 0:
            begins.append(begin)
            logs.append(log(work / seconds))
            begin, work, seconds = index + 1, 0.0, 0.0
    return begins, logs


class Pace:
    """The pace of the work of one process, told as it is done."""

    def __init__(self) -> None:
        self._done: list[Measured] = []

    def add(self, measured: Measured) -> None:
        """Note that more work has been done; what took time without work, such as storing rows, belongs to it."""
        if self._done and not any(measured.actual):
            self._done[-1] = self._done[-1].plus(measured)
            return
        self._done.append(measured)
        if len(self._done) > MOST_STRETCHES:
            pairs = zip(self._done[::2], self._done[1::2], strict=False)
            rest = self._done[-1:] if len(self._done) % 2 else []
            self._done = [one.plus(two) for one, two in pairs] + rest

    def seconds_for(self, load: Load) -> float | None:
        """Return how long so much expected work will take, None before anything is done.

        How fast the machine is, is told by the work that was really done; how much more or less work than was expected
        is to come, by all that was done before. The first may change at any time, and the second does not.
        """
        if not self._done:
            return None
        costs = fitted_costs(self._done)
        left, expected = load.cost(costs), sum(measured.expected.cost(costs) for measured in self._done)
        actual = [Stretch(measured.actual.cost(costs), measured.seconds) for measured in self._done]
        rate, as_expected = recent_rate(actual), CONFIDENCE * (expected + left)
        if not rate:
            return None
        actual_per_expected = (sum(stretch.work for stretch in actual) + as_expected) / (expected + as_expected)
        return left * actual_per_expected / rate
