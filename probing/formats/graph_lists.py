"""The files of a knowledge graph that list its triples and its entities."""

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from probing.errors import BadBenchmark
from probing.formats.files import JsonObject, present, read_object, text_lines
from probing.statements.graph import Triple

SPLITS = ("train", "valid", "test")
TRIPLE_FILES = [f"{name}{suffix}" for name in (*SPLITS, "triples") for suffix in (".txt", ".tsv", ".csv")]
ENTITIES = ("entities.tsv", "entities.csv")
ENTITY2WIKIDATA = "entity2wikidata.json"
SEPARATORS = "with tabs between them (in a .csv file: commas)"
SYNSET = re.compile(r"(?P<name>[^.].*?)\..*[nvasr]\.\d+")


@dataclass(frozen=True)
class Entities:
    """Names and categories of entities by id; without `names`, ids are WordNet synsets and hold the names.

    `strict`: if true, a triple with an unknown entity or relation is a fault; else it is left out and counted.
    """

    names: Mapping[str, str] | None = None
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    strict: bool = False

    def name(self, entity: str) -> str:
        """Return the entity's name, or "" if it has none."""
        if self.names is not None:
            return self.names.get(entity, "")
        synset = SYNSET.fullmatch(entity)
        return synset["name"].replace("_", " ") if synset else ""


def read_entities(folder: Path) -> Entities:
    """Read the names and categories of entities in whichever form the folder has them."""
    if wikidata := present(folder, ENTITY2WIKIDATA):
        content = read_object(wikidata)
        return Entities({entity: _wikidata_label(content, entity) for entity in content.values})
    lists = [path for path in (present(folder, name) for name in ENTITIES) if path]
    return _entities_list(lists[0]) if lists else Entities(strict=not _has_synsets(folder))


def _entities_list(path: Path) -> Entities:
    names: dict[str, str] = {}
    categories: dict[str, tuple[str, ...]] = {}
    for row, place in _lines_of_fields(path):
        if len(row) < 2 or not (row[0] and row[1]):
            step = f"Write id, name and, if you like, categories {SEPARATORS}."
            raise BadBenchmark(f"{place}: no id or no name.", step)
        if row[0] in names:
            raise BadBenchmark(f"{place}: {row[0]!r:.80} occurs twice.", "Keep it once.")
        names[row[0]], categories[row[0]] = row[1], tuple(filter(None, row[2:]))
    return Entities(names, categories, strict=True)


def _wikidata_label(content: JsonObject, entity: str) -> str:
    value = content.values[entity]
    label = value.get("label") if isinstance(value, dict) else None
    return label.strip() if isinstance(label, str) else ""


def _has_synsets(folder: Path) -> bool:
    """Return whether the first triple is of WordNet; the names of other graphs' entities are missing."""
    first = next(read_triples(triple_files(folder)[0]), None)
    return first is None or all(SYNSET.fullmatch(entity) for entity in (first[0].head, first[0].tail))


def triple_files(folder: Path) -> list[Path]:
    """Return the files with triples; raise `BadBenchmark` if there is none."""
    files = [path for path in (present(folder, name) for name in TRIPLE_FILES) if path]
    if not files:
        raise BadBenchmark(
            f"There are no triples in {folder}.",
            "Add train.txt, valid.txt, test.txt or triples.tsv: head, relation, tail.",
        )
    return files


def read_triples(path: Path) -> Iterator[tuple[Triple, str]]:
    """Yield each triple of a file, and its place for messages."""
    for row, place in _lines_of_fields(path):
        if len(row) != 3 or not all(row):
            step = f"Write head, relation and tail {SEPARATORS}."
            problem = "more than three fields" if len(row) > 3 else "head, relation or tail is missing"
            raise BadBenchmark(f"{place}: {problem}.", step)
        yield Triple(*row), place


def _lines_of_fields(path: Path) -> Iterator[tuple[list[str], str]]:
    """Yield the stripped fields of each line that is not empty, and the place of the line."""
    csv_file = path.name.removesuffix(".gz").endswith(".csv")
    for number, line in enumerate(text_lines(path), 1):
        if line.strip():
            place = f"{path.name}, line {number}"
            row = _comma_separated(line, place) if csv_file else line.split("\t")
            yield [text.strip() for text in row], place


def _comma_separated(line: str, place: str) -> list[str]:
    try:
        return next(csv.reader([line], strict=True))
    except csv.Error as error:  # such as a quote that is not closed, or lines that end as on old Macs
        step = "Close each quote in its line, and end lines with a line feed."
        raise BadBenchmark(f"{place}: not comma-separated ({error}).", step) from error
