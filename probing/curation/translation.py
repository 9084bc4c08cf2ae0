"""A set of culture facts carried over to further languages by Wikidata's labels and by templates, in DLAMA's layout.

The new folder has the facts in the languages of the source and in the new ones. A triple whose subject or object has no
label in a new language is left out of all languages, so that every language has the same facts, as in DLAMA.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from probing.curation import wordings
from probing.curation.culture_facts import OBJECT_WITHOUT_LABEL, SUBJECT_WITHOUT_LABEL, write_templates
from probing.curation.facts import ENGLISH, TripleCounts, write_json, write_lines, write_manifest
from probing.curation.predicates import PREDICATES, Predicate
from probing.curation.wikidata import EXAMPLE_ITEM, Endpoint, Labels, Query, labels_query
from probing.errors import BadInput
from probing.files.folders import new_folder
from probing.formats.dlama import TEMPLATES_FOLDER, fact_files, read, templates_folder, values_of
from probing.formats.own_wordings import QUESTIONS_FILE, TEMPLATE_FILE, file_questions
from probing.formats.reading import JsonObject, parse_lines, read_object


@dataclass(frozen=True)
class TranslationPlan:
    """Settings for carrying a set over to further languages.

    `source`: a folder or archive in DLAMA's layout, curated or not. `templates`: a folder with
    <language>/templates.jsonl; by default those of the source, or else of the predicates. `own`: the user's own
    predicates, whose templates and questions go before those that ship.
    """

    source: Path
    languages: tuple[str, ...]
    templates: Path | None = None
    own: Mapping[str, Predicate] = field(default_factory=dict)

    def __post_init__(self) -> None:
        wordings.check_languages(self.languages)
        object.__setattr__(self, "languages", tuple(dict.fromkeys(self.languages)))


@dataclass(frozen=True)
class FactsFile:
    """The facts of a predicate, and often of a region, in one kind of objects; `lines` by language of the source."""

    pair: str
    kind: str
    name: str
    lines: Mapping[str, Sequence[JsonObject]]

    @property
    def predicate(self) -> str:
        return re.split(r"[_.]", self.name)[0]

    @property
    def reference(self) -> Sequence[JsonObject]:
        """Return the lines that are translated: the English ones, or else those of the first language."""
        return self.lines[ENGLISH if ENGLISH in self.lines else min(self.lines)]


def curate(endpoint: Endpoint, plan: TranslationPlan, folder: Path) -> tuple[int, int]:
    """Write the set in all languages into a new folder, which appears only when it is complete.

    Return the numbers of triples that the source has and that were kept, over all files.
    """
    digest = read(plan.source).digest  # refuses a source that cannot be read
    files = _files(fact_files(plan.source), plan.languages)
    predicates = sorted({file.predicate for file in files}, key=lambda id: int(id[1:]))
    templates = {language: _templates(plan, predicates, language) for language in plan.languages}
    labels = NewLabels(endpoint.labels(_items(files), plan.languages), plan.languages)
    with new_folder(folder) as new:
        _write_wordings(plan, predicates, templates, new)
        counts: dict[str, dict[str, Any]] = defaultdict(dict)
        for file in files:
            counts[f"{file.pair}/{file.kind}"][Path(file.name).stem] = _write_file(file, labels, new)
        triples, kept = (_total(counts, key) for key in ("found", "kept"))
        if not kept:
            raise BadInput(f"No fact has labels in {' and '.join(plan.languages)}.", "Check the language codes.")
        settings = {"source": plan.source.resolve().name, "digest": digest, "languages": plan.languages}
        write_manifest(new, "translation", endpoint, settings, counts)
    return triples, kept


def _total(counts: Mapping[str, Mapping[str, Any]], key: str) -> int:
    return sum(file[key] for files in counts.values() for file in files.values())


def queries(plan: TranslationPlan) -> Iterator[Query]:
    """Yield the query for labels with an example item."""
    yield labels_query(sorted(plan.languages), (EXAMPLE_ITEM,))


def _files(contents: Mapping[str, bytes], languages: Sequence[str]) -> list[FactsFile]:
    """Return the files of the source; raise `BadInput` if it has one of the new languages already."""
    by_place: dict[tuple[str, str, str], dict[str, Sequence[JsonObject]]] = defaultdict(dict)
    for path, content in contents.items():
        pair, kind, language, name = path.split("/")
        if language in languages:
            raise BadInput(f"The set has facts in {language!r} already.", "Choose another language.")
        by_place[pair, kind, name][language] = parse_lines(content, path)
    return [FactsFile(*place, lines) for place, lines in sorted(by_place.items())]


def _items(files: Iterable[FactsFile]) -> set[str]:
    lines = (line for file in files for lines in file.lines.values() for line in lines)
    return {item for line in lines for item in (_item(line, line.text("sub_uri")), *_objects(line))}


def _objects(line: JsonObject) -> list[str]:
    return [_item(line, value) for value in values_of(line, "obj_uri")]


def _item(line: JsonObject, value: object) -> str:
    """Return the value if it is an item, because it becomes part of a query."""
    if not (isinstance(value, str) and re.fullmatch(r"Q[1-9]\d*", value)):
        raise line.fault(f"{value!r:.80} is not an item of Wikidata", "Only items have labels in other languages.")
    return value


def _templates(plan: TranslationPlan, predicates: Sequence[str], language: str) -> dict[str, str]:
    """Return predicate -> template: the user's, else the source's if it has some, else those of the entries."""
    source = templates_folder(plan.source)
    folder = plan.templates or (source if (source / language / TEMPLATE_FILE).is_file() else None)
    return wordings.templates(_texts(plan, predicates, "templates"), language, folder)


def _texts(plan: TranslationPlan, predicates: Sequence[str], key: str) -> dict[str, Mapping[str, str]]:
    """Return predicate -> language -> template or question, nothing for predicates without an entry."""
    entries = {**PREDICATES, **plan.own}
    return {id: getattr(entries[id], key) if id in entries else {} for id in predicates}


def _write_wordings(
    plan: TranslationPlan, predicates: Sequence[str], templates: Mapping[str, Mapping[str, str]], folder: Path
) -> None:
    """Copy the templates and questions of the source, and add those in the new languages."""
    source = templates_folder(plan.source)
    for path in source.glob(f"*/{TEMPLATE_FILE}"):
        target = folder / TEMPLATES_FOLDER / path.parent.name / TEMPLATE_FILE
        target.parent.mkdir(parents=True)
        target.write_bytes(path.read_bytes())
    for language, texts in templates.items():
        if plan.templates or not (source / language / TEMPLATE_FILE).is_file():
            write_templates(folder, language, texts)
    content = dict(read_object(source / QUESTIONS_FILE).values) if (source / QUESTIONS_FILE).is_file() else {}
    questions = {id: dict(texts) for id, texts in content.get("questions", {}).items()}
    for id, texts in file_questions(_texts(plan, predicates, "questions"), plan.languages).items():
        questions[id] = texts | questions.get(id, {})
    if any(questions.values()):
        write_json(folder / TEMPLATES_FOLDER / QUESTIONS_FILE, content | {"questions": questions})


@dataclass(frozen=True)
class NewLabels:
    """The labels of the set's items in the new languages."""

    labels: Labels
    languages: Sequence[str]

    def missing_language(self, item: str) -> str:
        """Return the first language in which the item has no label, or an empty text."""
        return next((language for language in self.languages if language not in self.labels[item]), "")

    def kept(self, line: JsonObject) -> list[int]:
        """Return the positions of a line's objects that have all labels; none if its subject lacks one."""
        if self.missing_language(line.text("sub_uri")):
            return []
        return [index for index, object in enumerate(_objects(line)) if not self.missing_language(object)]

    def count(self, line: JsonObject, triple_counts: TripleCounts) -> None:
        objects = _objects(line)
        triple_counts.found += len(objects)
        triple_counts.kept += len(self.kept(line))
        if language := self.missing_language(line.text("sub_uri")):
            return triple_counts.drop(SUBJECT_WITHOUT_LABEL.format(language), len(objects))
        for language in filter(None, map(self.missing_language, objects)):
            triple_counts.drop(OBJECT_WITHOUT_LABEL.format(language))

    def shortened(self, line: JsonObject) -> dict[str, Any]:
        """Return a line of the source with the objects that are kept, or nothing if none is."""
        positions, objects, names = self.kept(line), _objects(line), values_of(line, "obj_label")
        if not (positions and names):
            return {}
        if len(objects) != len(names):
            raise line.fault(f"{len(objects)} obj_uri but {len(names)} obj_label", "Make the two lists equally long.")
        kept = {"obj_uri": [objects[index] for index in positions], "obj_label": [names[index] for index in positions]}
        return line.values | kept

    def translated(self, line: JsonObject, language: str) -> dict[str, Any]:
        """Return a line in a new language with the objects that are kept, or nothing if none is."""
        if not (positions := self.kept(line)):
            return {}
        objects = [_objects(line)[index] for index in positions]
        names = {
            "sub_label": self.labels[line.text("sub_uri")][language],
            "obj_label": [self.labels[object][language] for object in objects],
        }
        return line.values | {"obj_uri": objects} | names


def _write_file(file: FactsFile, labels: NewLabels, folder: Path) -> dict[str, Any]:
    """Write the facts in all languages; return the counts of their triples and the number of facts."""
    triple_counts = TripleCounts()
    for line in file.reference:
        labels.count(line, triple_counts)
    lines_by_language = {language: [labels.shortened(line) for line in lines] for language, lines in file.lines.items()}
    for language in labels.languages:
        lines_by_language[language] = [labels.translated(line, language) for line in file.reference]
    for language, lines in lines_by_language.items():
        if any(lines):
            write_lines(folder / file.pair / file.kind / language / file.name, list(filter(None, lines)))
    return triple_counts.to_json() | {"facts": sum(bool(labels.kept(line)) for line in file.reference)}
