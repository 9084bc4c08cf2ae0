"""The line of runs that wait to be measured: the queues, the rule of their order, and the order itself.

Each submitter has at most two runs in a queue of RQ, which is worked off from its front. The others wait in the
database; as soon as a worker begins a run, the oldest of its submitter's others is put in at the end. So nobody waits
for more than two runs of any other submitter, however many that submitter has sent, and no worker is idle while a run
waits.
"""

from collections import defaultdict, deque
from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from django.conf import settings

MEASURE, LARGE = "measure", "measure-large"
QUEUES = (MEASURE, LARGE)  # of runs to be measured; large models do not keep small ones waiting
CHECKS, FINISH = "checks", "finish"  # of submissions to be checked, and of what follows a measurement; no GPU
MOST_STANDING = 2  # runs of one submitter that stand in a queue of RQ


class Waiting(NamedTuple):
    """A queued run. `standing`: when it was put into RQ, None where it waits in the database."""

    run: int
    submitter: str
    standing: datetime | None = None


def queue_of(weight_bytes: int | None) -> str:
    """Return the queue of a model with this many bytes of weights; one of unknown size counts as small."""
    return LARGE if (weight_bytes or 0) > settings.LARGE_MODEL else MEASURE


def in_line(runs: Iterable[Waiting]) -> list[int]:
    """Return the queued runs of one queue in the order in which workers begin them.

    `runs`: in the order of their submission. Those that wait in the database enter as the rule says.
    """
    standing: list[Waiting] = []
    others: dict[str, deque[Waiting]] = defaultdict(deque)
    for run in runs:
        if run.standing is None:
            others[run.submitter].append(run)
        else:
            standing.append(run)
    line = deque(sorted(standing, key=lambda run: (run.standing, run.run)))
    counts: dict[str, int] = defaultdict(int)
    for run in line:
        counts[run.submitter] += 1
    for submitter, waiting in others.items():  # whose place in RQ is free at this moment
        line.extend(waiting.popleft() for _ in range(min(MOST_STANDING - counts[submitter], len(waiting))))
    order = []
    while line:
        run = line.popleft()
        order.append(run.run)
        if others[run.submitter]:
            line.append(others[run.submitter].popleft())
    return order
