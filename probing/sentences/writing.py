"""Writing of a long table piece by piece, as CSV, Parquet or JSON lines."""

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from probing.errors import BadInput
from probing.files.folders import alone, new_file, refuse_occupied


def write_csv(tables: Iterable[pd.DataFrame], file: IO[bytes]) -> None:
    """Write the tables as one CSV in UTF-8, with the names of the columns in its first line."""
    for number, table in enumerate(tables):
        file.write(table.to_csv(index=False, header=number == 0).encode())
        file.flush()


def write_json_lines(tables: Iterable[pd.DataFrame], file: IO[bytes]) -> None:
    """Write each row of the tables as a JSON object in a line of its own."""
    for table in tables:
        file.write(table.to_json(orient="records", lines=True, force_ascii=False, double_precision=15).encode())


def write_parquet(tables: Iterable[pd.DataFrame], file: IO[bytes]) -> None:
    """Write the tables as one Parquet file, with a row group for each."""
    writer: pq.ParquetWriter | None = None
    for table in tables:
        rows = pa.Table.from_pandas(table, preserve_index=False)
        writer = writer or pq.ParquetWriter(file, rows.schema)
        writer.write_table(rows)
    if writer:
        writer.close()


WRITERS: dict[str, Callable[[Iterable[pd.DataFrame], IO[bytes]], None]] = {
    ".csv": write_csv,
    ".jsonl": write_json_lines,
    ".parquet": write_parquet,
}


def refuse_bad_target(target: Path | None) -> None:
    """Raise `BadInput` where the file is there already, or its ending names none of the formats."""
    if target is None:
        return
    if target.suffix not in WRITERS:
        raise BadInput(f"{target} has no known ending.", f"Choose from: {', '.join(WRITERS)}.")
    refuse_occupied(target)


def write_tables(tables: Iterable[pd.DataFrame], target: Path | None) -> None:
    """Write the tables to a new file, in the format that its ending names, or as CSV to the standard output.

    The file is whole or absent.
    """
    if target is None:
        write_csv(tables, sys.stdout.buffer)
        return
    with alone(target), new_file(target) as path, path.open("wb") as file:
        WRITERS[target.suffix](tables, file)
