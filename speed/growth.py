"""The cost of larger answer spaces: time grows with the distinct prefixes, not with the statements."""

import time
from statistics import median
from typing import Any

from probing.catalog import open_benchmark
from speed.lower_bounds import lower_bounds
from speed.networks import LoadedNetwork
from speed.systems import Ours
from speed.work import ChoiceItem, Workload

SIZES = (10, 100, 1000)
TEMPLATE, SUBJECT = "[X] has something to do with [Y].", "Marie Curie"


def growth(loaded: LoadedNetwork, rounds: int) -> list[dict[str, Any]]:
    """Measure one subject with answer spaces of each size; return one row per size."""
    system = Ours("full", loaded.ours())
    system(_one_item(SIZES[0]))  # so that the model's self-check is not timed
    return [_growth_row(loaded, system, _one_item(size), rounds) for size in SIZES]


def _one_item(size: int) -> Workload:
    relations = open_benchmark("starter").relations
    labels = dict.fromkeys(item.subject for relation in relations for item in relation.items)
    options = tuple(labels)[:size]
    return Workload("starter", (), (ChoiceItem(TEMPLATE, SUBJECT, options, 0),))


def _growth_row(loaded: LoadedNetwork, system: Ours, workload: Workload, rounds: int) -> dict[str, Any]:
    observation, bound = system.observe(workload), lower_bounds(loaded, workload)
    seconds = median(_seconds(system, workload) for _ in range(rounds))
    return {
        "options": len(workload.items[0].options),
        "statements": workload.statements,
        "real_positions": bound.real,
        "distinct_prefixes": bound.distinct,
        "positions": observation.positions,
        "seconds": round(seconds, 3),
        "ms_per_statement": round(1000 * seconds / workload.statements, 2),
        "ms_per_prefix": round(1000 * seconds / bound.distinct, 2),
    }


def _seconds(system: Ours, workload: Workload) -> float:
    begin = time.perf_counter()
    system(workload)
    return time.perf_counter() - begin
