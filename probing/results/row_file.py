"""The file of a result's rows, items.parquet, which is written a piece at a time."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from probing.results.column_descriptions import item_column
from probing.results.option_labels import OptionRanges, ranges_as_json

ITEMS = "items.parquet"
OPTIONS = b"clozeboard.options"  # the key of the options in the metadata of items.parquet
GROUP_ROWS = 8192  # rows of a row group of the items: to read some rows, a reader reads only their groups
GROUP_BYTES = 2**23  # rows with many options make smaller groups, as a group is in memory while it is written


class RowSchema:
    """The columns of rows that come in several tables: those of all tables joined to one."""

    def __init__(self) -> None:
        self._first_rows: list[pa.Table] = []
        self._schemas: list[pa.Schema] = []

    def add(self, rows: pd.DataFrame) -> None:
        # A view of the first row would keep all rows in memory, and so would its lists.
        self._first_rows.append(pa.Table.from_pandas(rows.take([0]), preserve_index=False))
        self._schemas.append(pa.Schema.from_pandas(rows, preserve_index=False).remove_metadata())

    def joined(self) -> pa.Schema:
        """Return the schema that the joined tables have.

        The type of a column of lists or of mixed values depends on all of its cells, that of any other on its dtype.
        """
        whole = join(row.to_pandas() for row in self._first_rows)
        schema = pa.Schema.from_pandas(whole, preserve_index=False)
        types = pa.unify_schemas(self._schemas, promote_options="permissive")
        fields = [types.field(field.name) if whole[field.name].dtype == object else field for field in schema]
        return pa.schema(fields, schema.metadata)


def join(frames: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Return the rows of all parts, in the order given."""
    tables = list(frames)
    return pd.concat([table for table in tables if len(table)] or tables[:1], ignore_index=True)


def write_rows(path: Path, frames: Iterable[pd.DataFrame], schema: pa.Schema, options: OptionRanges) -> None:
    """Write rows that come in several tables, each of which may lack some columns of the schema.

    The file also has descriptions of the columns, and the labels of the options.
    """
    columns = [column.with_metadata({"description": item_column(column.name)}) for column in schema]
    described = pa.schema(columns, {**schema.metadata, OPTIONS: ranges_as_json(options).encode()})
    tables = (_table(frame, schema).cast(described) for frame in frames)
    with pq.ParquetWriter(path, described) as writer:
        for group in _groups(tables):
            writer.write_table(group, row_group_size=GROUP_ROWS)


def _table(rows: pd.DataFrame, schema: pa.Schema) -> pa.Table:
    empty = dict.fromkeys(name for name in schema.names if name not in rows.columns)
    return pa.Table.from_pandas(rows.assign(**empty), schema, preserve_index=False)


def _groups(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """Yield all rows in groups of `GROUP_ROWS`, or of fewer where these have more than about `GROUP_BYTES`."""
    waiting: list[pa.Table] = []
    for table in tables:
        for piece in _pieces(table):
            waiting.append(piece)
            rows = sum(map(len, waiting))
            if rows >= GROUP_ROWS or sum(part.nbytes for part in waiting) >= GROUP_BYTES:
                joined = pa.concat_tables(waiting)
                yield joined.slice(0, GROUP_ROWS)
                waiting = [joined.slice(GROUP_ROWS)] if rows > GROUP_ROWS else []
    if waiting:
        yield pa.concat_tables(waiting)


def _pieces(table: pa.Table) -> Iterator[pa.Table]:
    """Yield a table in pieces that are no larger than a group may be."""
    rows = max(min(GROUP_ROWS, GROUP_BYTES * len(table) // max(table.nbytes, 1)), 1)
    yield from (table.slice(start, rows) for start in range(0, len(table), rows))
