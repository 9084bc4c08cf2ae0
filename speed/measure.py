"""Measurements of systems: times taken in turns, matrix products, agreement, and the error of the time estimate."""

import time
from collections.abc import Mapping, Sequence
from statistics import median
from typing import NamedTuple

import numpy as np
from torch.utils.flop_counter import FlopCounterMode

from speed.systems import Observation, OptionScores, Ours, Peer, System
from speed.work import Workload

ESTIMATED_AFTER = 0.1  # the share of the work after which the estimate of the whole time is judged


class Agreement(NamedTuple):
    """`difference`: largest between exact scores of the same option; `predictions`: share of items that agree."""

    difference: float
    predictions: float


def observe_operations(system: System, workload: Workload) -> tuple[Observation, float]:
    """Observe a system and count the floating-point operations of its matrix products, in 10⁹."""
    with FlopCounterMode(display=False) as counter:
        observation = system.observe(workload)
    return observation, counter.get_total_flops() / 1e9


def side_by_side(systems: Sequence[System], workload: Workload, rounds: int) -> dict[str, list[float]]:
    """Measure the seconds of each system in each round.

    The systems take turns, so that a time when the machine is slow affects all of them.
    """
    seconds: dict[str, list[float]] = {system.name: [] for system in systems}
    for _ in range(rounds):
        for system in systems:
            begin = time.perf_counter()
            system(workload)
            seconds[system.name].append(time.perf_counter() - begin)
    return seconds


def ratio(seconds: Mapping[str, Sequence[float]], slow: str, fast: str) -> float:
    """Return how many times faster one system is than another: the median of the rounds' ratios."""
    return median(a / b for a, b in zip(seconds[slow], seconds[fast], strict=True))


def best_batch(peers: Sequence[Peer], sample: Workload) -> Peer:
    """Return the peer whose batch size is the fastest on a sample."""
    seconds = side_by_side(peers, sample, rounds=1)
    return min(peers, key=lambda peer: seconds[peer.name][0])


def agreement(scores: Sequence[OptionScores], reference: Sequence[OptionScores]) -> Agreement:
    pairs = list(zip(scores, reference, strict=True))
    differences = [np.abs(a.scores - b.scores)[a.exact & b.exact].max() for a, b in pairs]
    same = [a.scores.argmax() == b.scores.argmax() for a, b in pairs]
    return Agreement(float(max(differences)), float(np.mean(same)))


def accuracy(scores: Sequence[OptionScores], workload: Workload) -> float:
    hits = [own.scores.argmax() == item.right for own, item in zip(scores, workload, strict=True)]
    return float(np.mean(hits))


def estimate_error(system: Ours, workload: Workload) -> float:
    """Return the relative error of the whole time as estimated when a tenth of the statements is done.

    It is measured for full scoring, which reports progress evenly; early decision reports it in steps.
    """
    usage, before, begin = system.model.usage, system.model.usage.statements, time.perf_counter()
    estimates: list[float] = []

    def estimate() -> None:
        share = (usage.statements - before) / workload.statements
        if share >= ESTIMATED_AFTER:
            estimates.append((time.perf_counter() - begin) / share)

    usage.on_work = estimate
    system(workload)
    usage.on_work = None
    return estimates[0] / (time.perf_counter() - begin) - 1
