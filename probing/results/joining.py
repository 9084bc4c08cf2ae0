"""Joining the parts of a run, which several processes may have measured, to one result."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, Protocol

import numpy as np
import pandas as pd

from probing.analysis.breakdowns import BY_CULTURE
from probing.analysis.option_scores import VERSIONED
from probing.baselines import with_baselines
from probing.benchmark import Relation
from probing.files.folders import new_folder
from probing.plan import Part, Plan
from probing.results.completeness import all_skipped, check_complete, refuse_nothing_left
from probing.results.rescoring import digests, with_tags
from probing.results.result import Result, write_scores
from probing.results.rows import ITEMS, ROWS_KEPT, RowSchema, join, option_ranges, write_rows
from probing.results.token_scores import TOKENS_FILE, join_tokens
from probing.results.unknown_names import UNKNOWN_NAMES, all_unknown_names


class PartResult(NamedTuple):
    """The rows of a part and the record of how they were made: what run.json holds, of this part."""

    rows: pd.DataFrame
    record: dict[str, Any]


class StoredParts(Protocol):
    """Parts of a run whose rows are read one part at a time, twice each."""

    def rows(self, part: Part) -> pd.DataFrame: ...

    def records(self, covered: Sequence[Part]) -> Sequence[Mapping[str, Any]]:
        """Return how the parts were made: a record for each of them, or one for parts that were made together."""


@dataclass(frozen=True)
class PartsInMemory:
    """Parts of a run that one process has measured."""

    results: Mapping[Part, PartResult]

    def rows(self, part: Part) -> pd.DataFrame:
        return self.results[part].rows

    def records(self, covered: Sequence[Part]) -> list[dict[str, Any]]:
        return [self.results[part].record for part in covered]


def joined(measured: Mapping[Part, PartResult], plan: Plan) -> Result:
    """Return the result that parts in memory make; no folder is left."""
    with TemporaryDirectory() as scratch:
        result = joined_in_folder(PartsInMemory(measured), plan, Path(scratch) / "result")
        return replace(result, rows=result.items)


def joined_in_folder(
    stored: StoredParts,
    plan: Plan,
    folder: Path,
    *,
    keep_rows: bool = True,
    tokens: Sequence[Path] = (),
) -> Result:
    """Write and return the result that all parts make; raise `Incomplete` where rows are missing.

    The rows of one relation are in memory at a time. The result reads its rows from the folder when they are used.
    `tokens`: the files with the scores of the parts' tokens, which are joined to one.
    """
    covered, benchmark = plan.parts, plan.benchmark
    records = stored.records(covered)
    skipped = {"items_skipped": all_skipped(records)}
    rows, schema = _condensed(stored, plan, skipped)
    refuse_nothing_left(rows, skipped)
    record = merged(records) | skipped | digests(plan)  # parts whose rows are missing have no record
    result = Result(
        folder / ITEMS,
        with_baselines(plan.probe.scores(rows), rows, plan),
        record if keep_rows else {**record, ROWS_KEPT: False},
        option_ranges(plan),
    )
    del rows  # the condensed ones, which are not needed while the rows themselves are written
    with new_folder(folder) as new:
        frames = (with_tags(stored.rows(part), benchmark.select([part.relation]), plan.probe) for part in covered)
        write_rows(new / ITEMS, frames if keep_rows else (), schema.joined(), result.options)
        write_scores(new, result.scores, result.record)
        if tokens:
            join_tokens(tokens, new / TOKENS_FILE)
    return result


def _condensed(stored: StoredParts, plan: Plan, record: Mapping[str, Any]) -> tuple[pd.DataFrame, RowSchema]:
    """Return the condensed rows of all parts, which are checked, and the columns that the rows themselves have.

    Parts are taken together whose relations share an answer space.
    """
    schema = RowSchema()
    by_space: dict[tuple[str, ...], list[Part]] = {}
    for part in plan.parts:
        by_space.setdefault(_space(plan.relation(part)), []).append(part)
    condensed: dict[Part, pd.DataFrame] = {}
    for (label, *_), sharing in by_space.items():
        condensed |= _condensed_together(stored, sharing, record, plan.select(label), schema)
    return join(condensed[part] for part in plan.parts), schema


def _space(relation: Relation) -> tuple[str, ...]:
    """Return the name of a relation's answer space: its label, and the tags of its version if it has several."""
    tags = {name: value for name, value in relation.tags.items() if name in BY_CULTURE[VERSIONED]}
    whole = len(tags) == len(BY_CULTURE[VERSIONED]) - 1  # the relation itself is no tag
    return (relation.label, *map(str, tags.values())) if whole else (relation.label,)


def _condensed_together(
    stored: StoredParts,
    sharing: Sequence[Part],
    record: Mapping[str, Any],
    plan: Plan,
    schema: RowSchema,
) -> dict[Part, pd.DataFrame]:
    """Return the condensed rows of each of some parts, whose columns are added to the schema."""
    frames = [stored.rows(part) for part in sharing]
    rows = join(frames)
    check_complete(rows, plan, record, sharing)
    if len(rows):
        rows = with_tags(rows, plan.benchmark, plan.probe)
        schema.add(rows)
        rows = plan.probe.condensed(rows)
    ends = np.cumsum([len(frame) for frame in frames])
    return {part: rows.iloc[end - len(frame) : end] for part, frame, end in zip(sharing, frames, ends, strict=True)}


def merged(records: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return one record from those of the parts, which several processes may have made.

    Costs and the times of loading add up, notes are joined, as are the names of devices and processors, and memory is
    the largest; the rest is the newest part's.
    """
    by_age = sorted(records, key=lambda record: record["end"])
    whole = dict(by_age[-1])
    for name in ("statements", "positions", "padding", "items_done"):
        whole[name] = sum(record[name] for record in by_age)
    loads = {(record["start"], record["timing"]["load_seconds"]) for record in by_age}
    times = {
        "load_seconds": sum(seconds for _, seconds in loads),
        "score_seconds": sum(record["timing"]["score_seconds"] for record in by_age),
    }
    whole["start"] = min(start for start, _ in loads)
    whole["timing"] = {name: round(seconds, 3) for name, seconds in times.items()}
    notes = dict.fromkeys(note for record in by_age for note in record["batch"]["notes"])
    whole["batch"] = {**whole["batch"], "notes": list(notes)}
    for name in ("device", "processor"):
        if used := {record[name] for record in by_age if name in record}:
            whole[name] = ", ".join(sorted(used))
    whole[UNKNOWN_NAMES] = all_unknown_names(by_age)
    whole["peak_memory"] = dict(reduce(or_, (Counter(record["peak_memory"]) for record in by_age)))
    return whole
