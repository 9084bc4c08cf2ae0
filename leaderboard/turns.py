"""Fair turns: the order in which runs are worked on. It needs no database, so that it can be simulated.

Submitters take turns: the first open run of each comes before the second open run of anybody. Among runs of the same
round, the submitter comes first who has been without a worker for the longest time. No submitter waits for ever,
because one who was served goes to the end of the line. Workers that find every run taken share the runs of others.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple


class OpenTurn(NamedTuple):
    """An unfinished run that can be worked on now.

    `submitted`: a time in seconds since any fixed moment. `begun`: whether a worker has begun it. `workers`: how many
    work on it now. `has_work`: whether there is something to do for one more worker.
    """

    run: int
    submitter: str
    submitted: float
    begun: bool = False
    workers: int = 0
    has_work: bool = True


def in_turn(runs: Iterable[OpenTurn], served: Mapping[str, float]) -> list[OpenTurn]:
    """Return all open runs of a lane in the order in which workers take them.

    `served` maps submitters to the time at which their last run ended. Runs without a worker come first; the others
    follow for workers that would be idle, those with the fewest workers first.
    """
    numbers: dict[str, int] = defaultdict(int)
    keyed = []
    for turn in sorted(runs, key=lambda turn: (not turn.workers, turn.submitted, turn.run)):
        numbers[turn.submitter] += 1  # the round of the run: those with a worker are counted first
        waits_since = max(turn.submitted, served.get(turn.submitter, turn.submitted))
        keyed.append((turn.workers, numbers[turn.submitter], waits_since, turn.submitted, turn.run, turn))
    return [key[-1] for key in sorted(keyed)]
