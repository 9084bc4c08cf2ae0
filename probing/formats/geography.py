"""Geography folders (methods 5): triples as `triples.jsonl` or `triples.csv`, worded by the sentence generator.

A triple has `fact_type`, `subject` and `objects`: a JSON list, or in CSV a text with semicolons between the objects.

Sentences that the folder's `left_out.json` names are not asked, which makes the benchmark a new version. Of its keys,
`sentences` lists ids of sentences, `templates` maps fact types to the numbers of templates, and `notes` says to readers
of results what was left out and why. Whatever else the file holds is for people.

Other names that may stand at a blank are in `aliases.toml`, by the name that stands in the triples.
"""

import csv
import io
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from probing.benchmark import Benchmark, Item, Relation
from probing.errors import BadBenchmark
from probing.formats.reading import JsonObject, digest, read_lines, read_object, text_lines
from probing.statements.geography_sentences import FACT_TYPES, FactType, Sentence, sentences
from probing.template import ANSWER_SLOT, SUBJECT_SLOT

FILES = ("triples.jsonl", "triples.csv")
TRIPLE_FIELDS = ("fact_type", "subject", "objects")
# The slots of a fact type's template as those of a relation's. The template is for display only: items have wordings.
DISPLAYED_SLOTS = {"{S}": SUBJECT_SLOT, "{O}": ANSWER_SLOT, "{O1}": ANSWER_SLOT, "{O2}": "…"}
# The key of a fact type, and one of its sentences.
TypedSentence = tuple[str, Sentence]
# A subject with all its objects, the two most important first.
GeographyTriple = tuple[FactType, str, tuple[str, ...]]
LEFT_OUT = "left_out.json"
ALIASES = "aliases.toml"
HOW_TO_ALIAS = 'Write lines such as: Netherlands = ["Holland"].'
Aliases = Mapping[str, Sequence[str]]


def fits(folder: Path) -> bool:
    """Return whether the folder has a file of triples."""
    return any((folder / name).is_file() for name in FILES)


def read(folder: Path) -> Benchmark:
    """Read the triples; there is one relation for each fact type, one item for each masked sentence."""
    files = [path for path in (_file(folder), folder / LEFT_OUT, folder / ALIASES) if path.is_file()]
    sha = digest(files)
    typed, aliases = typed_sentences(folder), _read_aliases(folder)
    keys = [key for key in FACT_TYPES if any(key == of for of, _ in typed)]
    relations = tuple(_relation(FACT_TYPES[key], [part for of, part in typed if of == key], aliases) for key in keys)
    name, notes = folder.resolve().name.lower(), read_left_out(folder).notes
    return Benchmark(name, sha[:12], sha, relations, probe="cloze", files=tuple(files), notes=notes)


def typed_sentences(folder: Path) -> list[TypedSentence]:
    """Return the sentences of a folder, each with the key of its fact type, but those that the folder leaves out."""
    typed = [
        (fact_type.key, sentence)
        for fact_type, subject, objects in read_triples(_file(folder))
        for sentence in sentences(fact_type, subject, objects)
    ]
    left_out = read_left_out(folder)
    if unknown := left_out.sentences - {sentence.id for _, sentence in typed}:
        raise BadBenchmark(f"{LEFT_OUT} names no sentence of {folder}: {min(unknown):.80}.", "Take it out of the list.")
    kept = list(without(typed, left_out))
    if not kept:
        raise BadBenchmark(f"{LEFT_OUT} in {folder} leaves out every sentence.", "Leave out fewer.")
    return kept


def read_triples(path: Path) -> list[GeographyTriple]:
    """Read the triples of a CSV or JSON Lines file; it is a fault if a subject and fact type occur twice."""
    lines = _csv_lines(path) if path.suffix == ".csv" else read_lines(path)
    earlier_pairs: set[tuple[str, str]] = set()
    return [_triple(line, earlier_pairs) for line in lines]


def _file(folder: Path) -> Path:
    files = [folder / name for name in FILES if (folder / name).is_file()]
    if len(files) == 1:
        return files[0]
    if files:
        raise BadBenchmark(f"{folder} has both {' and '.join(FILES)}.", "Keep one of them.")
    raise BadBenchmark(f"{folder} has neither {' nor '.join(FILES)}.", "Add one or choose another folder.")


def _csv_lines(path: Path) -> list[JsonObject]:
    reader = csv.DictReader(io.StringIO("\n".join(text_lines(path)), newline=""), strict=True)
    try:
        lines = [(reader.line_num, row) for row in reader]
    except csv.Error as error:
        line = reader.line_num + 1  # the first one after those that were read
        raise BadBenchmark(f"{path.name}, line {line}: {error}.", "Close each quote that it opens.") from error
    missing = [name for name in TRIPLE_FIELDS if name not in (reader.fieldnames or ())]
    if missing:
        raise BadBenchmark(f"{path.name}, line 1: no column {missing[0]!r}.", f"Head it: {','.join(TRIPLE_FIELDS)}.")
    if not lines:
        raise BadBenchmark(f"{path.name}: no triples.", "Add at least one line.")
    return [_csv_line(row, f"{path.name}, line {number}") for number, row in lines]


def _csv_line(row: dict[str, str], location: str) -> JsonObject:
    if None in row or None in row.values():
        raise BadBenchmark(f"{location}: not as many columns as the head.", "Put texts with commas between quotes.")
    objects = [name.strip() for name in row["objects"].split(";")]
    return JsonObject({**row, "objects": objects if any(objects) else []}, location)


def _triple(line: JsonObject, earlier_pairs: set[tuple[str, str]]) -> GeographyTriple:
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
    if (key, subject) in earlier_pairs:
        raise line.fault(f"{subject!r:.80} occurs twice for {key}", "Put all its objects into one line.")
    earlier_pairs.add((key, subject))
    return FACT_TYPES[key], subject, objects


def _read_aliases(folder: Path) -> Aliases:
    """Read the other names by name; without the file there are none."""
    path = folder / ALIASES
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8-sig")) if path.is_file() else {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadBenchmark(f"{ALIASES} is not TOML ({error}).", HOW_TO_ALIAS) from error
    for name, others in content.items():
        if not isinstance(others, list) or not all(isinstance(other, str) and other.strip() for other in others):
            raise BadBenchmark(f"{ALIASES}: {name} is no list of names.", HOW_TO_ALIAS)
    return content


def _other_answers(sentence: Sentence, aliases: Aliases) -> Sequence[str]:
    """Return what else may stand at the blank: the aliases of a name that is hidden as a whole."""
    return aliases.get(sentence.name, ()) if sentence.name == sentence.answer else ()


def _relation(fact_type: FactType, worded: Sequence[Sentence], aliases: Aliases) -> Relation:
    others = [alias for sentence in worded for alias in _other_answers(sentence, aliases)]
    answers = tuple(dict.fromkeys([*(sentence.answer for sentence in worded), *others]))
    return Relation(
        fact_type.key,
        (_displayed(fact_type.templates[0]),),
        answers,
        tuple(_items(fact_type.key, worded, answers, aliases)),
        name=fact_type.name,
        tags={"fact_type": fact_type.key, "head": fact_type.head},
    )


def _displayed(template: str) -> str:
    for slot, text in DISPLAYED_SLOTS.items():
        template = template.replace(slot, text)
    return template


def _items(key: str, worded: Sequence[Sentence], answers: Sequence[str], aliases: Aliases) -> Iterator[Item]:
    places = {answer: index for index, answer in enumerate(answers)}
    for index, sentence in enumerate(worded):
        yield Item(
            index,
            sentence.subject,
            tuple(places[answer] for answer in (sentence.answer, *_other_answers(sentence, aliases))),
            tags={
                "leak": "leaky" if sentence.leaky else "not leaky",
                "repeats": "a word twice" if sentence.repeated else "no word twice",
                "length": "long" if sentence.long else "usual",
                "blank": "last" if sentence.blank_last else "inside",
                "masked": "subject" if sentence.masks_subject else "object",
                "wording": f"{key} {sentence.template}",
            },
            wording=sentence.text,
            id=sentence.id,
            names=sentence.names,
        )


@dataclass(frozen=True)
class LeftOut:
    """Ids of sentences, and by fact type numbers of templates, that are not asked; `notes` are for readers."""

    sentences: frozenset[str] = frozenset()
    templates: Mapping[str, frozenset[str]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def covers(self, fact_type: str, sentence: Sentence) -> bool:
        return sentence.id in self.sentences or sentence.template in self.templates.get(fact_type, ())


def read_left_out(folder: Path) -> LeftOut:
    """Read the file of a benchmark's folder; without one nothing is left out."""
    if not (folder / LEFT_OUT).is_file():
        return LeftOut()
    content = read_object(folder / LEFT_OUT)
    templates = content.values.get("templates", {})
    if not isinstance(templates, dict):
        raise content.fault("'templates' is not a JSON object", "Map each fact type to a list of templates' numbers.")
    by_type = JsonObject(templates, content.location)
    return LeftOut(
        frozenset(content.texts("sentences")),
        {fact_type: frozenset(by_type.texts(fact_type)) for fact_type in templates},
        content.texts("notes"),
    )


def without(typed: Iterable[TypedSentence], left_out: LeftOut) -> Iterator[TypedSentence]:
    """Yield the sentences that are not left out."""
    return ((key, sentence) for key, sentence in typed if not left_out.covers(key, sentence))
