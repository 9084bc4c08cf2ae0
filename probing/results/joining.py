"""Joining the parts of a run, which several processes may have measured, to one result."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from operator import or_
from typing import Any, NamedTuple

import pandas as pd

from probing.benchmark import Benchmark
from probing.probes import probe_of
from probing.results.kept_rows import ROWS_KEPT
from probing.results.option_labels import option_ranges
from probing.results.rescoring import all_scores, digests, is_option_only, with_tags
from probing.results.result import Result, check_complete, join
from probing.results.skipped_items import all_skipped, refuse_nothing_left
from probing.settings import Settings


class PartResult(NamedTuple):
    """The rows of a part and the record of how they were made: what run.json holds, of this part."""

    rows: pd.DataFrame
    record: dict[str, Any]


def joined(finished: Sequence[PartResult], benchmark: Benchmark, settings: Settings) -> Result:
    """Return the result that all parts make; raise `Incomplete` where rows are missing."""
    rows = join(part.rows for part in finished)
    skipped = {"items_skipped": all_skipped(part.record for part in finished)}
    check_complete(rows, benchmark, settings, skipped)
    refuse_nothing_left(rows, skipped)
    rows = with_tags(rows, benchmark, probe_of(settings))
    record = merged(part.record for part in finished) | skipped | digests(benchmark, settings)
    scores = all_scores(rows, benchmark, settings, option_only=is_option_only(record))
    return Result(rows, scores, record, option_ranges(benchmark, settings))


def without_rows(result: Result) -> Result:
    """Return the same result with its scores and the names of its columns, but no rows."""
    return replace(result, items=result.items.iloc[:0], record={**result.record, ROWS_KEPT: False})


def merged(records: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return one record from those of the parts, which several processes may have made.

    Costs and the times of loading add up, notes are joined, memory is the largest; the rest is the newest part's.
    `workers` counts the items of each worker elsewhere, if there were any.
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
    workers: Counter[str] = Counter()
    for record in by_age:
        if "worker" in record:
            workers[record["worker"]] += record["items_done"]
    if workers:
        whole["workers"] = dict(workers)
    whole.pop("worker", None)
    whole["peak_memory"] = dict(reduce(or_, (Counter(record["peak_memory"]) for record in by_age)))
    return whole
