"""Checks that a run has exactly one row for each item of each of its parts, but for those that it leaves out.

Items that are too long for the model are left out: the run's record names them, and they are counted and put in words.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from probing.benchmark import ROW_KEY, Benchmark, Relation
from probing.errors import Incomplete, TooLong
from probing.plan import Part, Plan
from probing.probes.probe import Row

AGAIN = "Run it again: complete parts are not repeated."
Record = Mapping[str, Any]
RELATIONS_NAMED = 10


def check_complete(rows: pd.DataFrame, plan: Plan, record: Record, covered: Sequence[Part] = ()) -> None:
    """Raise `Incomplete` unless each item of each part has exactly one row, with finite scores.

    `record`: what run.json holds; items that it names as too long for the model have no row. Rows of a probe that does
    not score options have no scores. `covered`: the parts whose rows these are, all of the run by default.
    """
    expected = _expected(covered or plan.parts, plan.benchmark, record)
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


def too_long_items(relation: Relation, template: int, answers: Sequence[Row | TooLong]) -> list[dict[str, Any]]:
    """Return the entry of a record with the items of a part that are too long; none if all items fit.

    `answers`: the row of each of the relation's items, or the error that it is too long.
    """
    pairs = list(zip(relation.items, answers, strict=True))
    limits = [answer.limit for _, answer in pairs if isinstance(answer, TooLong)]
    if not limits:
        return []
    why = f"longer than the {limits[0]:,} tokens that the model takes"
    indices = [item.index for item, answer in pairs if isinstance(answer, TooLong)]
    entry = {"relation": relation.id, "items": len(indices), "why": why, "template": template, "indices": indices}
    return [entry]


def left_out(record: Record, part: Part) -> frozenset[int]:
    """Return the indices of the items of a part that a record names as too long."""
    entries = _too_long(record)
    return frozenset(
        index
        for entry in entries
        if (entry["relation"], entry["template"]) == (part.relation, part.template)
        for index in entry["indices"]
    )


def count_left_out(record: Record) -> int:
    """Return how many items are too long, each counted once, whatever the number of its wordings."""
    return len({(entry["relation"], index) for entry in _too_long(record) for index in entry["indices"]})


def without(relation: Relation, indices: frozenset[int]) -> Relation:
    """Return a relation without the items of these indices."""
    return relation.asking([item for item in relation.items if item.index not in indices])


def no_rows() -> pd.DataFrame:
    """Return the rows of a part of which every item is too long."""
    return pd.DataFrame(columns=ROW_KEY)


def refuse_nothing_left(rows: pd.DataFrame, record: Record) -> None:
    """Raise `TooLong` if no item of a run was asked because not a single one fits into the model's context.

    Rows of items that cannot be put to the model for another reason have no value in `correct`.
    """
    nothing_asked = rows["correct"].isna().all() if "correct" in rows else len(rows) == 0
    if nothing_asked and (entries := _too_long(record)):
        raise TooLong(
            f"Not a single item can be asked: all {count_left_out(record):,} are {entries[0]['why']}.",
            "Choose a model that takes longer texts, or a benchmark or prompting with shorter ones.",
        )


def all_skipped(records: Iterable[Record]) -> list[dict[str, Any]]:
    """Return the entries of several parts' records, each of them once."""
    entries = {
        (entry["relation"], entry.get("template")): entry for r in records for entry in r.get("items_skipped", [])
    }
    return list(entries.values())


def skipped_in_words(record: Record) -> list[str]:
    """Return a sentence for each reason why items were not asked, with their number and relations."""
    by_reason: dict[str, list[Mapping[str, Any]]] = {}
    for entry in record.get("items_skipped", []):
        by_reason.setdefault(str(entry["why"]), []).append(entry)
    return [_in_words(reason, entries) for reason, entries in by_reason.items()]


def _in_words(reason: str, entries: Sequence[Mapping[str, Any]]) -> str:
    relations = list(dict.fromkeys(str(entry["relation"]) for entry in entries))
    named = ", ".join(relations[:RELATIONS_NAMED])
    more = len(relations) - RELATIONS_NAMED
    count = count_left_out({"items_skipped": entries}) or sum(entry["items"] for entry in entries)
    words = "item was not asked" if count == 1 else "items were not asked"
    return f"{count:,} {words} ({reason}): {named}{f' and {more} more' if more > 0 else ''}."


def _too_long(record: Record) -> list[Mapping[str, Any]]:
    return [entry for entry in record.get("items_skipped", []) if "indices" in entry]
