"""What it costs when the answer space grows: time follows the distinct prefixes, not the statements."""

import time
from statistics import median
from typing import Any

from probing.catalog import open_benchmark
from speed.lower_bounds import bounds
from speed.networks import Loaded
from speed.systems import Ours
from speed.work import Question, Work

SIZES = (10, 100, 1000)
TEMPLATE, SUBJECT = "[X] has something to do with [Y].", "Marie Curie"


def growth(loaded: Loaded, rounds: int) -> list[dict[str, Any]]:
    """The same subject with answer spaces of each size; one row per size."""
    system = Ours("full", loaded.ours())
    system(_work(SIZES[0]))  # the self-check is no part of the cost
    return [_row(loaded, system, _work(size), rounds) for size in SIZES]


def _work(size: int) -> Work:
    relations = open_benchmark("starter").relations
    labels = dict.fromkeys(item.subject for relation in relations for item in relation.items)
    options = tuple(labels)[:size]
    return Work("starter", (), (Question(TEMPLATE, SUBJECT, options, 0),))


def _row(loaded: Loaded, system: Ours, work: Work, rounds: int) -> dict[str, Any]:
    seen, bound = system.observe(work), bounds(loaded, work)
    seconds = median(_seconds(system, work) for _ in range(rounds))
    return {
        "options": len(work.questions[0].options),
        "statements": work.statements,
        "real_positions": bound.real,
        "distinct_prefixes": bound.distinct,
        "positions": seen.positions,
        "seconds": round(seconds, 3),
        "ms_per_statement": round(1000 * seconds / work.statements, 2),
        "ms_per_prefix": round(1000 * seconds / bound.distinct, 2),
    }


def _seconds(system: Ours, work: Work) -> float:
    begin = time.perf_counter()
    system(work)
    return time.perf_counter() - begin
