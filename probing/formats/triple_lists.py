"""Lists of bare triples: one `<predicate>.jsonl` each with `sub_uri` and `obj_uri`, as LAMA, mLAMA and T-REx have them.

DLAMA's authors bring T-REx into this form (`T-REX/parse_trex.py` of their repository). Labels and templates are not
needed, so that such a folder need not be a benchmark.
"""

from collections.abc import Iterator
from pathlib import Path

from probing.formats.files import JsonObject, parse_object
from probing.formats.lama import LISTS_FOLDER

LISTS = "P*.jsonl"


def holds_triples(folder: Path) -> bool:
    """Return whether the first line of the folder's first list has the ids of a subject and of an object."""
    first = next((line for path in _lists(folder) for line in _lines(path)), None)
    return first is not None and {"sub_uri", "obj_uri"} <= first.values.keys()


def read_triples(folder: Path) -> Iterator[tuple[str, str, frozenset[str]]]:
    """Yield the predicate, the subject's id and the objects' ids of each line; several objects are valid alike."""
    for path in _lists(folder):
        for line in _lines(path):
            objects = line.values.get("obj_uri")
            ids = line.texts("obj_uri") if isinstance(objects, list) else (line.text("obj_uri"),)
            yield path.stem, line.text("sub_uri"), frozenset(ids)


def _lists(folder: Path) -> list[Path]:
    inner = folder / LISTS_FOLDER if (folder / LISTS_FOLDER).is_dir() else folder
    return sorted(path for path in inner.glob(LISTS) if path.is_file())


def _lines(path: Path) -> Iterator[JsonObject]:
    """Yield the lines of a list one by one, as those of T-REx are large."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield parse_object(line, f"{path.name}, line {number}")
