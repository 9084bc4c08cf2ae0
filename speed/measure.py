"""Measurements of a system in this process: its matrix products, and the error of the time estimate."""

import time
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
import torch
from torch.utils.flop_counter import FlopCounterMode

from speed.systems import Observation, OptionScores, Ours
from speed.work import Workload

ESTIMATED_AFTER = 0.1  # the share of the work after which the estimate of the whole time is judged


def observe_operations(system: Ours, workload: Workload) -> tuple[Observation, float]:
    """Observe a system and count the floating-point operations of its matrix products, in 10⁹."""
    with FlopCounterMode(display=False, custom_mapping={torch.ops.mkldnn._linear_pointwise: _linear_flop}) as counter:
        observation = system.observe(workload)
    return observation, counter.get_total_flops() / 1e9


def _linear_flop(states: Sequence[int], weight: Sequence[int], *others: Any, out_shape: Sequence[int], **_: Any) -> int:
    """Return the operations of a linear layer by oneDNN, which torch does not count, from the shapes."""
    return 2 * prod(out_shape) * weight[1]


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
