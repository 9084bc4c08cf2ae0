"""Times side by side, matrix products counted, and how good the first estimate of the time left was."""

import time
from collections.abc import Mapping, Sequence
from statistics import median
from typing import NamedTuple

import numpy as np
from torch.utils.flop_counter import FlopCounterMode

from speed.systems import Answer, Ours, Peer, Seen, System
from speed.work import Work

FIRST = 0.1  # the share of the work after which an estimate must be good


class Agreement(NamedTuple):
    """`difference`: largest between exact scores of the same option; `predictions`: share of questions that agree."""

    difference: float
    predictions: float


def counted(system: System, work: Work) -> tuple[Seen, float]:
    """What a system computes, and the floating-point operations of its matrix products, in 10⁹."""
    with FlopCounterMode(display=False) as counter:
        seen = system.observe(work)
    return seen, counter.get_total_flops() / 1e9


def side_by_side(systems: Sequence[System], work: Work, rounds: int) -> dict[str, list[float]]:
    """Seconds of each system in each round; the systems take turns, so that a slow minute hits them all."""
    seconds: dict[str, list[float]] = {system.name: [] for system in systems}
    for _ in range(rounds):
        for system in systems:
            begin = time.perf_counter()
            system(work)
            seconds[system.name].append(time.perf_counter() - begin)
    return seconds


def ratio(seconds: Mapping[str, Sequence[float]], slow: str, fast: str) -> float:
    """How many times faster, round by round; the median."""
    return median(a / b for a, b in zip(seconds[slow], seconds[fast], strict=True))


def best_batch(peers: Sequence[Peer], sample: Work) -> Peer:
    """The peer with the batch size that suits it best."""
    seconds = side_by_side(peers, sample, rounds=1)
    return min(peers, key=lambda peer: seconds[peer.name][0])


def agreement(answers: Sequence[Answer], reference: Sequence[Answer]) -> Agreement:
    pairs = list(zip(answers, reference, strict=True))
    differences = [np.abs(a.scores - b.scores)[a.exact & b.exact].max() for a, b in pairs]
    same = [a.scores.argmax() == b.scores.argmax() for a, b in pairs]
    return Agreement(float(max(differences)), float(np.mean(same)))


def accuracy(answers: Sequence[Answer], work: Work) -> float:
    return float(np.mean([a.scores.argmax() == question.answer for a, question in zip(answers, work, strict=True)]))


def estimate_error(system: Ours, work: Work) -> float:
    """Relative error of the whole time as estimated when a tenth of the statements is done.

    For full scoring: deciding tells its progress in steps, a first look and then prompt by prompt.
    """
    usage, before, begin = system.model.usage, system.model.usage.statements, time.perf_counter()
    estimates: list[float] = []

    def estimate() -> None:
        share = (usage.statements - before) / work.statements
        if share >= FIRST:
            estimates.append((time.perf_counter() - begin) / share)

    usage.on_work = estimate
    system(work)
    usage.on_work = None
    return estimates[0] / (time.perf_counter() - begin) - 1
