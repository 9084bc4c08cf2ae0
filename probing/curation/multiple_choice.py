"""Multiple choice in BEAR's form (methods 1.1) from any property.

One answer is right for each subject: it is the only one that is stated, and no other option lies above it. Every answer
is right equally often, and no name stands in the other.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any

from probing.curation import wordings
from probing.curation.endpoint import Endpoint, number
from probing.curation.facts import facts_query, labelled, subjects_of
from probing.curation.hierarchy import SUBCLASS, TERRITORY, ancestors, parents, parents_query
from probing.curation.query import Query
from probing.curation.triple_counts import TripleCounts, write_lines, write_manifest
from probing.errors import BadInput
from probing.files.folders import new_folder
from probing.formats.bear import DOMAINS, METADATA, MULTIPLE, SINGLE

SEVERAL = "the subject has several answers"
UNNAMED = "the subject or the answer has no label"
SAME_SUBJECT = "a better known subject has the same name"
SAME_ANSWER = "another answer has the same name"
LEAK = "the one name stands in the other"
TOO_WIDE = "the answer contains another answer"
TOO_FEW = "the answer has too few subjects"
NO_PLACE = "beyond the answer space"
ENOUGH = "beyond the items of an answer"

# What a property is about, where nothing else is asked for.
USUAL_DOMAINS = {
    "Biographical": ("P19", "P20", "P27", "P103", "P106", "P1412"),
    "Geographic": ("P17", "P30", "P36", "P37", "P47", "P190", "P1376"),
    "Political": ("P37", "P530"),
    "Arts": ("P136", "P264", "P364", "P449", "P495", "P1303"),
}


@dataclass(frozen=True)
class Plan:
    """`answers`: options of a relation, at most; `per_answer`: items of each, at most. `least`: sitelinks of a subject.

    `templates` and `domains`: by property, where ours are not wanted or not there.
    """

    properties: tuple[str, ...]
    answers: int = 60
    per_answer: int = 6
    least: int = 30
    language: str = "en"
    templates: Mapping[str, Sequence[str]] = field(default_factory=dict)
    domains: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        wordings.check_properties((*self.properties, *self.templates, *self.domains))
        wordings.check_languages([self.language])
        object.__setattr__(self, "properties", tuple(dict.fromkeys(self.properties)))
        if self.answers < 2 or self.per_answer < 1:
            raise BadInput("A relation needs two answers or more, each with an item.", "Raise the limits.")


@dataclass(frozen=True)
class Item:
    """A subject, its one right answer, and both names."""

    subject: str
    name: str
    links: int
    answer: str
    answer_name: str


def curate(endpoint: Endpoint, plan: Plan, folder: Path) -> None:
    """Write the benchmark into a new folder, whole or not at all."""
    with new_folder(folder) as new:
        texts = wordings.several(endpoint, plan.properties, plan.language, plan.templates)
        metadata, counts_by_predicate = {}, {}
        for property in plan.properties:
            triple_counts = TripleCounts()
            chosen = choose(endpoint, property, plan, triple_counts)
            metadata[property] = _about(chosen, texts[property])
            write_lines(new / f"{property}.jsonl", list(_lines(chosen)))
            counts_by_predicate[property] = triple_counts.to_json()
        _write(new / METADATA, metadata)
        _write(new / DOMAINS, {name: {"domains": domains} for name in metadata if (domains := _domains(name, plan))})
        write_manifest(new, "multiple-choice", endpoint, _settings(plan), counts_by_predicate)


def choose(endpoint: Endpoint, property: str, plan: Plan, triple_counts: TripleCounts) -> dict[str, list[Item]]:
    """Answer -> its items, equally many for each."""
    by_answer: dict[str, list[Item]] = defaultdict(list)
    for item in _items(endpoint, property, plan, triple_counts):
        by_answer[item.answer].append(item)
    for answer in _containing(endpoint, set(by_answer)):
        triple_counts.drop(TOO_WIDE, len(by_answer.pop(answer)))
    each = _balance([len(several) for several in by_answer.values()], plan)
    if not each:
        step = "Lower the number of sitelinks."
        raise BadInput(f"{property} has not two answers among subjects with {plan.least} sitelinks.", step)
    rich = {answer: several[:each] for answer, several in by_answer.items() if len(several) >= each}
    best = sorted(rich, key=lambda answer: (-sum(item.links for item in rich[answer]), number(answer)))
    kept = sorted(best[: plan.answers], key=number)
    triple_counts.kept = each * len(kept)
    triple_counts.drop(TOO_FEW, sum(len(several) for several in by_answer.values() if len(several) < each))
    triple_counts.drop(NO_PLACE, sum(len(by_answer[answer]) for answer in best[plan.answers :]))
    triple_counts.drop(ENOUGH, sum(len(by_answer[answer]) - each for answer in kept))
    return {answer: rich[answer] for answer in kept}


def queries(plan: Plan) -> Iterator[Query]:
    """What would be asked for facts, the queries about given items with one of these; labels are asked beside."""
    yield from (facts_query(property, plan.least) for property in plan.properties)
    yield from (parents_query(property, ("Q42",)) for property in (SUBCLASS, TERRITORY))


def _items(endpoint: Endpoint, property: str, plan: Plan, triple_counts: TripleCounts) -> Iterator[Item]:
    """Every fact that makes an item by itself, about the best known subjects first."""
    subjects = subjects_of(endpoint, property, plan.least, triple_counts)
    triple_counts.drop(SEVERAL, sum(len(each.objects) for each in subjects if len(each.objects) + each.others > 1))
    single = [each for each in subjects if len(each.objects) == 1 and not each.others]
    labels = endpoint.labels([item for each in single for item in (each.id, *each.objects)], [plan.language])
    names: dict[str, str] = {}
    for answer in sorted({each.objects[0] for each in single}, key=number):
        names.setdefault(labelled(labels, answer, plan.language).casefold(), answer)
    seen: set[str] = set()
    for each in single:
        name, answer_name = (labelled(labels, item, plan.language) for item in (each.id, each.objects[0]))
        reason = _fault(name, answer_name, names[answer_name.casefold()] == each.objects[0], seen)
        if reason:
            triple_counts.drop(reason)
        else:
            seen.add(name.casefold())
            yield Item(each.id, name, each.links, each.objects[0], answer_name)


def _fault(name: str, answer: str, answer_is_first: bool, seen: set[str]) -> str:
    if not (name and answer):
        return UNNAMED
    if not answer_is_first:
        return SAME_ANSWER
    if name.casefold() in seen:
        return SAME_SUBJECT
    leaking = answer.casefold() in name.casefold() or name.casefold() in answer.casefold()
    return LEAK if leaking else ""


def _containing(endpoint: Endpoint, answers: set[str]) -> set[str]:
    """The answers that are a superclass or a territory of another."""
    above = [parents(endpoint, property, answers) for property in (SUBCLASS, TERRITORY)]
    return answers & {wide for each in above for answer in answers for wide in ancestors(each, answer)}


def _balance(sizes: Sequence[int], plan: Plan) -> int:
    """How many items each answer gets, so that there are most items; of equals, the one with more answers."""
    best = (0, 0)
    for each in range(1, plan.per_answer + 1):
        answers = min(sum(size >= each for size in sizes), plan.answers)
        if answers > 1 and answers * each > best[0]:
            best = (answers * each, each)
    return best[1]


def _about(chosen: Mapping[str, Sequence[Item]], templates: Sequence[str]) -> dict[str, Any]:
    return {
        "templates": templates,
        "answer_space_labels": [items[0].answer_name for items in chosen.values()],
        "answer_space_ids": list(chosen),
        "cardinality": SINGLE if all(len(items) == 1 for items in chosen.values()) else MULTIPLE,
    }


def _lines(chosen: Mapping[str, Sequence[Item]]) -> Iterator[dict[str, Any]]:
    """HttpCache take turns, so that the first lines of a relation are mixed as well."""
    places = list(chosen)
    for turn in zip_longest(*chosen.values()):
        for item in turn:
            yield {
                "sub_id": item.subject,
                "sub_label": item.name,
                "obj_id": item.answer,
                "obj_label": item.answer_name,
                "answer_idx": places.index(item.answer),
            }


def _domains(property: str, plan: Plan) -> list[str]:
    usual = [domain for domain, properties in USUAL_DOMAINS.items() if property in properties]
    return list(plan.domains.get(property, usual))


def _write(path: Path, content: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _settings(plan: Plan) -> dict[str, Any]:
    return {
        "properties": plan.properties,
        "answers": plan.answers,
        "per_answer": plan.per_answer,
        "least_sitelinks": plan.least,
        "language": plan.language,
    }
