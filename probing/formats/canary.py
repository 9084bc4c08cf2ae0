"""Canaries: a text by which a benchmark's files are found in a training corpus, and left out of it.

Each benchmark has one of its own, with a GUID, in the first record of its files of JSON Lines and in the file of a
graph's sampling. It is not part of what is asked, and so not of a benchmark's digest and version.
"""

import re
import uuid
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path

FIELD = "canary"
TEXT = "Clozeboard benchmark data must not be in training corpora. Canary GUID {}"
MANIFEST = "manifest.json"  # of a curation
MARKED = (".jsonl", "sampling.json", MANIFEST)  # how the names of files end that carry it
FIRST_RECORD = 4096  # bytes at the beginning of a file in which it stands
IN_FILE = re.compile(rb'"canary": "([^"\n]*)",\s*')


def without_canary(content: bytes) -> bytes:
    """Return a file's content as it was before the canary was written into it."""
    return IN_FILE.sub(b"", content[:FIRST_RECORD], count=1) + content[FIRST_RECORD:]


def with_canary(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files, by name, with one canary; the same facts have the same one, however they were asked for."""
    plain = {name: without_canary(content) for name, content in files.items()}
    facts = sorted((name, sha256(content).hexdigest()) for name, content in plain.items() if name != MANIFEST)
    contents = "".join(f"{name} {digest}\n" for name, digest in facts)
    canary = TEXT.format(uuid.uuid5(uuid.NAMESPACE_URL, contents))
    field = f'"{FIELD}": "{canary}", '.encode()
    return {name: _marked(content, field) if name.endswith(MARKED) else content for name, content in plain.items()}


def _marked(content: bytes, field: bytes) -> bytes:
    """Put the field in front of those of the first object, on a line of its own where these have lines of their own."""
    begin, space, rest = re.split(rb"(?<=\{)(\s*)", content, maxsplit=1)
    return begin + space + field.rstrip() + (space or b" ") + rest


def canary_of(files: Iterable[Path]) -> str:
    """Return the canary that the files carry; empty where there is none."""
    for path in files:
        with path.open("rb") as file:
            if match := IN_FILE.search(file.read(FIRST_RECORD)):
                return match[1].decode()
    return ""


def add_canary(folder: Path) -> None:
    """Write a canary into the files of a benchmark's folder."""
    paths = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    for name, content in with_canary({name: path.read_bytes() for name, path in paths.items()}).items():
        (folder / name).write_bytes(content)
