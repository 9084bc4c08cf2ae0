"""Geography folders (methods 5): triples as `triples.jsonl` or `triples.csv`, worded by the sentence generator.

A triple has `fact_type`, `subject` and `objects`: a JSON list, or in CSV a text with the objects between semicolons.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from probing.benchmark import Benchmark, Item, Relation
from probing.errors import BadBenchmark
from probing.formats.files import JsonObject, digest, read_lines, text_lines
from probing.statements.geography.fact_types import FACT_TYPES, FactType
from probing.statements.geography.sentences import Sentence, sentences
from probing.template import ANSWER_SLOT, SUBJECT_SLOT

FILES = ("triples.jsonl", "triples.csv")
COLUMNS = ("fact_type", "subject", "objects")
# What the page of a fact type shows as its template; its items have wordings of their own.
SLOTS = {"{S}": SUBJECT_SLOT, "{O}": ANSWER_SLOT, "{O1}": ANSWER_SLOT, "{O2}": "…"}


@dataclass(frozen=True)
class Triple:
    """A subject with every object known of it, the two most telling first."""

    fact_type: FactType
    subject: str
    objects: tuple[str, ...]


def read(folder: Path) -> Benchmark:
    """One relation per fact type, one item per masked sentence."""
    path = _file(folder)
    triples = read_triples(path)
    found = digest([path])
    chosen = [key for key in FACT_TYPES if any(triple.fact_type.key == key for triple in triples)]
    relations = tuple(_relation(FACT_TYPES[key], triples) for key in chosen)
    return Benchmark(folder.resolve().name.lower(), found[:12], found, relations, probe="cloze", files=(path,))


def read_triples(path: Path) -> list[Triple]:
    """The triples of a CSV or JSON Lines file; the same subject and fact type twice is a fault."""
    lines = _csv_lines(path) if path.suffix == ".csv" else read_lines(path)
    seen: set[tuple[str, str]] = set()
    return [_triple(line, seen) for line in lines]


def _file(folder: Path) -> Path:
    found = [folder / name for name in FILES if (folder / name).is_file()]
    if len(found) == 1:
        return found[0]
    if found:
        raise BadBenchmark(f"{folder} has both {' and '.join(FILES)}.", "Keep one of them.")
    raise BadBenchmark(f"{folder} has neither {' nor '.join(FILES)}.", "Add one or choose another folder.")


def _csv_lines(path: Path) -> list[JsonObject]:
    reader = csv.DictReader(io.StringIO("\n".join(text_lines(path)), newline=""), strict=True)
    try:
        lines = [(reader.line_num, row) for row in reader]
    except csv.Error as error:
        raise BadBenchmark(f"{path.name}, line {reader.line_num}: {error}.", "Correct the line.") from error
    missing = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
    if missing:
        raise BadBenchmark(f"{path.name}, line 1: no column {missing[0]!r}.", f"Head it: {','.join(COLUMNS)}.")
    if not lines:
        raise BadBenchmark(f"{path.name}: no triples.", "Add at least one line.")
    return [_csv_line(row, f"{path.name}, line {number}") for number, row in lines]


def _csv_line(row: dict[str, str], place: str) -> JsonObject:
    if None in row or None in row.values():
        raise BadBenchmark(f"{place}: not as many columns as the head.", "Put texts with commas between quotes.")
    objects = [name.strip() for name in row["objects"].split(";")]
    return JsonObject({**row, "objects": objects if any(objects) else []}, place)


def _triple(line: JsonObject, seen: set[tuple[str, str]]) -> Triple:
    key, subject, objects = line.text("fact_type"), line.text("subject"), line.texts("objects")
    if key not in FACT_TYPES:
        raise line.fault(f"fact type {key!r:.80} is unknown", f"Choose from: {', '.join(FACT_TYPES)}.")
    if not objects:
        raise line.fault("no objects", "Give at least one.")
    if len(set(objects)) < len(objects):
        raise line.fault("an object occurs twice", "Keep it once.")
    for name in (subject, *objects):
        if ANSWER_SLOT in name or name != name.strip() or not any(map(str.isalnum, name)):
            raise line.fault(f"{name!r:.80} is no name", "Write it as it stands in a sentence.")
    if (key, subject) in seen:
        raise line.fault(f"{subject!r:.80} occurs twice for {key}", "Put all its objects into one line.")
    seen.add((key, subject))
    return Triple(FACT_TYPES[key], subject, objects)


def _relation(fact_type: FactType, triples: Iterable[Triple]) -> Relation:
    worded = [
        sentence
        for triple in triples
        if triple.fact_type is fact_type
        for sentence in sentences(fact_type, triple.subject, triple.objects)
    ]
    answers = tuple(dict.fromkeys(sentence.answer for sentence in worded))
    return Relation(
        fact_type.key,
        (_shown(fact_type.templates[0]),),
        answers,
        tuple(_items(worded, answers)),
        name=fact_type.name,
        tags={"fact_type": fact_type.key, "head": fact_type.head},
    )


def _shown(template: str) -> str:
    for slot, text in SLOTS.items():
        template = template.replace(slot, text)
    return template


def _items(worded: Sequence[Sentence], answers: Sequence[str]) -> Iterator[Item]:
    places = {answer: place for place, answer in enumerate(answers)}
    for index, sentence in enumerate(worded):
        yield Item(
            index,
            sentence.subject,
            (places[sentence.answer],),
            tags={
                "leak": "leaky" if sentence.leaky else "not leaky",
                "repeats": "a word twice" if sentence.repeated else "no word twice",
                "length": "long" if sentence.long else "usual",
                "blank": "last" if sentence.blank_last else "inside",
            },
            wording=sentence.text,
            id=sentence.id,
        )
