"""The scores of single tokens in files of their own: written part by part, joined and read again."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from probing.benchmark import ROW_KEY
from probing.errors import BadInput, TooLong
from probing.files.folders import new_file
from probing.probes.choices import ItemTokens
from probing.probes.probe import Row

TOKENS_FILE = "tokens.parquet"
# Networks compute log-probabilities in single precision, so that nothing is lost by storing them in it.
SCHEMA = pa.schema(
    [
        ("relation", pa.string()),
        ("template", pa.int32()),
        ("index", pa.int32()),
        ("option", pa.int32()),
        ("position", pa.int32()),
        ("token", pa.string()),
        ("role", pa.string()),
        ("log_prob", pa.float32()),
    ]
)
# Tokens that are held in memory before they are written: a piece has whole items, and at least this many tokens.
TOKENS_PER_PIECE = 2**16


def write_tokens(target: Path, answers: Iterable[tuple[Row, ItemTokens] | TooLong]) -> list[Row | TooLong]:
    """Write the tokens of all items of a part as they come, and return the rows; the file is whole or absent.

    The error that an item is too long is returned in place of its row.
    """
    rows: list[Row | TooLong] = []
    waiting: list[pa.Table] = []
    with new_file(target) as path, pq.ParquetWriter(path, SCHEMA) as writer:
        for answer in answers:
            if isinstance(answer, TooLong):
                rows.append(answer)
                continue
            row, tokens = answer
            rows.append(row)
            waiting.append(_table(row, tokens))
            if sum(map(len, waiting)) >= TOKENS_PER_PIECE:
                writer.write_table(pa.concat_tables(waiting))
                waiting.clear()
        if waiting:
            writer.write_table(pa.concat_tables(waiting))
    return rows


def _table(row: Row, tokens: ItemTokens) -> pa.Table:
    key = {name: np.full(len(tokens.option), row[name]) for name in ROW_KEY}
    return pa.Table.from_pydict(key | tokens._asdict(), SCHEMA)


def join_tokens(parts: Sequence[Path], target: Path) -> None:
    """Write the tokens of all parts into one file, a piece at a time."""
    with pq.ParquetWriter(target, SCHEMA) as writer:
        for path in parts:
            for piece in _pieces(path):
                writer.write_table(piece)


def read_tokens(path: Path) -> Iterator[pd.DataFrame]:
    """Yield the tokens of a result a piece at a time; an item is never cut in two."""
    return (piece.to_pandas() for piece in _pieces(path))


def _pieces(path: Path) -> Iterator[pa.Table]:
    try:
        file = pq.ParquetFile(path)
        if file.schema_arrow.names != SCHEMA.names:
            raise ValueError(f"its columns are not {', '.join(SCHEMA.names)}")
        for number in range(file.num_row_groups):
            yield file.read_row_group(number)
    except (pa.ArrowException, ValueError, OSError) as error:
        raise BadInput(f"{path} cannot be read ({error}).", "Restore it from a copy or run again.") from error
