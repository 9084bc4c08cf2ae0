"""The files of a corpus, read piece by piece as documents, so that none of them is ever in memory as a whole.

A file is plain text with a document in each line, JSON Lines with the text of a document under the key `text`, or
Parquet with such a column. Text and JSON Lines may be compressed by gzip or Zstandard. Data sets of the hub are read
over the network, and not stored.
"""

import glob
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import NamedTuple, Self

import pyarrow as pa
import pyarrow.parquet as pq
from huggingface_hub import HfFileSystem

from probing.errors import BadInput, SourceUnavailable

HUB = "hf://"
TEXT = "text"  # the key or the column that has the text of a document
COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
JSON_LINES = (".jsonl", ".json", ".ndjson")
PARQUET = ".parquet"
ENDINGS = (".txt", *JSON_LINES, PARQUET)  # of files that are taken from a folder
BLOCK = 2**20  # bytes that are read at once
LONGEST_LINE = 2**26  # bytes; a longer line of plain text is cut between two words
PARQUET_ROWS = 256  # documents that are read at once


@dataclass(frozen=True)
class CorpusFile:
    """A file by its path or its `hf://` address, its size in bytes, and a text that differs where its content does."""

    name: str
    size: int
    version: str

    @classmethod
    def of_path(cls, path: Path) -> Self:
        state = path.stat()
        return cls(str(path.absolute()), state.st_size, f"{path.resolve()} {state.st_mtime_ns}")

    @property
    def format(self) -> str:
        """The ending of the name, below that of a compression."""
        path = PurePath(self.name)
        return PurePath(path.stem).suffix if path.suffix in COMPRESSIONS else path.suffix

    @property
    def compression(self) -> str | None:
        return COMPRESSIONS.get(PurePath(self.name).suffix)

    def open(self) -> pa.NativeFile:
        if self.name.startswith(HUB):
            return pa.PythonFile(_hub().open(self.name, "rb"), mode="r")
        return pa.OSFile(self.name)


class Batch(NamedTuple):
    """Some documents, one in each line, and up to which byte its file has been read to get them."""

    text: str
    position: float


def corpus_files(sources: Iterable[str]) -> list[CorpusFile]:
    """Return the files that paths, folders and patterns such as `data/*.jsonl.zst` stand for, each of them once.

    Sources that begin with hf:// are data sets of the hub, or folders, files and patterns in them, as
    `hf://datasets/owner/name/data/*.parquet`. A folder stands for all files in it and below that have one of the known
    endings; a file that is named may have any ending. Raises `BadInput` where a source has no files, and
    `SourceUnavailable` where the hub does not answer.
    """
    files: list[CorpusFile] = []
    for source in sources:
        own = _hub_files(source) if source.startswith(HUB) else _local_files(source)
        if not own:
            step = f"Name files, folders or patterns; in a folder, files with the endings {', '.join(ENDINGS)} count."
            raise BadInput(f"There are no files of text in {source}.", step)
        files += own
    return list({file.version: file for file in files}.values())


def _local_files(source: str) -> list[CorpusFile]:
    path = Path(source)
    if path.is_dir():
        files = [CorpusFile.of_path(file) for file in sorted(path.rglob("*")) if file.is_file()]
        return [file for file in files if file.format in ENDINGS]
    paths = [path] if path.is_file() else [Path(name) for name in sorted(glob.glob(source, recursive=True))]
    return [CorpusFile.of_path(file) for file in paths if file.is_file()]


def _hub_files(source: str) -> list[CorpusFile]:
    try:
        listing = _hub().glob(source, detail=True) if glob.has_magic(source) else _hub().find(source, detail=True)
    except OSError as error:
        raise SourceUnavailable(f"{source} cannot be listed ({error}).", "Check its name, or try again.") from error
    entries = [(f"{HUB}{name}", entry) for name, entry in sorted(listing.items()) if entry["type"] == "file"]
    files = [CorpusFile(name, entry["size"], f"{name} {entry['blob_id']}") for name, entry in entries]
    return [file for file in files if file.name == source or file.format in ENDINGS]


def _hub() -> HfFileSystem:
    """Return the files of the hub that HF_ENDPOINT names."""
    return HfFileSystem(endpoint=os.environ.get("HF_ENDPOINT"))


def batches(file: CorpusFile) -> Iterator[Batch]:
    """Yield the documents of a file; raise `BadInput` where it is not of the format that its ending names."""
    try:
        if file.format == PARQUET:
            yield from _parquet_batches(file)
        elif file.format in JSON_LINES:
            yield from _json_batches(file)
        else:
            for block, position in _blocks(file, cuts_lines=True):
                yield Batch(block.decode(), position)
    except UnicodeDecodeError as error:
        raise BadInput(f"{file.name} is not a text in UTF-8.", "Leave it out, or save it as UTF-8.") from error
    except (pa.ArrowException, OSError) as error:
        raise BadInput(f"{file.name} cannot be read ({error}).", "Leave it out, or copy it again.") from error


def _blocks(file: CorpusFile, *, cuts_lines: bool) -> Iterator[tuple[bytes, float]]:
    """Yield the content of a file in pieces of whole lines, each with the position in the file.

    `cuts_lines`: cut lines that are too long, which otherwise raise `BadInput`.
    """
    stored = file.open()
    with pa.CompressedInputStream(stored, file.compression) if file.compression else stored as stream:
        rest = b""
        while block := stream.read(BLOCK):
            end = block.rfind(b"\n") + 1
            if not end and len(rest) > LONGEST_LINE:
                end = block.rfind(b" ") + 1
                if not (end and cuts_lines):
                    raise BadInput(
                        f"{file.name} has a line of more than {LONGEST_LINE:,} bytes.", "Divide its document."
                    )
            if end:
                yield rest + block[:end], stored.tell()
            rest = block[end:] if end else rest + block
        yield rest, stored.tell()


def _json_batches(file: CorpusFile) -> Iterator[Batch]:
    before = 0
    for block, position in _blocks(file, cuts_lines=False):
        lines = block.split(b"\n")
        numbered = enumerate(lines, before + 1)
        documents = [_document(line, f"{file.name}, line {number}") for number, line in numbered if line.strip()]
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
    if b"\\ud" in line or b"\\uD" in line:  # perhaps half a character, which no text may have
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.replace("\n", " ")


def _parquet_batches(file: CorpusFile) -> Iterator[Batch]:
    with file.open() as stored, pq.ParquetFile(stored) as table:
        if TEXT not in table.schema_arrow.names:
            raise BadInput(f"{file.name} has no column {TEXT!r}.", "Rename the column that has the documents.")
        rows, done = max(table.metadata.num_rows, 1), 0
        for batch in table.iter_batches(PARQUET_ROWS, columns=[TEXT]):
            done += len(batch)
            documents = (text.replace("\n", " ") for text in batch.column(0).to_pylist() if text)
            yield Batch("\n".join(documents), file.size * done / rows)
