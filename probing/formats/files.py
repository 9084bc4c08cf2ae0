"""Reading a benchmark's files: every fault becomes a `BadBenchmark` that names the file and the line."""

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from probing.errors import BadBenchmark

LARGEST_FILE = 200_000_000  # bytes; the largest benchmark file known to us has 3 million


@dataclass(frozen=True)
class JsonObject:
    """A JSON object and where it stands, so that a fault in it can be found again."""

    values: dict[str, Any]
    place: str

    def fault(self, message: str, next_step: str) -> BadBenchmark:
        return BadBenchmark(f"{self.place}: {message}.", next_step)

    def text(self, name: str) -> str:
        """A field that must be there and hold text."""
        if name not in self.values:
            raise self.fault(f"the field {name!r} is missing", "Add it.")
        return self._checked(self.values[name], name)

    def texts(self, name: str) -> tuple[str, ...]:
        """A field that must hold a list of texts; empty if the field is not there."""
        values = self.values.get(name, [])
        if not isinstance(values, list):
            raise self.fault(f"{name!r} is not a list", "Write it as a JSON list of texts.")
        return tuple(self._checked(value, name) for value in values)

    def _checked(self, value: Any, name: str) -> str:
        if not isinstance(value, str) or not value.strip():
            raise self.fault(f"{name!r} holds {value!r:.80}", "Give it a text that is not empty.")
        if any("\ud800" <= letter <= "\udfff" for letter in value):
            raise self.fault(f"{name!r} holds half a character (a lone surrogate)", "Write it as valid Unicode.")
        return value


def read_object(path: Path) -> JsonObject:
    """The file's single JSON object."""
    return parse_object(_content(path), path.name)


def read_lines(path: Path) -> list[JsonObject]:
    """One JSON object a line; the last line may end in a newline, no line may be empty."""
    return parse_lines(_content(path), path.name)


def parse_lines(content: bytes, name: str) -> list[JsonObject]:
    """The same of a file that was read already."""
    text = _decoded(content, name)
    if not text.strip():
        raise BadBenchmark(f"{name}: no items.", "Add at least one line or remove the relation.")
    lines = text.removesuffix("\n").split("\n")
    places = (f"{name}, line {number}" for number in range(1, len(lines) + 1))
    return [JsonObject(_parse(line, place), place) for line, place in zip(lines, places, strict=True)]


def parse_object(content: bytes, name: str) -> JsonObject:
    """The single JSON object of a file that was read already."""
    return JsonObject(_parse(_decoded(content, name), name), name)


def present(folder: Path, name: str) -> Path | None:
    """The file of that name in the folder, as it is or gzipped (`name.gz`)."""
    return next((path for path in (folder / name, folder / f"{name}.gz") if path.is_file()), None)


def text_lines(path: Path) -> list[str]:
    """The lines of a text file that may be gzipped."""
    return _decoded(_content(path), path.name).removesuffix("\n").split("\n")


def digest(paths: Iterable[Path]) -> str:
    """SHA-256 of what `sha256sum` prints for the files, sorted by name; the folders they lie in do not matter.

    Gzipped files count as what is in them: packing a benchmark does not change it.
    """
    return digest_of((path.name.removesuffix(".gz"), _bytes(path)) for path in paths)


def digest_of(contents: Iterable[tuple[str, bytes]]) -> str:
    """The same of names and contents."""
    lines = sorted((name, hashlib.sha256(content).hexdigest()) for name, content in contents)
    return hashlib.sha256("".join(f"{digest}  {name}\n" for name, digest in lines).encode()).hexdigest()


def _content(path: Path) -> bytes:
    if not path.is_file():
        raise BadBenchmark(f"{path.name} is missing in {path.parent}.", "Add the file or choose another folder.")
    content = _bytes(path)
    if len(content) > LARGEST_FILE:
        raise BadBenchmark(f"{path.name} is larger than {LARGEST_FILE:,} bytes.", "Split or shorten it.")
    return content


def _decoded(content: bytes, name: str) -> str:
    """Without the mark that some editors and spreadsheets put in front of UTF-8."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise BadBenchmark(f"{name}, line {line}: not UTF-8.", "Save the file as UTF-8.") from error


def _bytes(path: Path) -> bytes:
    """The file's content, unpacked, and not much more of it than a benchmark's file may have."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            return file.read(LARGEST_FILE + 1)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise BadBenchmark(f"{path.name} is not a whole gzip file ({error}).", "Copy it again.") from error
    except OSError as error:
        raise BadBenchmark(f"{path} cannot be read ({error.strerror}).", "Make it readable.") from error


def _parse(text: str, place: str) -> dict[str, Any]:
    if not text.strip():
        raise BadBenchmark(f"{place}: empty.", "Write one JSON object here or remove it.")
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        where = f"{place}, column {error.colno}" if error.lineno == 1 else f"{place}, line {error.lineno}"
        raise BadBenchmark(f"{where}: not JSON ({error.msg}).", "Correct it.") from error
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, or brackets as deep
        raise BadBenchmark(f"{place}: JSON that cannot be read.", "Correct it.") from error
    if not isinstance(value, dict):
        raise BadBenchmark(f"{place}: not a JSON object.", "Write it as {...}.")
    return value
