"""Tables of questions: a CSV file, one with tabs, JSON lines or Parquet, as `probing.question_rows` reads its rows."""

import csv
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from probing.benchmark import Benchmark, benchmark_of
from probing.errors import BadBenchmark
from probing.formats.reading import parse_object, text_lines
from probing.question_rows import Row, RowFault, missing_columns, refuse_columns

SEPARATORS = {".csv": ",", ".tsv": "\t"}
SPREADSHEETS = (";", "\t", ",")  # what they separate columns by, depending on the language of the computer
SUFFIXES = (*SEPARATORS, ".jsonl", ".parquet")
PlacedRow = tuple[str, Row | RowFault]


def fits(path: Path) -> bool:
    """Return whether the path is a file that can be a table, or a folder with a table of questions."""
    return path.suffix in SUFFIXES if path.is_file() else bool(_tables(path))


def read(path: Path) -> Benchmark:
    """Read the file, or the only table of questions in the folder; raise `BadBenchmark` with all bad rows."""
    tables = [path] if path.is_file() else _tables(path)
    if len(tables) != 1:
        raise BadBenchmark(
            f"{path} holds {len(tables)} tables of questions.", "Give the file of one table, in place of its folder."
        )
    (table,) = tables
    if table.suffix in SEPARATORS:
        _refuse_other_separators(table)
    refuse_columns(_columns(table), table.name)
    return benchmark_of(_rows(table), table.stem.lower(), table.name, (table,))


def _tables(folder: Path) -> list[Path]:
    files = sorted(file for file in folder.glob("*") if file.suffix in SUFFIXES and file.is_file())
    return [file for file in files if not missing_columns(_columns(file))]


def _columns(file: Path) -> list[str]:
    """Return the columns of a table; those of JSON lines are the keys of the first."""
    if file.suffix == ".parquet":
        return [str(name) for name in _parquet(file).schema_arrow.names]
    first = _first_line(file)
    if file.suffix in SEPARATORS:
        return _cells(first, SEPARATORS[file.suffix])
    try:
        return list(parse_object(first.encode(), f"{file.name}, line 1").values)
    except BadBenchmark:
        return []


def _first_line(file: Path) -> str:
    with file.open(encoding="utf-8-sig", errors="replace") as opened:
        return opened.readline()


def _cells(line: str, separator: str) -> list[str]:
    return next(csv.reader([line], delimiter=separator), [])


def _refuse_other_separators(file: Path) -> None:
    """Raise `BadBenchmark` where the file is empty, or its columns have another separator than its name says."""
    first = _first_line(file)
    if not first.strip():
        raise BadBenchmark(f"{file.name} is empty.", "Begin it with the names of its columns.")
    own = SEPARATORS[file.suffix]
    if missing_columns(_cells(first, own)) and not all(missing_columns(_cells(first, other)) for other in SPREADSHEETS):
        needed = "tabs" if own == "\t" else "commas"
        raise BadBenchmark(f"The columns of {file.name} are not separated by {needed}.", "Write it again with them.")


def _rows(file: Path) -> Iterator[PlacedRow]:
    if file.suffix == ".parquet":
        return ((f"row {number}", row) for number, row in enumerate(_parquet(file).read().to_pylist()))
    return _csv_rows(file) if file.suffix in SEPARATORS else _json_rows(file)


def _csv_rows(file: Path) -> Iterator[PlacedRow]:
    """Yield the rows with the line that each begins in, as a cell may go over several."""
    lines = csv.reader((f"{line}\n" for line in text_lines(file)), delimiter=SEPARATORS[file.suffix], strict=True)
    try:
        columns = next(lines)
        begin = lines.line_num + 1
        for cells in lines:
            fault = RowFault(f"it has {len(cells)} cells, and the first line has {len(columns)}")
            if cells:
                row = dict(zip(columns, cells, strict=False))
                yield f"line {begin}", row if len(cells) == len(columns) else fault
            begin = lines.line_num + 1
    except csv.Error as error:
        yield f"line {lines.line_num}", RowFault(f"no table ({error})")


def _json_rows(file: Path) -> Iterator[PlacedRow]:
    for number, line in enumerate(text_lines(file), 1):
        if line.strip():
            try:
                yield f"line {number}", parse_object(line.encode(), "").values
            except BadBenchmark as error:
                yield f"line {number}", RowFault(error.message.lstrip(",: ").rstrip("."))


def _parquet(file: Path) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(file)
    except (pa.ArrowException, OSError) as error:
        raise BadBenchmark(f"{file.name} is not a Parquet file ({error}).", "Write it again.") from error
