"""Checks that a run has exactly one row for each item of each of its parts."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from probing.benchmark import ROW_KEY, Benchmark
from probing.errors import Incomplete
from probing.plan import Part, Plan
from probing.results.skipped_items import left_out, without

AGAIN = "Run it again: complete parts are not repeated."


def check_complete(rows: pd.DataFrame, plan: Plan, record: Mapping[str, Any]) -> None:
    """Raise `Incomplete` unless each item of each part has exactly one row, with finite scores.

    `record`: what run.json holds; items that it names as too long for the model have no row. Rows of a probe that does
    not score options have no scores.
    """
    check_parts(rows, plan.parts, plan.benchmark, record)


def check_parts(rows: pd.DataFrame, covered: Iterable[Part], chosen: Benchmark, record: Mapping[str, Any]) -> None:
    """Check in the same way that these are the rows of some parts of a run.

    `chosen`: the benchmark with the items that the run asks.
    """
    expected = _expected(covered, chosen, record)
    keys = list(zip(*(rows[column].tolist() for column in ROW_KEY), strict=True)) if len(rows) else []
    missing = expected.keys() - set(keys)
    if missing:
        first = next(key for key in expected if key in missing)
        raise Incomplete(f"{len(missing)} of {len(expected)} rows are missing, the first is {_row(first)}.", AGAIN)
    if len(keys) != len(expected):
        raise Incomplete(f"There are {len(keys)} rows for {len(expected)} items and templates.", AGAIN)
    for key, scores in zip(keys, rows["scores"], strict=True) if "scores" in rows else ():
        if len(scores) != expected[key] or not np.isfinite(np.asarray(scores, dtype=float)).all():
            raise Incomplete(f"The scores of {_row(key)} are not all there.", AGAIN)


def _expected(covered: Iterable[Part], chosen: Benchmark, record: Mapping[str, Any]) -> dict[tuple[str, int, int], int]:
    """Return how many scores each row must have."""
    return {
        (relation.label, part.template, item.index): len(relation.options_of(item))
        for part in covered
        for relation in [without(chosen[part.relation], left_out(record, part))]
        for item in relation.items
    }


def _row(key: tuple[str, int, int]) -> str:
    return f"relation {key[0]}, template {key[1]}, item {key[2]}"
