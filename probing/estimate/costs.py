"""What a network's statements, positions and passes cost, as told by what it has done so far.

A pass costs a large network on a CPU about as much as 40 positions, a small one on a GPU as much as thousands; and work
outside the network, which grows with the statements, is most of what a tiny network takes. So the three costs are
fitted to the batches of the run itself: this needs no time, and follows the machine that the run is on.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from probing.arrays import Floats
from probing.estimate.load import Load

# The costs before anything was measured, in positions, and how far they may be off: those of SmolLM2 on one core.
FIRST_GUESS, DEVIATIONS = Load(0.0, 1.0, 40.0), Load(2.0, 1.0, 40.0)
# The error that single stretches of work have on a shared machine, as a share of their time. What is off by more counts
# less, so that a single hitch does not change the costs; how much less is found in a few rounds.
NOISE = 0.3
ROUNDS = 3


class Measured(NamedTuple):
    """Work that took so many seconds without a break: the load that was expected for it, and the one that it had."""

    expected: Load
    actual: Load
    seconds: float

    def plus(self, other: "Measured") -> "Measured":
        expected, actual = self.expected.plus(other.expected), self.actual.plus(other.actual)
        return Measured(expected, actual, self.seconds + other.seconds)


def fitted_costs(done: Sequence[Measured]) -> Load:
    """Return the seconds of a statement, a position and a pass: a first guess, corrected by what was measured.

    These are the least squares of what the times and the costs are off, each in units of what it may be off by. The
    error of a stretch grows with the root of its time, so that it hardly matters where stretches end.
    """
    loads = np.array([measured.actual for measured in done])
    seconds = np.array([measured.seconds for measured in done])
    guess, deviations = np.array(FIRST_GUESS), np.array(DEVIATIONS)
    works = loads @ guess
    if not works.sum() or not seconds.sum():
        return FIRST_GUESS
    of_position = seconds.sum() / works.sum()  # as guessed
    expected = np.maximum(works, works.mean() / 10) * of_position
    errors = NOISE * np.sqrt(expected * expected.mean())
    rows = np.concatenate([loads * of_position / errors[:, None], np.diag(1 / deviations)])
    values = np.concatenate([seconds / errors, guess / deviations])
    weights = np.ones(len(rows))
    for _ in range(ROUNDS):
        costs = _least_squares(rows * weights[:, None], values * weights)
        off = np.abs(rows @ costs - values)[: len(done)]
        weights[: len(done)] = 1 / np.sqrt(np.maximum(off, 1.0))
    return Load(*(of_position * costs).tolist())


def _least_squares(rows: Floats, values: Floats) -> Floats:
    """Return the solution without negative costs: those that would be are 0."""
    kept, costs = list(range(rows.shape[1])), np.zeros(rows.shape[1])
    while kept:
        solution = np.linalg.lstsq(rows[:, kept], values, rcond=None)[0]
        if solution.min() >= 0:
            costs[kept] = solution
            return costs
        del kept[int(solution.argmin())]
    return costs
