"""DLAMA (methods 4): `<pair>/dlama/<language>/<predicate>_*.jsonl`, as a folder or as the archive itself.

`dlama_raw/` holds the same facts before objects were augmented; older releases say `cultlama`. The templates are in
`templates/<language>/templates.jsonl`, the questions in `templates/questions.json`, in the folder or beside it. Facts
without a template are left out, and the benchmark's notes tell how many.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from pathlib import Path
from typing import NamedTuple

from probing.benchmark import Benchmark, Item, Relation, Tags
from probing.errors import BadBenchmark
from probing.formats.dlama_files import (
    ARCHIVES,
    FACTS_GLOB,
    FACTS_PATH,
    TEMPLATES_FOLDER,
    archives_in,
    fact_files,
    facts_place,
    templates_folder,
)
from probing.formats.dlama_wordings import Wordings, read_wordings, source_notes, template_lines
from probing.formats.files import JsonObject, digest_of, parse_lines
from probing.formats.own_questions import QUESTION_SLOT, QUESTIONS_FILE
from probing.formats.own_templates import TEMPLATE_FILE
from probing.formats.verbatim import verbatim
from probing.template import SUBJECT_SLOT

# The keys of a fact that are read.
FACT_KEYS = frozenset({"sub_uri", "sub_label", "obj_uri", "obj_label", "culture", "uuid"})
# The region in capitals that ends a file's name or, before a running number, a line's uuid.
REGION = re.compile(r"_([A-Z]{2}[A-Z0-9_]*?)(?:_\d+)?\Z")
# Reasons why items are left out.
WITHOUT_TEMPLATE = "no template in"
WITHOUT_LABEL_OR_CULTURE = "a label or the culture is missing"

# Spelled as in published figures; releases differ in their hyphens and underscores.
CULTURE_PAIRS = ("arab-west", "asia-west", "south-america-west")
# A release may hold the raw objects beside the augmented ones.
USUAL_TAGS = {"objects": "augmented"}

# Searched in this order in the name of a region; the other regions, such as NORTH_AMERICA, are the West.
CULTURES = {"SOUTH_AMERICA": "South America", "ARAB": "Arab", "ASIA": "Asia", "JAPAN": "Asia", "CHINA": "Asia"}
WEST = "West"


class Version(NamedTuple):
    """A predicate in one culture pair, language and kind of objects: each version becomes a relation."""

    predicate: str
    pair: str
    language: str
    objects: str

    @property
    def id(self) -> str:
        return ".".join(self if self.objects == "raw" else self[:3])


@dataclass(frozen=True)
class DlamaFact:
    """A line: a subject with the labels of its valid objects by id."""

    subject_id: str
    subject: str
    objects: Mapping[str, str]
    culture: str


def fits(path: Path) -> bool:
    """Return whether it is an archive, or a folder with pairs, or one with an archive and templates."""
    archive = path.name.endswith(ARCHIVES) or ((path / TEMPLATES_FOLDER).is_dir() and bool(archives_in(path)))
    return archive or any(path.glob(FACTS_GLOB))


def read(path: Path) -> Benchmark:
    """Read one relation for each predicate, pair, language and kind of objects; its items alternate by culture."""
    place = facts_place(path)
    facts = fact_files(place)
    templates = templates_folder(path)
    wording_files = sorted([*templates.glob(f"*/{TEMPLATE_FILE}"), *templates.glob(QUESTIONS_FILE)])
    texts = {file.relative_to(templates).as_posix(): file.read_bytes() for file in wording_files}
    sha = digest_of([*facts.items(), *((f"{TEMPLATES_FOLDER}/{name}", content) for name, content in texts.items())])
    files = ((place,) if place.is_file() else tuple(place / name for name in facts)) + tuple(wording_files)
    left_out: Counter[str] = Counter()
    relations = tuple(_relations(facts, read_wordings(texts), left_out))
    if not relations:
        raise BadBenchmark(f"{path.name}: no predicate has a template.", f"Add it to <language>/{TEMPLATE_FILE}.")
    name = path.resolve().name.lower().split(".")[0]
    notes = [f"Items left out, {reason}: {items:,}." for reason, items in left_out.items()]
    notes += source_notes(template_lines(texts), relations)
    further = ("answering",) if any(relation.questions for relation in relations) else ()
    benchmark = Benchmark(name, sha[:12], sha, relations, files=files, notes=tuple(notes), usual_tags=USUAL_TAGS)
    return verbatim(replace(benchmark, probe="ranking", further_probes=further))


def _relations(facts: Mapping[str, bytes], wordings: Wordings, left_out: Counter[str]) -> Iterator[Relation]:
    """Yield the relations of all versions that have a template.

    Items are numbered through all relations of a predicate, in the order of the files. The numbers of items that
    cannot be used are added to `left_out`, by reason.
    """
    versions: dict[Version, list[str]] = defaultdict(list)
    for name in facts:
        versions[_version_of_file(name)].append(name)
    begin: dict[str, int] = defaultdict(int)
    for version in sorted(versions, key=_page_order):
        if (version.language, version.predicate) not in wordings.templates:
            lines = sum(len(facts[name].splitlines()) for name in versions[version])
            left_out[f"{WITHOUT_TEMPLATE} {version.language}"] += lines
            continue
        read = [fact for name in versions[version] for fact in _read_facts(facts[name], name)]
        if usable := [fact for fact in read if fact]:
            yield _relation(version, usable, begin[version.predicate], wordings)
            begin[version.predicate] += len(usable)
        if unusable := len(read) - len(usable):
            left_out[WITHOUT_LABEL_OR_CULTURE] += unusable


def _version_of_file(name: str) -> Version:
    match = FACTS_PATH.fullmatch(name)
    if not match:
        raise BadBenchmark(
            f"{name} is not a file of DLAMA.", "Name it <pair>/dlama/<language>/<predicate>_<...>.jsonl."
        )
    objects = "raw" if match["raw"] else "augmented"
    return Version(match["predicate"], pair_named(match["pair"]), match["language"], objects)


def pair_named(text: str) -> str:
    """Return the name of a culture pair in one spelling: southamerica_west is south-america-west."""
    plain = text.lower().replace("_", "-")
    return next((pair for pair in CULTURE_PAIRS if pair.replace("-", "") == plain.replace("-", "")), plain)


def _page_order(version: Version) -> tuple[str, str, str, int]:
    """Return a sort key: pair, objects, language, then the predicate by its number."""
    return version.pair, version.objects, version.language, int(version.predicate[1:])


def _read_facts(content: bytes, name: str) -> Iterator[DlamaFact | None]:
    """Yield the fact of each line of a file, or None if it has no labels or no culture and cannot be used."""
    match = FACTS_PATH.fullmatch(name)
    file_region = _region((match and match["region"]) or "")
    for line in parse_lines(content, name):
        line.refuse_misspelt_keys(FACT_KEYS)
        labels = values_of(line, "obj_label")
        has_labels = labels and not any(map(_is_blank, (line.values.get("sub_label"), *labels)))
        culture = _culture_of(line, file_region)
        yield _fact(line, culture) if has_labels and culture else None


def values_of(line: JsonObject, name: str) -> Sequence[object]:
    """Return the values of a field that holds a list or, in older releases, a single value."""
    value = line.values.get(name, [])
    return value if isinstance(value, list) else [value]


def _is_blank(label: object) -> bool:
    return label is None or (isinstance(label, str) and not label.strip())


def _fact(line: JsonObject, culture: str) -> DlamaFact:
    lists = {name: values_of(line, name) for name in ("obj_uri", "obj_label")}
    ids, labels = (JsonObject({**line.values, **lists}, line.place).texts(name) for name in lists)
    if len(ids) != len(labels):
        raise line.fault(f"{len(ids)} obj_uri but {len(labels)} obj_label", "Make the two lists equally long.")
    objects = dict(zip(ids, labels, strict=True))
    return DlamaFact(line.text("sub_uri"), line.text("sub_label"), objects, culture)


def _culture_of(line: JsonObject, file_region: str) -> str:
    """Return the line's field `culture`; else that of the file's region, else that of the region in the line's uuid.

    Returns an empty text where none of them says what the culture is.
    """
    if line.values.get("culture") is not None:
        return line.text("culture")
    uuid = line.values.get("uuid")
    region = file_region or (_region(uuid) if isinstance(uuid, str) else "")
    return next((culture for word, culture in CULTURES.items() if word in region), WEST) if region else ""


def _region(text: str) -> str:
    """Return the region that ends the text, such as ARAB_REGION in P36_general_ARAB_REGION_7, or an empty text."""
    match = REGION.search(text)
    return match[1] if match else ""


def _relation(version: Version, facts: Sequence[DlamaFact], first_index: int, wordings: Wordings) -> Relation:
    """Build a relation whose answer space is the sorted distinct labels of all valid objects of both cultures."""
    ids: dict[str, set[str]] = defaultdict(set)
    cultures: dict[str, set[str]] = defaultdict(set)
    for fact in facts:
        for id_, label in fact.objects.items():
            ids[label].add(id_)
            cultures[label].add(fact.culture)
    labels = sorted(ids)
    place = {label: index for index, label in enumerate(labels)}
    tags: dict[str, Tags] = {culture: {"culture": culture} for culture in {fact.culture for fact in facts}}
    answers = _shared_answers(facts, place)
    items = [
        Item(first_index + index, fact.subject, right, fact.subject_id, tags[fact.culture])
        for index, (fact, right) in enumerate(zip(facts, answers, strict=True))
    ]
    wording = version.language, version.predicate
    question = wordings.questions.get(wording)
    return Relation(
        id=version.id,
        templates=(wordings.templates[wording],),
        answer_space=tuple(labels),
        items=_alternating(items),
        answer_ids=tuple(min(ids[label], key=natural) for label in labels),
        tags={
            "culture_pair": version.pair,
            "language": version.language,
            "predicate": version.predicate,
            "objects": version.objects,
        },
        answer_tags=tuple({"culture": tuple(sorted(cultures[label]))} for label in labels),
        questions=(question.replace(QUESTION_SLOT, SUBJECT_SLOT),) if question else (),
        system=wordings.systems.get(version.language, ""),
    )


def _shared_answers(facts: Iterable[DlamaFact], place: Mapping[str, int]) -> Iterator[tuple[int, ...]]:
    """Yield the right answers of each fact; facts with the same ones have one tuple."""
    shared: dict[tuple[int, ...], tuple[int, ...]] = {}
    for fact in facts:
        answers = tuple(sorted({place[label] for label in fact.objects.values()}))
        yield shared.setdefault(answers, answers)


def _alternating(items: Sequence[Item]) -> tuple[Item, ...]:
    """Return the items so that their cultures alternate: then the first items of a relation are of both."""
    by_culture: dict[object, list[Item]] = defaultdict(list)
    for item in items:
        by_culture[item.tags["culture"]].append(item)
    turns = zip_longest(*by_culture.values())
    return tuple(item for item in chain.from_iterable(turns) if item is not None)


def natural(id_: str) -> tuple[str, int, str]:
    """Return a sort key by which Q9 comes before Q10."""
    digits = re.search(r"\d+", id_)
    return (id_[: digits.start()], int(digits[0]), id_) if digits else (id_, 0, id_)
