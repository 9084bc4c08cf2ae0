"""Reading a benchmark's files; every fault becomes a `BadBenchmark` that names the file and the line."""

import gzip
import hashlib
import json
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from unicodedata import is_normalized

from probing.benchmark import Relation
from probing.errors import BadBenchmark, nearest, suggestion
from probing.formats.canary import FIELD, without_canary
from probing.question_rows import RELATION_ID
from probing.template import ANSWER_SLOT, SUBJECT_SLOT

# The relations of a LAMA or S-TEST folder, with a template each.
RELATIONS_FILE = "relations.jsonl"
PLAN_FILE = "clozeboard.json"  # the title and the usual settings of any benchmark
# Keys that may stand beside those that are read, as they do in published files: remarks for people.
REMARKS = frozenset({"label", "name", "description", "comment", "type", "relation_label", "source", "licence", FIELD})
NEARNESS = 0.8  # from 0 to 1: how alike two keys must be for one to be taken for a misspelling of the other
# White space around a text, also characters without width, or doubled in it; and in it what no name has: tabs and other
# control characters, a soft hyphen, and the mark that begins a file.
STRAY_SPACE = re.compile(r"\A[\s\u200b\u2060\ufeff]|[\s\u200b\u2060\ufeff]\Z|\s\s|[\x00-\x09\x0b-\x1f\x7f\u00ad\ufeff]")
LARGEST_FILE = 200_000_000  # bytes; the largest benchmark file known to us has 3 million


@dataclass(frozen=True)
class JsonObject:
    """A JSON object and its place (file and line), which messages about a fault in it name."""

    values: dict[str, Any]
    location: str

    def fault(self, message: str, next_step: str) -> BadBenchmark:
        return BadBenchmark(f"{self.location}: {message}.", next_step)

    def text(self, name: str) -> str:
        """Return a field that must exist and hold text."""
        if name not in self.values:
            raise self.fault(f"the field {name!r} is missing", "Add it.")
        return self._checked(self.values[name], name)

    def optional_text(self, name: str) -> str:
        """Return a field that must hold text; empty if the field is missing or null."""
        return self.text(name) if self.values.get(name) is not None else ""

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a field that must hold a list of texts; empty if the field is missing."""
        values = self.values.get(name, [])
        if not isinstance(values, list):
            raise self.fault(f"{name!r} is not a list", "Write it as a JSON list of texts.")
        return tuple(self._checked(value, name) for value in values)

    def refuse_other_keys(self, read: frozenset[str]) -> None:
        """Raise for a key that is neither read nor a remark, because its content would be ignored silently."""
        for key in self.values:
            if key not in read and key not in REMARKS:
                raise self.fault(f"the key {key!r:.80} is not known", suggestion(key, sorted(read)))

    def refuse_misspelt_keys(self, read: frozenset[str]) -> None:
        """Raise for a key that is nearly one of those that are read and that the object lacks; others are remarks."""
        missing = frozenset(read - self.values.keys())
        for key in self.values.keys() - read if missing else ():
            if near := _nearest(key, missing):
                raise self.fault(f"the key {key!r:.80} is not known", f"Did you mean {near!r}?")

    def _checked(self, value: Any, name: str) -> str:
        if not isinstance(value, str) or not value.strip():
            raise self.fault(f"{name!r} holds {value!r:.80}", "Give it a text that is not empty.")
        if any("\ud800" <= letter <= "\udfff" for letter in value):
            raise self.fault(f"{name!r} holds half a character (a lone surrogate)", "Write it as valid Unicode.")
        return value


class _RepeatedKey(ValueError):
    """A JSON object has a key twice."""


@lru_cache(maxsize=1024)  # the lines of a file have the same keys
def _nearest(key: str, names: frozenset[str]) -> str:
    return nearest(key, sorted(names), NEARNESS)


def relation_id(name: str, entry: JsonObject) -> str:
    """Return the id of a relation if it is a plain name: it becomes part of file names and addresses."""
    if not RELATION_ID.fullmatch(name):
        raise entry.fault(f"{name!r:.80} is no relation id", "Use letters, digits, '.', '-' and '_'.")
    return name


def template_text(line: JsonObject, blanks: int = 1) -> str:
    """Return the field `template`, which must have one [X] and as many [Y] as there are blanks (one or two)."""
    template = line.text("template")
    for slot, times in ((SUBJECT_SLOT, 1), (ANSWER_SLOT, blanks)):
        if template.count(slot) != times:
            step = f"Write it such as '{SUBJECT_SLOT} is located in {ANSWER_SLOT}.'." if blanks == 1 else "Correct it."
            raise line.fault(f"the template must have {slot} {'once' if times == 1 else 'twice'}", step)
    return template


def read_object(path: Path) -> JsonObject:
    """Read the single JSON object of a file."""
    return parse_object(_content(path), path.name)


def read_lines(path: Path) -> list[JsonObject]:
    """Read a file with one JSON object in each line; the last line may end in a newline, no line may be empty."""
    return parse_lines(_content(path), path.name)


def parse_lines(content: bytes, name: str) -> list[JsonObject]:
    """Parse the content of a file with one JSON object in each line; messages call the file `name`."""
    text = _decoded(content, name)
    if not text.strip():
        raise BadBenchmark(f"{name}: no items.", "Add at least one line or remove the relation.")
    lines = text.removesuffix("\n").split("\n")
    places = (f"{name}, line {number}" for number in range(1, len(lines) + 1))
    step = "Correct it; each line is one JSON object."
    return [JsonObject(_parse(line, location, step), location) for line, location in zip(lines, places, strict=True)]


def parse_object(content: bytes, name: str) -> JsonObject:
    """Parse the content of a file with a single JSON object; messages call the file `name`."""
    return JsonObject(_parse(_decoded(content, name), name), name)


def by_relation(lines: Iterable[JsonObject]) -> dict[str, JsonObject]:
    """Return lines by their field `relation`; raise where a relation occurs twice, as only one line could count."""
    relations: dict[str, JsonObject] = {}
    for line in lines:
        name = line.text("relation")
        if name in relations:
            raise line.fault(f"relation {name!r:.80} occurs twice", "Keep one of the two lines.")
        relations[name] = line
    return relations


def note_on(names: Iterable[str], what: str) -> tuple[str, ...]:
    """Return a note that says something of these relations or files, or none where there are none."""
    listed = ", ".join(names)
    return (f"{what}: {listed}.",) if listed else ()


def notes_on_texts(relations: Sequence[Relation]) -> tuple[str, ...]:
    """Return notes on the labels and templates in which nobody sees what a tokenizer reads, if there are any."""
    places = {text: relation.id for relation in relations for text in _texts(relation)}
    stray = [text for text in places if STRAY_SPACE.search(text)]
    apart = [text for text in places if not is_normalized("NFC", text)]
    spaces = "with white space around them or doubled in them, or with invisible characters,"
    return (
        *_note_on_texts(stray, places, spaces, "Remove the white space from the files where it is not meant."),
        *_note_on_texts(
            apart,
            places,
            "whose letters stand in parts, such as an accent behind its letter,",
            "Write the files in Unicode's NFC.",
        ),
    )


def _note_on_texts(texts: Sequence[str], places: Mapping[str, str], fault: str, next_step: str) -> tuple[str, ...]:
    return tuple(
        f"Labels or templates {fault} are scored as they stand: {len(texts):,} "
        f"(first: {text!r:.80} in {places[text]}). {next_step}"
        for text in texts[:1]
    )


def _texts(relation: Relation) -> Iterator[str]:
    """Yield every text of a relation that enters its statements."""
    yield from relation.templates
    yield from relation.answer_space
    for item in relation.items:
        yield from (item.subject, item.wording, *item.options)


def present(folder: Path, name: str) -> Path | None:
    """Return the file of that name in the folder, plain or gzipped (`name.gz`), or None."""
    return next((path for path in (folder / name, folder / f"{name}.gz") if path.is_file()), None)


def text_lines(path: Path) -> list[str]:
    """Read the lines of a text file that may be gzipped."""
    return _decoded(_content(path), path.name).removesuffix("\n").split("\n")


def digest(paths: Iterable[Path]) -> str:
    """Return the SHA-256 of what `sha256sum` prints for the files, sorted by name without their folders.

    A gzipped file counts as what it holds, and no file with its canary: neither changes what is asked.
    """
    return digest_of((path.name.removesuffix(".gz"), _bytes(path)) for path in paths)


def digest_of(contents: Iterable[tuple[str, bytes]]) -> str:
    """Return the digest of files that are given by name and content, their canaries left out."""
    lines = sorted((name, hashlib.sha256(without_canary(content)).hexdigest()) for name, content in contents)
    return hashlib.sha256("".join(f"{digest}  {name}\n" for name, digest in lines).encode()).hexdigest()


def _content(path: Path) -> bytes:
    if path.is_dir():
        raise BadBenchmark(f"{path} is a folder.", "Put the file of this name in its place.")
    if not path.is_file():
        raise BadBenchmark(f"{path.name} is missing in {path.parent}.", "Add the file or choose another folder.")
    content = _bytes(path)
    if len(content) > LARGEST_FILE:
        raise BadBenchmark(f"{path.name} is larger than {LARGEST_FILE:,} bytes.", "Split or shorten it.")
    return content


def _decoded(content: bytes, name: str) -> str:
    """Decode UTF-8, without the byte order mark that some editors and spreadsheets put in front."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise BadBenchmark(f"{name}, line {line}: not UTF-8.", "Save the file as UTF-8.") from error


def _bytes(path: Path) -> bytes:
    """Read and unpack a file, but no more than one byte over the largest size that is accepted."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            return file.read(LARGEST_FILE + 1)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise BadBenchmark(f"{path.name} is not a whole gzip file ({error}).", "Copy it again.") from error
    except OSError as error:
        raise BadBenchmark(f"{path} cannot be read ({error.strerror}).", "Make it readable.") from error


def _parse(text: str, location: str, next_step: str = "Correct it.") -> dict[str, Any]:
    if not text.strip():
        raise BadBenchmark(f"{location}: empty.", "Write one JSON object here or remove it.")
    try:
        value = json.loads(text, object_pairs_hook=_with_keys_once)
    except json.JSONDecodeError as error:
        where = f"{location}, column {error.colno}" if error.lineno == 1 else f"{location}, line {error.lineno}"
        raise BadBenchmark(f"{where}: not JSON ({error.msg}).", next_step) from error
    except _RepeatedKey as error:
        raise BadBenchmark(f"{location}: the key {str(error)!r:.80} occurs twice.", "Keep it once.") from error
    except (ValueError, RecursionError) as error:  # a number with thousands of digits, or thousands of open brackets
        raise BadBenchmark(f"{location}: JSON that cannot be read.", "Correct it.") from error
    if not isinstance(value, dict):
        raise BadBenchmark(f"{location}: not a JSON object.", "Write it as {...}.")
    return value


def _with_keys_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object; of a key that occurs twice, `json` would silently drop the first value."""
    values = dict(pairs)
    if len(values) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        raise _RepeatedKey(counts.most_common(1)[0][0])
    return values
