"""Single items of a finished run, read from its items.parquet: its rows in batches, the columns of a filter whole."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import IO, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from django.core.files.storage import storages
from numpy.typing import NDArray

from leaderboard.models import Run
from probing.errors import ProbingError
from probing.results.rows import OPTIONS, labels_of, ranges_from_json

BATCH_ROWS = 2048
FILE = "items.parquet"
LABELS = ("answer_label", "prediction_label")
SEARCHED = ("subject", *LABELS)
Row = dict[str, Any]


class ItemsMissing(ProbingError):
    """The run has no stored items: it is not finished, or its figures come from elsewhere."""

    code = "items-missing"


@dataclass(frozen=True)
class ItemFilter:
    """Conditions that an item must meet; an empty one is met by every item.

    `search`: text that occurs in one of the columns `SEARCHED`, in upper or lower case. `tags`: the value that an item
    must have in further columns; in a column of lists, one of the values.
    """

    correct: bool | None = None
    relation: str = ""
    template: int | None = None
    search: str = ""
    tags: Mapping[str, str | bool] | None = field(default=None, hash=False)

    @property
    def columns(self) -> list[str]:
        return [*self._values, *(SEARCHED if self.search else ())]

    @property
    def _values(self) -> dict[str, str | int]:
        return {
            **({} if self.correct is None else {"correct": self.correct}),
            **({"relation": self.relation} if self.relation else {}),
            **({} if self.template is None else {"template": self.template}),
            **(self.tags or {}),
        }

    def mask(self, items: pa.Table) -> NDArray[np.bool_]:
        """Return which rows pass; a missing value passes no condition."""
        passing = np.ones(len(items), bool)
        for name, value in self._values.items():
            passing &= _has(items[name].combine_chunks(), value)
        if self.search:
            texts = [items[name].combine_chunks() for name in SEARCHED if name in items.column_names]
            passing &= np.logical_or.reduce([_contains(text, self.search) for text in texts])
        return passing


def _has(column: pa.Array, value: str | int) -> NDArray[np.bool_]:
    """Return where the column has the value; in a column of lists, where the list has it."""
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        lists = pc.list_parent_indices(column).filter(_has(pc.list_flatten(column), value))
        return np.isin(np.arange(len(column)), lists)
    try:
        return np.asarray(pc.fill_null(pc.equal(column, value), False))
    except pa.ArrowNotImplementedError:  # text is compared with numbers: no row has the value
        return np.zeros(len(column), bool)


def _contains(column: pa.Array, text: str) -> NDArray[np.bool_]:
    """Return where the column contains the text; nowhere unless it is a column of texts."""
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return np.zeros(len(column), bool)
    return np.asarray(pc.fill_null(pc.match_substring(column, text, ignore_case=True), False))


@contextmanager
def opened(run: Run) -> Iterator[IO[bytes]]:
    """Open the run's items.parquet; raise `ItemsMissing` if there is none."""
    storage, name = storages["artefacts"], f"{run.artefact}/{FILE}"
    if run.state != Run.State.FINISHED or not run.artefact or not storage.exists(name):
        raise ItemsMissing("This run has no items to show.", "Items are stored once a run measured here has finished.")
    with storage.open(name) as file:
        yield file


def names(run: Run) -> list[str]:
    with opened(run) as file:
        return list(pq.ParquetFile(file).schema_arrow.names)


def ends(run: Run) -> dict[str, set[Any]]:
    """Return, by column, the least and the greatest value, and None if a value is missing.

    A set of one element means that all rows have the same value. The statistics in the file are enough for that, and
    no row is read. Columns without statistics count as having different values.
    """
    values: dict[str, set[Any]] = {}
    with opened(run) as file:
        metadata = pq.ParquetFile(file).metadata
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        for column in map(group.column, range(metadata.num_columns)):
            values.setdefault(column.path_in_schema.split(".")[0], set()).update(_ends(column))
    return values


def _ends(column: pq.ColumnChunkMetaData) -> list[Any]:
    statistics = column.statistics
    missing = [None] if statistics and statistics.null_count else []
    if statistics and statistics.has_min_max:
        return [statistics.min, statistics.max, *missing]
    return missing if statistics and statistics.null_count == column.num_values else [object(), object()]


def find(run: Run, conditions: ItemFilter) -> Sequence[int]:
    """Return the numbers of the rows that pass, in stored order.

    They are remembered, so that turning the pages of a search scans the rows once.
    """
    if conditions.columns:
        numbers: list[int] = matching(run, run.artefact, conditions).tolist()
        return numbers
    with opened(run) as file:
        return range(pq.read_metadata(file).num_rows)


@lru_cache(maxsize=16)
def matching(run: Run, artefact: str, conditions: ItemFilter) -> NDArray[np.int32]:
    """Return the numbers of the rows of a result that pass; the files of a result never change."""
    with opened(run) as file:
        items = pq.ParquetFile(file).read(columns=conditions.columns)
    passing: NDArray[np.int32] = np.flatnonzero(conditions.mask(items)).astype(np.int32)
    return passing


def rows(run: Run, numbers: Sequence[int], columns: Sequence[str] | None = None) -> Iterator[Row]:
    """Yield the rows of these ascending numbers; `columns` None reads all columns."""
    ascending = np.asarray(numbers, dtype=np.int64)
    with opened(run) as file:
        parquet = pq.ParquetFile(file)
        for group, start in _groups_with(parquet.metadata, ascending):
            for batch in parquet.iter_batches(BATCH_ROWS, row_groups=[group], columns=columns):
                first, after = np.searchsorted(ascending, (start, start + batch.num_rows)).tolist()
                yield from batch.take(pa.array(ascending[first:after] - start)).to_pylist()
                start += batch.num_rows
                if after == len(ascending):
                    return


def _groups_with(metadata: pq.FileMetaData, ascending: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Yield the row groups that have any of these rows, each with the number of its first row."""
    start = 0
    for group in range(metadata.num_row_groups):
        end = start + metadata.row_group(group).num_rows
        if np.searchsorted(ascending, start) < np.searchsorted(ascending, end):
            yield group, start
        start = end


def frame(run: Run, columns: Sequence[str], relation: str = "") -> pd.DataFrame:
    """Return those of the columns that are stored, of all rows or of one relation's, in stored order.

    All values of these columns are in memory at once, so ask for no more of them than are needed.
    """
    conditions = [("relation", "==", relation)] if relation else None
    with opened(run) as file:
        stored = pq.read_schema(file).names
        file.seek(0)
        chosen = [name for name in stored if name in columns]
        table = pq.read_table(file, columns=chosen, filters=conditions)
    rows: pd.DataFrame = table.to_pandas()
    return rows


def option_names(run: Run, relation: str, index: int) -> tuple[str, ...]:
    """Return the options of an item in stored order; none in a file from before options were stored."""
    with opened(run) as file:
        ranges = ranges_from_json((pq.read_schema(file).metadata or {}).get(OPTIONS, b"{}"))
    return labels_of(ranges, relation, index) if relation in ranges else ()


def of_item(run: Run, relation: str, index: int) -> dict[int, Row]:
    """Map each template to the row of an item with all its columns; nothing if the run was not asked the item."""
    return {row["template"]: row for row in answers(run, relation, [index], names(run))}


def answers(run: Run, relation: str, indices: Collection[int], columns: Sequence[str]) -> list[Row]:
    """Return the rows of items of one relation, one for each template, with those of the columns that are stored.

    Only the row groups that can have the items are read.
    """
    with opened(run) as file:
        stored = pq.read_schema(file).names
        file.seek(0)
        chosen = [name for name in stored if name in {"template", "index", *columns}]
        filters = [("relation", "==", relation), ("index", "in", list(indices))]
        table = pq.read_table(file, columns=chosen, filters=filters)
    return sorted(table.to_pylist(), key=lambda row: int(row["template"]))
