"""The files of a corpus, read piece by piece as documents, so that none of them is ever in memory as a whole.

A file is plain text with a document in each line, JSON Lines with the text of a document under the key `text`, or
Parquet with such a column. Text and JSON Lines may be compressed by gzip or Zstandard.
"""

import glob
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from probing.errors import BadInput

TEXT = "text"  # the key or the column that has the text of a document
COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
JSON_LINES = (".jsonl", ".json", ".ndjson")
PARQUET = ".parquet"
ENDINGS = (".txt", *JSON_LINES, PARQUET)  # of files that are taken from a folder
BLOCK = 2**20  # bytes that are read at once
LONGEST_LINE = 2**26  # bytes; a longer line of plain text is cut between two words
PARQUET_ROWS = 256  # documents that are read at once


class Batch(NamedTuple):
    """Some documents, one in each line, and up to which byte its file has been read to get them."""

    text: str
    position: float


def corpus_files(sources: Iterable[str]) -> list[Path]:
    """Return the files that paths, folders and patterns such as `data/*.jsonl.zst` stand for, each of them once.

    A folder stands for all files in it and below that have one of the known endings; a file that is named may have any
    ending. Raises `BadInput` where a source has no files.
    """
    files: list[Path] = []
    for source in sources:
        path = Path(source)
        if path.is_dir():
            own = [file for file in sorted(path.rglob("*")) if file.is_file() and _format(file) in ENDINGS]
        elif path.is_file():
            own = [path]
        else:
            own = [Path(name) for name in sorted(glob.glob(source, recursive=True)) if Path(name).is_file()]
        if not own:
            step = f"Name files, folders or patterns; in a folder, files with the endings {', '.join(ENDINGS)} count."
            raise BadInput(f"There are no files of text in {source}.", step)
        files += own
    return list({file.resolve(): file for file in files}.values())


def _format(path: Path) -> str:
    """Return the ending of a file below that of its compression."""
    return Path(path.stem).suffix if path.suffix in COMPRESSIONS else path.suffix


def batches(path: Path) -> Iterator[Batch]:
    """Yield the documents of a file; raise `BadInput` where it is not of the format that its ending names."""
    try:
        if _format(path) == PARQUET:
            yield from _parquet_batches(path)
        elif _format(path) in JSON_LINES:
            yield from _json_batches(path)
        else:
            for block, position in _blocks(path, cuts_lines=True):
                yield Batch(block.decode(), position)
    except UnicodeDecodeError as error:
        raise BadInput(f"{path} is not a text in UTF-8.", "Leave it out, or save it as UTF-8.") from error
    except (pa.ArrowException, OSError) as error:
        raise BadInput(f"{path} cannot be read ({error}).", "Leave it out, or copy it again.") from error


def _blocks(path: Path, *, cuts_lines: bool) -> Iterator[tuple[bytes, float]]:
    """Yield the content of a file in pieces of whole lines, each with the position in the file.

    `cuts_lines`: cut lines that are too long, which otherwise raise `BadInput`.
    """
    file = pa.OSFile(str(path))
    compression = COMPRESSIONS.get(path.suffix)
    with pa.CompressedInputStream(file, compression) if compression else file as stream:
        rest = b""
        while block := stream.read(BLOCK):
            end = block.rfind(b"\n") + 1
            if not end and len(rest) > LONGEST_LINE:
                end = block.rfind(b" ") + 1
                if not (end and cuts_lines):
                    raise BadInput(f"{path} has a line of more than {LONGEST_LINE:,} bytes.", "Divide its document.")
            if end:
                yield rest + block[:end], file.tell()
            rest = block[end:] if end else rest + block
        yield rest, file.tell()


def _json_batches(path: Path) -> Iterator[Batch]:
    before = 0
    for block, position in _blocks(path, cuts_lines=False):
        lines = block.split(b"\n")
        numbered = enumerate(lines, before + 1)
        documents = [_document(line, f"{path}, line {number}") for number, line in numbered if line.strip()]
        before += len(lines) - 1
        yield Batch("\n".join(documents), position)


def _document(line: bytes, where: str) -> str:
    """Return the text of a JSON object in one line."""
    step = f'Write a JSON object with the key {TEXT!r} in each line: {{"text": "Paris is the capital of France."}}.'
    try:
        text = json.loads(line)[TEXT]
    except (ValueError, TypeError, KeyError) as error:
        raise BadInput(f"{where}: no JSON object with the key {TEXT!r}.", step) from error
    if not isinstance(text, str):
        raise BadInput(f"{where}: {TEXT!r} is not a text.", step)
    if b"\\ud" in line.lower():  # perhaps half a character, which no text may have
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.replace("\n", " ")


def _parquet_batches(path: Path) -> Iterator[Batch]:
    with pq.ParquetFile(path) as file:
        if TEXT not in file.schema_arrow.names:
            raise BadInput(f"{path} has no column {TEXT!r}.", "Rename the column that has the documents.")
        size, rows, done = path.stat().st_size, max(file.metadata.num_rows, 1), 0
        for batch in file.iter_batches(PARQUET_ROWS, columns=[TEXT]):
            done += len(batch)
            documents = (text.replace("\n", " ") for text in batch.column(0).to_pylist() if text)
            yield Batch("\n".join(documents), size * done / rows)
