"""What a network's statements, positions and passes cost, as told by what it has done so far.

A pass costs a large network on a CPU about as much as 20 positions, a small one on a GPU as much as thousands; and work
outside the network, which grows with the statements, is most of what a tiny network takes. So the three costs are
fitted to the batches of the run itself: this needs no time, and follows the machine that the run is on.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from probing.estimate.load import USUAL_COSTS, Load

# How far costs may be from the usual ones before anything was measured, in positions.
DEVIATIONS = Load(2.0, 1.0, 40.0)
# The error that single stretches of work have on a shared machine, as a share of their time.
NOISE = 0.3


class Measured(NamedTuple):
    """Work that took so many seconds without a break: the load that was expected for it, and the one that it had."""

    expected: Load
    actual: Load
    seconds: float

    def plus(self, other: "Measured") -> "Measured":
        return Measured(
            self.expected.plus(other.expected), self.actual.plus(other.actual), self.seconds + other.seconds
        )


def fitted_costs(done: Sequence[Measured]) -> Load:
    """Return the seconds of a statement, a position and a pass: usual ones, corrected by what was measured.

    These are the least squares of what the times and the costs are off, each in units of what it may be off by. The
    error of a stretch grows with the root of its time, so that it does not matter where stretches end.
    """
    loads = np.array([measured.actual for measured in done])
    seconds = np.array([measured.seconds for measured in done])
    usual, deviations = np.array(USUAL_COSTS), np.array(DEVIATIONS)
    works = loads @ usual
    if not works.sum() or not seconds.sum():
        return USUAL_COSTS
    of_position = seconds.sum() / works.sum()
    expected = np.maximum(works, works.mean() / 10) * of_position
    errors = NOISE * np.sqrt(expected * expected.mean())
    rows = np.concatenate([loads * of_position / errors[:, None], np.diag(1 / deviations)])
    values = np.concatenate([seconds / errors, usual / deviations])
    return Load(*(of_position * _least_squares(rows, values)).tolist())


def _least_squares(rows: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the solution without negative costs, leaving out the most negative one after the other."""
    kept = list(range(rows.shape[1]))
    costs = np.zeros(rows.shape[1])
    while kept:
        solution = np.linalg.lstsq(rows[:, kept], values, rcond=None)[0]
        if solution.min() >= 0:
            costs[kept] = solution
            break
        del kept[int(solution.argmin())]
    return costs
