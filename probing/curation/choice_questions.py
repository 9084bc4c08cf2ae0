"""Multiple choice from any property (methods 1.1), in BEAR's form."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any

from probing.curation import wordings
from probing.curation.facts import (
    SUBCLASS,
    TERRITORY,
    TripleCounts,
    ancestors,
    facts_query,
    label_of,
    parents,
    parents_query,
    subjects_of,
    write_json,
    write_lines,
    write_manifest,
)
from probing.curation.wikidata import EXAMPLE_ITEM, Endpoint, Query, item_number
from probing.errors import BadInput
from probing.files.folders import new_folder
from probing.formats.bear import DOMAINS, METADATA, MULTIPLE, SINGLE

SEVERAL_ANSWERS = "the subject has several answers"
ITEM_WITHOUT_LABEL = "the subject or the answer has no label"
DUPLICATE_SUBJECT = "a better known subject has the same name"
DUPLICATE_ANSWER = "another answer has the same name"
NAME_CONTAINS_NAME = "one name contains the other"
CONTAINS_ANSWER = "the answer contains another answer"
TOO_FEW_SUBJECTS = "the answer has too few subjects"
BEYOND_ANSWER_SPACE = "beyond the answer space"
BEYOND_ITEMS_PER_ANSWER = "beyond the items of an answer"
# A line of a relation's file and, as `links`, the number of sites with an article about its subject.
Line = dict[str, Any]
# Domains of common properties, for which the user gives no other domain.
USUAL_DOMAINS = {
    "Biographical": ("P19", "P20", "P27", "P103", "P106", "P1412"),
    "Geographic": ("P17", "P30", "P36", "P37", "P47", "P190", "P1376"),
    "Political": ("P37", "P530"),
    "Arts": ("P136", "P264", "P364", "P449", "P495", "P1303"),
}


@dataclass(frozen=True)
class MultipleChoicePlan:
    """Settings for the curation of multiple choice.

    `answers`: the most options of a relation, each with `per_answer` items at most. `least_sitelinks`: of a subject.
    `templates` and `domains` by property replace Clozeboard's own.
    """

    properties: tuple[str, ...]
    answers: int = 60
    per_answer: int = 6
    least_sitelinks: int = 30
    language: str = "en"
    templates: Mapping[str, Sequence[str]] = field(default_factory=dict)
    domains: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        wordings.check_properties((*self.properties, *self.templates, *self.domains))
        wordings.check_curated(self.templates, self.properties)
        wordings.check_curated(self.domains, self.properties, "given a domain")
        wordings.check_languages([self.language])
        object.__setattr__(self, "properties", tuple(dict.fromkeys(self.properties)))
        if self.answers < 2 or self.per_answer < 1:
            raise BadInput("A relation needs two answers or more, each with an item.", "Raise the limits.")


def curate(endpoint: Endpoint, plan: MultipleChoicePlan, folder: Path) -> None:
    """Write the benchmark into a new folder, which appears only when it is complete."""
    with new_folder(folder) as new:
        texts = wordings.property_templates(endpoint, plan.properties, plan.language, plan.templates)
        metadata, counts_by_property = {}, {}
        for property in plan.properties:
            triple_counts = TripleCounts()
            items_by_answer = choose(endpoint, property, plan, triple_counts)
            metadata[property] = _relation_metadata(items_by_answer, texts[property])
            write_lines(new / f"{property}.jsonl", list(_item_lines(items_by_answer)))
            counts_by_property[property] = triple_counts.to_json()
        write_json(new / METADATA, metadata)
        write_json(new / DOMAINS, {id: {"domains": domains} for id in metadata if (domains := _domains(id, plan))})
        write_manifest(new, "multiple-choice", endpoint, asdict(plan), counts_by_property)


def queries(plan: MultipleChoicePlan) -> Iterator[Query]:
    """Yield the queries for facts, which are not those for labels; queries about certain items have an example item."""
    yield from (facts_query(property, plan.least_sitelinks) for property in plan.properties)
    yield from (parents_query(property, (EXAMPLE_ITEM,)) for property in (SUBCLASS, TERRITORY))


def choose(
    endpoint: Endpoint, property: str, plan: MultipleChoicePlan, triple_counts: TripleCounts
) -> dict[str, list[Line]]:
    """Return answer -> its items, equally many for each answer, and count what becomes of every triple."""
    by_answer: dict[str, list[Line]] = defaultdict(list)
    for item in _unambiguous_items(endpoint, property, plan, triple_counts):
        by_answer[item["obj_id"]].append(item)
    for answer in _containing_answers(endpoint, set(by_answer)):
        triple_counts.drop(CONTAINS_ANSWER, len(by_answer.pop(answer)))
    count = _items_per_answer([len(items) for items in by_answer.values()], plan)
    if not count:
        reasons = ", ".join(f"{reason}: {number:,}" for reason, number in triple_counts.dropped.most_common())
        counts = f" ({triple_counts.found:,} facts; left out: {reasons or 'none'})"
        raise BadInput(
            f"{property} does not have two answers among subjects with {plan.least_sitelinks} sitelinks{counts}.",
            "Lower --least-sitelinks." if plan.least_sitelinks else "Choose another property.",
        )
    full = {answer: items[:count] for answer, items in by_answer.items() if len(items) >= count}
    best_known = sorted(full, key=lambda answer: (-sum(item["links"] for item in full[answer]), item_number(answer)))
    kept = sorted(best_known[: plan.answers], key=item_number)
    triple_counts.kept = count * len(kept)
    triple_counts.drop(TOO_FEW_SUBJECTS, sum(len(items) for items in by_answer.values() if len(items) < count))
    triple_counts.drop(BEYOND_ANSWER_SPACE, sum(len(by_answer[answer]) for answer in best_known[plan.answers :]))
    triple_counts.drop(BEYOND_ITEMS_PER_ANSWER, sum(len(by_answer[answer]) - count for answer in kept))
    return {answer: full[answer] for answer in kept}


def _unambiguous_items(
    endpoint: Endpoint, property: str, plan: MultipleChoicePlan, triple_counts: TripleCounts
) -> Iterator[Line]:
    """Yield the items of subjects with exactly one answer and usable names, the best-known subjects first."""
    subjects = subjects_of(endpoint, property, plan.least_sitelinks, triple_counts)
    ambiguous = [subject for subject in subjects if len(subject.objects) + subject.others > 1]
    triple_counts.drop(SEVERAL_ANSWERS, sum(len(subject.objects) for subject in ambiguous))
    subjects = [subject for subject in subjects if len(subject.objects) == 1 and not subject.others]
    items = [item for subject in subjects for item in (subject.id, *subject.objects)]
    labels = endpoint.labels(items, [plan.language])
    answers_by_name: dict[str, str] = {}
    for answer in sorted({subject.objects[0] for subject in subjects}, key=item_number):
        answers_by_name.setdefault(label_of(labels, answer, plan.language).casefold(), answer)
    names: set[str] = set()
    for subject in subjects:
        answer = subject.objects[0]
        name, answer_name = (label_of(labels, item, plan.language) for item in (subject.id, answer))
        is_first_of_name = answers_by_name[answer_name.casefold()] == answer
        if reason := _problem_of_names(name, answer_name, is_first_of_name, names):
            triple_counts.drop(reason)
        else:
            names.add(name.casefold())
            names_of_item = {"sub_id": subject.id, "sub_label": name, "obj_id": answer, "obj_label": answer_name}
            yield {**names_of_item, "links": subject.links}


def _problem_of_names(name: str, answer_name: str, is_first_of_name: bool, names: set[str]) -> str:
    """Return the reason why the names make a subject unfit, or an empty text."""
    if not (name and answer_name):
        return ITEM_WITHOUT_LABEL
    if not is_first_of_name:
        return DUPLICATE_ANSWER
    if name.casefold() in names:
        return DUPLICATE_SUBJECT
    is_contained = answer_name.casefold() in name.casefold() or name.casefold() in answer_name.casefold()
    return NAME_CONTAINS_NAME if is_contained else ""


def _containing_answers(endpoint: Endpoint, answers: set[str]) -> set[str]:
    """Return the answers that are a superclass or a territory of another answer."""
    hierarchies = [parents(endpoint, property, answers) for property in (SUBCLASS, TERRITORY)]
    return answers & {higher for above in hierarchies for answer in answers for higher in ancestors(above, answer)}


def _items_per_answer(sizes: Sequence[int], plan: MultipleChoicePlan) -> int:
    """Return how many items of each answer give the most items, in case of a tie the smaller number; 0 if none do."""
    best_total, best_count = 0, 0
    for count in range(1, plan.per_answer + 1):
        answers = min(sum(size >= count for size in sizes), plan.answers)
        if answers > 1 and answers * count > best_total:
            best_total, best_count = answers * count, count
    return best_count


def _relation_metadata(items_by_answer: Mapping[str, Sequence[Line]], templates: Sequence[str]) -> dict[str, Any]:
    return {
        "templates": templates,
        "answer_space_labels": [items[0]["obj_label"] for items in items_by_answer.values()],
        "answer_space_ids": list(items_by_answer),
        "cardinality": SINGLE if all(len(items) == 1 for items in items_by_answer.values()) else MULTIPLE,
    }


def _item_lines(items_by_answer: Mapping[str, Sequence[Line]]) -> Iterator[dict[str, Any]]:
    """Yield the lines of a relation's file, taking the answers in turn so that its first lines are mixed as well."""
    answers = list(items_by_answer)
    for items in zip_longest(*items_by_answer.values()):
        for item in items:
            line = {name: value for name, value in item.items() if name != "links"}
            yield {**line, "answer_idx": answers.index(item["obj_id"])}


def _domains(property: str, plan: MultipleChoicePlan) -> list[str]:
    usual = [domain for domain, properties in USUAL_DOMAINS.items() if property in properties]
    return list(plan.domains.get(property, usual))
