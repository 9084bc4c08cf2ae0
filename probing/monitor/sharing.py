"""The parts of a run, shared by the processes of a training that all have the same weights."""

import heapq
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import torch.distributed

from probing.errors import Incomplete, ProbingError
from probing.plan import Part

ResultT = TypeVar("ResultT")


def processes() -> tuple[int, int]:
    """Return the rank of this process and how many train together; 0 and 1 for a training in one process."""
    if not (torch.distributed.is_available() and torch.distributed.is_initialized()):
        return 0, 1
    return torch.distributed.get_rank(), torch.distributed.get_world_size()


def agreed(decision: bool) -> bool:
    """Return the decision of the first process in all of them, since their clocks differ."""
    rank, count = processes()
    if count == 1:
        return decision
    decisions: list[Any] = [decision if rank == 0 else None]
    torch.distributed.broadcast_object_list(decisions, src=0)
    return bool(decisions[0])


def shares(work: Mapping[Part, float], count: int) -> list[list[Part]]:
    """Divide parts into shares of about equal work: the largest part first, each to the share with the least work."""
    divided: list[list[Part]] = [[] for _ in range(count)]
    loads = [(0.0, number) for number in range(count)]
    for part in sorted(work, key=lambda part: -work[part]):
        load, number = heapq.heappop(loads)
        divided[number].append(part)
        heapq.heappush(loads, (load + work[part], number))
    return divided


def shared(work: Mapping[Part, float], do: Callable[[Part], ResultT]) -> dict[Part, ResultT]:
    """Do this process's share of the parts, and return the results of all processes.

    Every process must call it with the same parts. An error in one process is raised in all of them, because the
    others would wait for its results for ever.
    """
    rank, count = processes()
    if count == 1:
        return {part: do(part) for part in work}
    own: dict[Part, ResultT] = {}
    error: ProbingError | None = None
    try:
        own = {part: do(part) for part in shares(work, count)[rank]}
    except ProbingError as raised:
        error = raised
    except Exception as raised:  # of any kind, which another process may not be able to read
        error = Incomplete(f"Process {rank} of the training failed to probe: {type(raised).__name__}: {raised}")
    answers: list[Any] = [None] * count
    torch.distributed.all_gather_object(answers, (own, error))
    for _, problem in answers:
        if problem is not None:
            raise problem
    return {part: result for results, _ in answers for part, result in results.items()}
