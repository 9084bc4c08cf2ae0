"""LAMA folders: `relations.jsonl` with a template for each relation, and one `<relation>.jsonl` each, as in T-REx.

The lists of items lie beside it or in the folder `TREx`; in X-FACTR's repository both have other names (`LAYOUTS`).
Relations without a list are skipped, as LAMA itself does, and so are lists without a relation; the benchmark's notes
name both.

LAMA fills a template verbatim, and does not put its first letter into upper case. The formats of LAMA's family (LAMA,
S-TEST, DLAMA) follow this rule, which is part of a benchmark's digest, and so of its version.

Lists of bare triples, one `<predicate>.jsonl` each with `sub_uri` and `obj_uri`, are what LAMA, mLAMA and T-REx have in
common. DLAMA's authors bring T-REx into this form (`T-REX/parse_trex.py` of their repository). Labels and templates are
not needed, so that such a folder need not be a benchmark.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from probing.benchmark import Benchmark, Item, Relation, TagValue
from probing.errors import BadBenchmark
from probing.formats.reading import (
    RELATIONS_FILE,
    JsonObject,
    by_relation,
    digest,
    note_on,
    parse_object,
    read_lines,
    relation_id,
    template_text,
)

# Where the relations and the lists of items are, the first that fits.
LAYOUTS = ((RELATIONS_FILE, "TREx"), (RELATIONS_FILE, ""), ("data/TREx-relations.jsonl", "data/mTRExf/sub"))
# The keys that are read: of a relation, and of an item.
RELATION_KEYS = frozenset({"relation", "template", "type", "label"})
ITEM_KEYS = frozenset({"sub_uri", "sub_label", "obj_label"})
RULE = "prompts are verbatim"
LISTS = "P*.jsonl"


def fits(folder: Path) -> bool:
    """Return whether there are templates and the list of a relation; this holds for S-TEST's folders as well."""
    relations, lists = _layout(folder)
    return relations.is_file() and any(lists.glob(LISTS))


def _layout(folder: Path) -> tuple[Path, Path]:
    """Return the file of relations and the folder of lists, those of LAMA where there are none."""
    places = [(folder / relations, folder / lists) for relations, lists in LAYOUTS]
    return next((place for place in places if place[1].is_dir() and any(place[1].glob(LISTS))), places[1])


def read(folder: Path) -> Benchmark:
    """Read one relation from each list, one item from each line; the answer space is all objects of the relation."""
    file, inner = _layout(folder)
    lines = read_lines(file)
    for line in lines:
        line.refuse_other_keys(RELATION_KEYS)
    descriptions = by_relation(lines)
    paths = {name: inner / f"{relation_id(name, line)}.jsonl" for name, line in descriptions.items()}
    lists = [(descriptions[name], path) for name, path in paths.items() if path.is_file()]
    if not lists:
        raise BadBenchmark(f"{inner} has no list of a relation in {file.name}.", "Add P17.jsonl or another one.")
    files = (file, *(path for _, path in lists))
    sha = digest(files)
    relations = tuple(_relation(line, path) for line, path in lists)
    without_list = [name for name, path in paths.items() if not path.is_file()]
    strays = sorted(path.name for path in inner.glob("*.jsonl") if path.stem not in paths and path not in files)
    notes = (
        *note_on(without_list, "Relations left out, as they have no list of items"),
        *note_on(strays, f"Lists left out, as {file.name} has no template for them"),
    )
    name = folder.resolve().name.lower()
    return verbatim(Benchmark(name, sha[:12], sha, relations, probe="cloze", files=files, notes=notes))


def _relation(description: JsonObject, path: Path) -> Relation:
    """Read a relation: its line of `relations.jsonl` and the list of its items."""
    lines = read_lines(path)
    for line in lines:
        line.refuse_misspelt_keys(ITEM_KEYS)
    objects = [line.text("obj_label") for line in lines]
    answers = tuple(dict.fromkeys(objects))
    items = (
        Item(index, line.text("sub_label"), (answers.index(answer),), line.optional_text("sub_uri"))
        for index, (line, answer) in enumerate(zip(lines, objects, strict=True))
    )
    tags: dict[str, TagValue] = {"cardinality": description.text("type")} if "type" in description.values else {}
    name = description.text("label") if "label" in description.values else ""
    return Relation(path.stem, (template_text(description),), answers, tuple(items), name=name, tags=tags)


def verbatim(benchmark: Benchmark) -> Benchmark:
    """Return the benchmark with verbatim prompts, as a version of its own; its digest was that of its files alone."""
    digest = hashlib.sha256(f"{benchmark.digest}\n{RULE}".encode()).hexdigest()
    relations = tuple(replace(relation, verbatim=True) for relation in benchmark.relations)
    return replace(benchmark, digest=digest, version=digest[:12], relations=relations)


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
    return sorted(path for path in _layout(folder)[1].glob(LISTS) if path.is_file())


def _lines(path: Path) -> Iterator[JsonObject]:
    """Yield the lines of a list one by one, as those of T-REx are large."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield parse_object(line, f"{path.name}, line {number}")
