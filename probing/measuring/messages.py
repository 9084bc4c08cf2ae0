"""Messages between a worker and its measuring process: one JSON object per line, over the process's pipes.

The worker sends a `Task` and then parts; after them perhaps another task of the same model. The process answers with
events: `phase` (it begins another phase), `loaded` (the model is ready), `progress` (share of the part that is done),
`part` (its rows are stored in a file) and `error`.

The worker trusts no event: the process has read files of strangers. Rows of a part that are too large, or no table of
this part, are refused.
"""

import json
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from probing.benchmark import ROW_KEY
from probing.plan import Part
from probing.settings import Settings

ROWS_FILE = "rows.parquet"  # the one file that the process may write
LINE_LIMIT = 1_000_000  # bytes of one message
ROWS_LIMIT = 200 * 10**6  # bytes of a Parquet file
UNPACKED_LIMIT = 10**9
VALUE_BYTES = 8  # of a number
COLUMNS_LIMIT = 200
BATCH_ROWS = 1024  # that are unpacked at a time
TOO_LARGE = "they are larger than rows can be"


@dataclass(frozen=True)
class BenchmarkFiles:
    """Where a benchmark's files are, how they are read, and the digest that they must have."""

    format: str
    folder: Path
    slug: str
    digest: str


@dataclass(frozen=True)
class Task:
    """What is to be measured. `model`: a folder in Hugging Face format or a GGUF file, already checked.

    `adapter`: the folder of a LoRA adapter that is merged into it, checked as well, None without one. `hub_id`,
    `commit` and `adapter_commit` are recorded as the model's identity; with an adapter, `hub_id` is `model+adapter`.
    `device` and `batch_tokens`: as of `scoring.load`.
    """

    model: Path
    hub_id: str
    commit: str
    benchmark: BenchmarkFiles
    settings: Settings = field(default_factory=Settings)
    device: str = "auto"
    batch_tokens: int | None = None
    adapter: Path | None = None
    adapter_commit: str = ""

    @property
    def adapter_identity(self) -> str:
        """The id of the adapter with its commit, as a model's card has it; empty without one."""
        return f"{self.hub_id.partition('+')[2]}@{self.adapter_commit}" if self.adapter else ""

    def to_json(self) -> dict[str, Any]:
        return {
            **{name: getattr(self, name) for name in ("hub_id", "commit", "device", "batch_tokens", "adapter_commit")},
            "model": str(self.model),
            "adapter": str(self.adapter) if self.adapter else None,
            "benchmark": asdict(self.benchmark) | {"folder": str(self.benchmark.folder)},
            "settings": self.settings.to_json(),
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Task":
        """Read what `to_json` wrote."""
        benchmark = values["benchmark"]
        return cls(
            **{
                **values,
                "model": Path(values["model"]),
                "adapter": Path(values["adapter"]) if values["adapter"] else None,
                "benchmark": BenchmarkFiles(**{**benchmark, "folder": Path(benchmark["folder"])}),
                "settings": Settings.from_json(values["settings"]),
            }
        )


def send(stream: IO[bytes], message: Mapping[str, Any]) -> None:
    """Write one message; raise `BrokenPipeError` if the other side has ended."""
    stream.write(json.dumps(message).encode() + b"\n")
    stream.flush()


def receive(stream: IO[bytes]) -> dict[str, Any] | None:
    """Read one message, None at the end of the stream; raise `ValueError` if the line is not a message."""
    line = stream.readline(LINE_LIMIT)
    if not line:
        return None
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        message = None
    if not line.endswith(b"\n") or not isinstance(message, dict):
        raise ValueError(f"no message, but {line[:100]!r}")
    return message


class UnfitRows(ValueError):
    """A file does not hold the rows of the part; the text says why."""


def read_tables(file: IO[bytes], counts: Sequence[int]) -> Iterator[pa.Table]:
    """Read a Parquet file in tables of so many rows, one after the other; raise `UnfitRows`.

    Sizes are compared before anything is unpacked.
    """
    try:
        parquet = pq.ParquetFile(file)
        _refuse_size(parquet.metadata, sum(counts))
        batches, waiting = _batches(file, parquet), parquet.schema_arrow.empty_table()
        for count in counts:
            while len(waiting) < count:
                waiting = pa.concat_tables([waiting, next(batches)])
            yield waiting.slice(0, count)
            waiting = waiting.slice(count)
    except UnfitRows:
        raise
    except (pa.ArrowException, OSError, ValueError, MemoryError, StopIteration) as error:
        raise UnfitRows("they are not a readable Parquet file") from error


def _batches(file: IO[bytes], parquet: pq.ParquetFile) -> Iterator[pa.Table]:
    """Yield the rows of a file, some at a time.

    A file states a text once that many of its rows have. Rows are therefore read with a reference in place of each
    text, and the texts are put in only if they are not too large together.
    """
    columns = [parquet.schema.column(number) for number in range(parquet.metadata.num_columns)]
    texts = [column.path for column in columns if column.physical_type == "BYTE_ARRAY"]
    size = 0
    for batch in pq.ParquetFile(file, read_dictionary=texts).iter_batches(BATCH_ROWS):
        size += sum(map(_unpacked_bytes, batch.columns))
        if size > UNPACKED_LIMIT:
            raise UnfitRows(TOO_LARGE)
        yield pa.Table.from_batches([batch]).cast(parquet.schema_arrow)


def _unpacked_bytes(column: pa.Array) -> int:
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        return _unpacked_bytes(column.flatten())
    if not pa.types.is_dictionary(column.type):
        return int(column.nbytes)
    return pc.sum(pc.binary_length(column.dictionary).take(column.indices)).as_py() or 0


def _refuse_size(metadata: pq.FileMetaData, count: int) -> None:
    if metadata.num_rows != count:
        raise UnfitRows(f"there are {metadata.num_rows} rows for {count} items")
    if metadata.num_columns > COLUMNS_LIMIT:
        raise UnfitRows(TOO_LARGE)
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    values = sum(group.column(number).num_values for group in groups for number in range(metadata.num_columns))
    if max(sum(group.total_byte_size for group in groups), values * VALUE_BYTES) > UNPACKED_LIMIT:
        raise UnfitRows(TOO_LARGE)


def read_part(path: Path, part: Part, skipped: frozenset[int] = frozenset()) -> pd.DataFrame:
    """Return the rows of `part` in a file whose writer may still run; raise `UnfitRows` or `OSError`.

    The relation of `part` is named by its label, as in rows. `skipped`: the indices of its items that are too long for
    the model and have no row.
    """
    (table,) = read_tables(BytesIO(_content(path)), [part.items - len(skipped)])
    rows: pd.DataFrame = table.to_pandas()
    if not {*ROW_KEY} <= set(rows.columns):
        raise UnfitRows(f"the columns {', '.join(ROW_KEY)} are missing")
    if rows["index"].isin(skipped).any():
        raise UnfitRows("an item that was left out has a row")
    of_part = (rows["relation"] == part.relation) & (rows["template"] == part.template)
    if not of_part.all() or rows.duplicated(ROW_KEY).any():
        raise UnfitRows("they are of another part, or some of them are there twice")
    if not _finite(rows):
        raise UnfitRows("not all numbers are finite")
    return rows


def _content(path: Path) -> bytes:
    """Read a plain file that is no larger than rows can be; follow no link, and wait for nobody."""
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise UnfitRows("they are not in a file")
        content = file.read(ROWS_LIMIT + 1)
    if len(content) > ROWS_LIMIT:
        raise UnfitRows(TOO_LARGE)
    return content


def _finite(rows: pd.DataFrame) -> bool:
    """Tell whether no number is infinite, and every score is a number; other numbers may be missing."""
    columns = [column.to_numpy(float, na_value=np.nan) for _, column in rows.items() if column.dtype.kind == "f"]
    scores = [np.asarray(cell, dtype=float) for cell in rows["scores"]] if "scores" in rows else []
    return not any(np.isinf(column).any() for column in columns) and all(np.isfinite(cell).all() for cell in scores)
