"""LAMA folders: `relations.jsonl` with a template per relation, and one `<relation>.jsonl` each, as T-REx has them.

The lists lie beside it or in the folder `TREx`; relations without a list are passed over, as LAMA itself does.
"""

import re
from pathlib import Path

from probing.benchmark import Benchmark, Item, Relation, TagValue
from probing.errors import BadBenchmark
from probing.formats.files import JsonObject, digest, read_lines
from probing.template import ANSWER_SLOT, SUBJECT_SLOT

RELATIONS = "relations.jsonl"
LISTS = "TREx"


def read(folder: Path) -> Benchmark:
    """One relation per list, one item per line; the answer space is all objects of the relation."""
    inner = folder / LISTS if (folder / LISTS).is_dir() else folder
    found = [(about, inner / f"{_id(about)}.jsonl") for about in read_lines(folder / RELATIONS)]
    here = [(about, path) for about, path in found if path.is_file()]
    if not here:
        raise BadBenchmark(f"{inner} has no list of a relation in {RELATIONS}.", "Add P17.jsonl or another one.")
    files = (folder / RELATIONS, *(path for _, path in here))
    sha = digest(files)
    relations = tuple(_relation(about, path) for about, path in here)
    return Benchmark(folder.resolve().name.lower(), sha[:12], sha, relations, probe="cloze", files=files)


def fits(folder: Path) -> bool:
    """Whether there are relations and a list of one; S-TEST's folders have such relations too."""
    return (folder / RELATIONS).is_file() and any(any((folder / inner).glob("P*.jsonl")) for inner in ("", LISTS))


def _id(about: JsonObject) -> str:
    """It becomes a file's name and an address."""
    name = about.text("relation")
    if not re.fullmatch(r"\w[\w.-]{0,99}", name, re.ASCII):
        raise about.fault(f"{name!r:.80} is no relation id", "Use letters, digits, '.', '-' and '_'.")
    return name


def _relation(about: JsonObject, path: Path) -> Relation:
    lines = read_lines(path)
    objects = [line.text("obj_label") for line in lines]
    answers = tuple(dict.fromkeys(objects))
    items = (
        Item(index, line.text("sub_label"), (answers.index(answer),), _uri(line, "sub_uri"))
        for index, (line, answer) in enumerate(zip(lines, objects, strict=True))
    )
    tags: dict[str, TagValue] = {"cardinality": about.text("type")} if "type" in about.values else {}
    name = about.text("label") if "label" in about.values else ""
    return Relation(path.stem, (_template(about),), answers, tuple(items), name=name, tags=tags)


def _template(about: JsonObject) -> str:
    template = about.text("template")
    for slot in (SUBJECT_SLOT, ANSWER_SLOT):
        if template.count(slot) != 1:
            raise about.fault(f"the template must have {slot} once", "Write it such as '[X] is located in [Y].'.")
    return template


def _uri(line: JsonObject, name: str) -> str:
    return line.text(name) if line.values.get(name) is not None else ""
