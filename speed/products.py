"""What a network takes by the way its products are computed on this CPU: `python -m speed.products`.

SmolLM2-135M scores the same statements with products in float32 as torch computes them by itself, in float32 by oneDNN
where that is faster, and in bfloat16, in turns in this process. The ratio of bfloat16 for early decision bounds what
could be gained by deciding in bfloat16 first and in float32 among the options within a margin of the best.
"""

import argparse
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from statistics import median
from typing import Any
from unittest.mock import patch

import numpy as np

from probing.scoring import cpu_products
from probing.scoring.bfloat16_speed import speed_up
from probing.scoring.load import load
from speed.machine import describe
from speed.networks import smollm2_file
from speed.stored_results import show, store
from speed.systems import OptionScores, Ours
from speed.work import Workload, workload

BY_TORCH, CHOSEN, BFLOAT16 = "float32 by torch", "float32", "bfloat16"
COMPARED = ((BY_TORCH, CHOSEN), (CHOSEN, BFLOAT16))  # the slower and the faster way
ITEMS, ROUNDS = 6, 3  # items of each relation
BATCH_TOKENS = 512  # the same for all ways
PRODUCT_SECONDS = 5.0  # a slow processor may take so long for products of matrices in bfloat16

Seconds = Mapping[str, float]


def main() -> int:
    argparse.ArgumentParser(prog="python -m speed.products", description=__doc__).parse_args()
    exact, short = (
        load(str(smollm2_file()), device="cpu", dtype=dtype, batch_tokens=BATCH_TOKENS) for dtype in (CHOSEN, BFLOAT16)
    )
    models, work = {BY_TORCH: exact, CHOSEN: exact, BFLOAT16: short}, workload(ITEMS)
    systems = {
        name: {way: Ours(name, model, decide) for way, model in models.items()}
        for name, decide in (("full", 0), ("decide", 1))
    }
    rounds = {name: timed_rounds(by_way, work) for name, by_way in systems.items()}
    scores = {way: answers(system, way, work) for way, system in systems["full"].items()}
    results: dict[str, Any] = {
        "machine": describe(),
        "statements": work.statements,
        "bfloat16_products": round(speed_up(PRODUCT_SECONDS), 2),
        "compared": {
            f"{faster} against {slower}": {
                "ratios": {name: ratios(times, slower, faster) for name, times in rounds.items()},
                "largest_difference": float(f"{np.abs(differences(scores[slower], scores[faster])).max():.2g}"),
                **within_margin(scores[slower], scores[faster]),
            }
            for slower, faster in COMPARED
        },
    }
    store("products", results)
    show(results)
    return 0


@contextmanager
def products(way: str) -> Iterator[None]:
    """Have products computed by torch alone where the way says so."""
    chosen = cpu_products.onednn_is_faster() and way != BY_TORCH
    with patch.object(cpu_products, "onednn_is_faster", lambda: chosen):
        yield


def answers(system: Ours, way: str, work: Workload) -> list[OptionScores]:
    with products(way):
        return system(work)


def timed_rounds(systems: Mapping[str, Ours], work: Workload) -> Sequence[Seconds]:
    """Return the processor time of each way in each round, after a short run of all; every other round is reversed."""
    some, rounds = Workload(work.benchmark, work.relations, work.items[:2]), []
    for way, system in systems.items():
        answers(system, way, some)
    for number in range(ROUNDS):
        seconds = {}
        for way in list(systems)[:: 1 if number % 2 == 0 else -1]:
            begin = time.process_time()
            answers(systems[way], way, work)
            seconds[way] = time.process_time() - begin
        rounds.append(seconds)
    return rounds


def ratios(rounds: Sequence[Seconds], slower: str, faster: str) -> dict[str, Any]:
    """Return how many times less processor time the faster way took in each round, and the median."""
    times = [round(seconds[slower] / seconds[faster], 2) for seconds in rounds]
    return {"rounds": times, "median": median(times)}


def differences(some: Sequence[OptionScores], others: Sequence[OptionScores]) -> Any:
    return np.concatenate([other.scores - one.scores for one, other in zip(some, others, strict=True)])


def within_margin(exact: Sequence[OptionScores], short: Sequence[OptionScores]) -> dict[str, float]:
    """Return by how much scores of one item differ differently, and what a screen with this margin would leave open.

    `margin`: the largest difference of differences between two options of an item. `undecided`: the share of items in
    which the other way leaves several options within this margin of its best one.
    """
    margin = max(float(np.ptp(other.scores - one.scores)) for one, other in zip(exact, short, strict=True))
    undecided = np.mean([(other.scores > other.scores.max() - margin).sum() > 1 for other in short])
    return {"margin": float(f"{margin:.2g}"), "undecided": round(float(undecided), 2)}


if __name__ == "__main__":
    sys.exit(main())
