"""LAMA folders: `relations.jsonl` with a template for each relation, and one `<relation>.jsonl` each, as in T-REx.

The lists of items lie beside it or in the folder `TREx`. Relations without a list are skipped, as LAMA itself does, and
so are lists without a relation; the benchmark's notes name both.
"""

from pathlib import Path

from probing.benchmark import Benchmark, Item, Relation, TagValue
from probing.errors import BadBenchmark
from probing.formats.files import (
    RELATIONS_FILE,
    JsonObject,
    by_relation,
    digest,
    note_on,
    read_lines,
    relation_id,
    template_text,
)
from probing.formats.verbatim import verbatim

LISTS_FOLDER = "TREx"
# The keys that are read: of a relation, and of an item.
RELATION_KEYS = frozenset({"relation", "template", "type", "label"})
ITEM_KEYS = frozenset({"sub_uri", "sub_label", "obj_label"})


def fits(folder: Path) -> bool:
    """Return whether there are templates and the list of a relation; this holds for S-TEST's folders as well."""
    places = (folder, folder / LISTS_FOLDER)
    return (folder / RELATIONS_FILE).is_file() and any(any(place.glob("P*.jsonl")) for place in places)


def read(folder: Path) -> Benchmark:
    """Read one relation from each list, one item from each line; the answer space is all objects of the relation."""
    inner = folder / LISTS_FOLDER if (folder / LISTS_FOLDER).is_dir() else folder
    lines = read_lines(folder / RELATIONS_FILE)
    for line in lines:
        line.refuse_other_keys(RELATION_KEYS)
    descriptions = by_relation(lines)
    paths = {name: inner / f"{relation_id(name, line)}.jsonl" for name, line in descriptions.items()}
    lists = [(descriptions[name], path) for name, path in paths.items() if path.is_file()]
    if not lists:
        raise BadBenchmark(f"{inner} has no list of a relation in {RELATIONS_FILE}.", "Add P17.jsonl or another one.")
    files = (folder / RELATIONS_FILE, *(path for _, path in lists))
    sha = digest(files)
    relations = tuple(_relation(line, path) for line, path in lists)
    without_list = [name for name, path in paths.items() if not path.is_file()]
    strays = sorted(path.name for path in inner.glob("*.jsonl") if path.stem not in paths and path not in files)
    notes = (
        *note_on(without_list, "Relations left out, as they have no list of items"),
        *note_on(strays, f"Lists left out, as {RELATIONS_FILE} has no template for them"),
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
