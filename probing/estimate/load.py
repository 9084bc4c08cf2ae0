"""Amounts of work: statements, token positions and passes of the network, and what each of them costs."""

from collections.abc import Iterable
from functools import reduce
from typing import NamedTuple


class Load(NamedTuple):
    """An amount of work, or what one statement, one token position and one pass of the network cost.

    `statements`: statements scored, prompts filled, and texts continued or embedded. Each takes work outside the
    network as well: its text is written and tokenized, and its answer becomes a row.
    """

    statements: float = 0.0
    positions: float = 0.0
    passes: float = 0.0

    def plus(self, other: "Load", times: float = 1.0) -> "Load":
        return Load(*(own + times * more for own, more in zip(self, other, strict=True)))

    def minus(self, other: "Load") -> "Load":
        return self.plus(other, -1.0)

    def times(self, factor: float) -> "Load":
        return NOTHING.plus(self, factor)

    def cost(self, costs: "Load") -> float:
        """Return what this amount of work costs."""
        return sum(amount * cost for amount, cost in zip(self, costs, strict=True))

    @property
    def work(self) -> float:
        """The cost with a usual network, in token positions."""
        return self.cost(USUAL_COSTS)


NOTHING = Load()
# The costs in positions of a network whose own are not known. The site weighs the parts of runs by them, and stores the
# sums, so they stay as they are: rates of finished runs are compared with the work of waiting ones.
USUAL_COSTS = Load(0.0, 1.0, 20.0)


class Done(NamedTuple):
    """What is done of a part: so much of the expected load, the load that it really was, and the share of the work."""

    expected: Load = NOTHING
    actual: Load = NOTHING
    share: float = 0.0


def total(loads: Iterable[Load]) -> Load:
    """Return the sum of loads."""
    return reduce(Load.plus, loads, NOTHING)
