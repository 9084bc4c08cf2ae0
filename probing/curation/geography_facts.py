"""Geography facts (methods 5.1): the best-known places of each kind with the current values of a property.

Writes `triples.jsonl`, from which the reader of the format makes sentences, and a report on the quality of those
sentences (methods 5.4): counts, and the sentences that a person should read. The report's flags are this project's own;
as in the paper, a model may judge how acceptable a sentence with its answer is.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any, Protocol

from probing.curation.facts import (
    ENGLISH,
    NOT_AN_ITEM,
    TripleCounts,
    label_of,
    write_json,
    write_lines,
    write_manifest,
)
from probing.curation.wikidata import (
    EXAMPLE_ITEM,
    Endpoint,
    Labels,
    Query,
    chunks,
    current_value,
    is_a_kind_of,
    item_number,
    label,
    sitelinks,
)
from probing.errors import BadInput, suggestion
from probing.files.folders import new_folder
from probing.formats.geography import ALIASES, FILES
from probing.statements.geography_sentences import FACT_TYPES, VERBS, FactType, Sentence, sentences, words
from probing.template import ANSWER_SLOT, upper_first

REPORT = "report.json"
UNUSABLE_SUBJECT = "the subject has no usable English label"
UNUSABLE_OBJECT = "the object has no usable English label"
DUPLICATE_PLACE = "a better known subject has the same name"
DUPLICATE_OBJECT = "another object has the same name"
DECIMALS = 4  # of probabilities and shares
# The key of the fact type, and one of its sentences.
Worded = tuple[str, Sentence]


# The class of each kind of places, and how many sitelinks a place must have to be sorted: more in large classes.
PLACE_KINDS = {
    "sea": ("Q165", 1),
    "mountain range": ("Q46831", 5),
    "forest": ("Q4421", 1),
    "river": ("Q4022", 25),
    "desert": ("Q8514", 1),
    "waterfall": ("Q34038", 1),
    "canyon": ("Q150784", 1),
    "natural reserve": ("Q179049", 2),
    "continent": ("Q5107", 1),
    "country": ("Q6256", 50),
    "city": ("Q515", 100),
    "air base": ("Q695850", 1),
    "naval base": ("Q1324633", 1),
    "dam": ("Q12323", 3),
    "power station": ("Q159719", 3),
    "mine": ("Q820477", 1),
    "amusement park": ("Q194195", 1),
    "stadium": ("Q483110", 10),
}


@dataclass(frozen=True)
class GeographyPlan:
    """Settings for the curation of geography facts.

    `top`: how many of the best-known places of each kind are taken, 100 to 200 in the paper. `aliases`: also write the
    other English names of all places and objects, which count too.
    """

    fact_types: tuple[str, ...] = tuple(FACT_TYPES)
    top: int = 200
    aliases: bool = False

    def __post_init__(self) -> None:
        if unknown := [name for name in self.fact_types if name not in FACT_TYPES]:
            raise BadInput(f"No fact type {', '.join(unknown)}.", suggestion(unknown[0], FACT_TYPES))
        object.__setattr__(self, "fact_types", tuple(dict.fromkeys(self.fact_types)))
        if not 1 <= self.top <= 5000:
            raise BadInput(f"top cannot be {self.top}.", "Give 1 to 5000.")

    @property
    def chosen(self) -> list[FactType]:
        return [fact_type for key, fact_type in FACT_TYPES.items() if key in self.fact_types]


class SentenceJudge(Protocol):
    """A model that gives the probability that a sentence is acceptable; `about` names the model."""

    @property
    def about(self) -> str: ...

    def acceptability(self, sentences: Sequence[str]) -> Iterable[float]: ...


def curate(endpoint: Endpoint, plan: GeographyPlan, folder: Path) -> None:
    """Write the benchmark into a new folder, which appears only when it is complete."""
    with new_folder(folder) as new:
        triples: list[dict[str, Any]] = []
        counts_by_fact_type = {}
        places = {kind: _places(endpoint, kind, plan.top) for kind in _kinds(plan)}
        for fact_type in plan.chosen:
            triple_counts = TripleCounts()
            typed_triples = list(_place_triples(endpoint, fact_type, places[fact_type.kind], triple_counts))
            triples += typed_triples
            counts_by_fact_type[fact_type.key] = triple_counts.to_json() | {
                "places": len(places[fact_type.kind]),
                "subjects": len(typed_triples),
            }
        if not triples:
            raise BadInput(f"{endpoint.url} has no such places.", "Check the endpoint and the fact types.")
        write_lines(new / FILES[0], triples)
        if plan.aliases:
            (new / ALIASES).write_text(_aliases(endpoint, triples), encoding="utf-8")
        worded = [
            (triple["fact_type"], sentence)
            for triple in triples
            for sentence in sentences(FACT_TYPES[triple["fact_type"]], triple["subject"], tuple(triple["objects"]))
        ]
        write_json(new / REPORT, report(worded))
        write_manifest(new, "geography", endpoint, asdict(plan), counts_by_fact_type)


def queries(plan: GeographyPlan) -> Iterator[Query]:
    """Yield the queries for facts, which are not those for labels; queries about certain items have an example item."""
    yield from (places_query(kind, plan.top) for kind in _kinds(plan))
    properties = dict.fromkeys(fact_type.property for fact_type in plan.chosen)
    yield from (values_query(property, (EXAMPLE_ITEM,)) for property in properties)
    if plan.aliases:
        yield aliases_query((EXAMPLE_ITEM,))


def places_query(kind: str, top: int) -> Query:
    item, least_sitelinks = PLACE_KINDS[kind]
    return Query(
        f"The {top} best known places of the kind {kind}",
        ("subject", "subject_sitelinks"),
        (is_a_kind_of("subject", item, kind),),
        least=least_sitelinks,
        order="DESC(?subject_sitelinks) ?subject",
        limit=top,
    )


def values_query(property: str, subjects: tuple[str, ...]) -> Query:
    return Query(
        f"What {property} says of these places now",
        ("subject", "object", "object_sitelinks"),
        (current_value("subject", property, "object"), f"OPTIONAL {{ {sitelinks('object')} }}"),
        subjects,
    )


def aliases_query(items: tuple[str, ...]) -> Query:
    return Query("Other English names", ("item", "label"), (label("item", (ENGLISH,), "skos:altLabel"),), items)


def _aliases(endpoint: Endpoint, triples: Iterable[Mapping[str, Any]]) -> str:
    """Return the lines of `aliases.toml`: the other names of each place and object, by its name."""
    names: dict[str, str] = {}
    for triple in triples:
        items = (triple["subject_id"], *triple["object_ids"])
        names.update(zip(items, (triple["subject"], *triple["objects"]), strict=True))
    aliases: dict[str, list[str]] = defaultdict(list)
    for row in endpoint.all_rows([aliases_query(chunk) for chunk in chunks(sorted(names, key=item_number))]):
        alias = row["label"].strip()
        if any(map(str.isalnum, alias)) and alias not in (names[row["item"]], *aliases[names[row["item"]]]):
            aliases[names[row["item"]]].append(alias)
    in_quotes = partial(json.dumps, ensure_ascii=False)  # a string of JSON is one of TOML
    return "".join(f"{in_quotes(name)} = {in_quotes(of)}\n" for name, of in aliases.items() if of)


def _kinds(plan: GeographyPlan) -> list[str]:
    return list(dict.fromkeys(fact_type.kind for fact_type in plan.chosen))


def _places(endpoint: Endpoint, kind: str, top: int) -> list[str]:
    return [row["subject"] for row in endpoint.rows(places_query(kind, top))]


def _place_triples(
    endpoint: Endpoint, fact_type: FactType, places: Sequence[str], triple_counts: TripleCounts
) -> Iterator[dict[str, Any]]:
    """Yield a line for each triple whose names can stand in a sentence, its best-known object first; count all."""
    objects_by_place = _objects(endpoint, fact_type.property, places, triple_counts)
    all_objects = (object for objects in objects_by_place.values() for object in objects)
    labels = endpoint.labels([*objects_by_place, *all_objects], [ENGLISH])
    names: set[str] = set()
    for place in places:
        if not (objects := objects_by_place.get(place)):
            continue
        name = _usable_name(labels, place)
        if not name or name in names:
            triple_counts.drop(DUPLICATE_PLACE if name else UNUSABLE_SUBJECT, len(objects))
            continue
        if named_objects := _named_objects(labels, objects, triple_counts):
            names.add(name)
            triple_counts.kept += len(named_objects)
            yield {
                "fact_type": fact_type.key,
                "property": fact_type.property,
                "subject": name,
                "objects": [object_name for _, object_name in named_objects],
                "subject_id": place,
                "object_ids": [id for id, _ in named_objects],
            }


def _objects(
    endpoint: Endpoint, property: str, places: Sequence[str], triple_counts: TripleCounts
) -> dict[str, list[str]]:
    """Return place -> the items that are its current values, the best known first."""
    rows = endpoint.all_rows([values_query(property, chunk) for chunk in chunks(places)])
    triple_counts.found += len({(row["subject"], row["object"]) for row in rows})
    links_by_place: dict[str, dict[str, int]] = defaultdict(dict)
    for row in rows:
        if row["object"].startswith("Q"):
            links_by_place[row["subject"]][row["object"]] = int(row.get("object_sitelinks", 0))
    triple_counts.drop(NOT_AN_ITEM, triple_counts.found - sum(map(len, links_by_place.values())))
    return {place: _best_known_first(links) for place, links in links_by_place.items()}


def _best_known_first(links: Mapping[str, int]) -> list[str]:
    return sorted(links, key=lambda item: (-links[item], item_number(item)))


def _named_objects(labels: Labels, items: Sequence[str], triple_counts: TripleCounts) -> list[tuple[str, str]]:
    """Return (id, name) of the items whose names can stand in a sentence, each name once."""
    ids_by_name: dict[str, str] = {}
    for item in items:
        name = _usable_name(labels, item)
        if name and name not in ids_by_name:
            ids_by_name[name] = item
        else:
            triple_counts.drop(DUPLICATE_OBJECT if name else UNUSABLE_OBJECT)
    return [(id, name) for name, id in ids_by_name.items()]


def _usable_name(labels: Labels, item: str) -> str:
    """Return the item's label if it can stand in a sentence, else an empty text."""
    name = label_of(labels, item)
    return name if any(map(str.isalnum, name)) and ANSWER_SLOT not in name else ""


def report(worded: Sequence[Worded], judge: SentenceJudge | None = None) -> dict[str, Any]:
    """Return counts by fact type and the flagged sentences; with a judge also the acceptability of each sentence."""
    probabilities = _probabilities(worded, judge) if judge else {}
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    flagged: dict[str, list[dict[str, str]]] = defaultdict(list)
    for key, sentence in worded:
        counts[key]["sentences"] += 1
        for flag in _flags(sentence, probabilities.get(sentence.id, 1.0)):
            counts[key][flag] += 1
            flagged[flag].append({"id": sentence.id, "text": sentence.text, "answer": sentence.answer})
    content: dict[str, Any] = {"counts": counts, "flagged": flagged}
    if judge:
        shares = _shares(worded, probabilities)
        content["acceptability"] = {"judge": judge.about, "acceptable": shares, "sentences": probabilities}
    return content


def _probabilities(worded: Sequence[Worded], judge: SentenceJudge) -> dict[str, float]:
    texts = [upper_first(sentence.text.replace(ANSWER_SLOT, sentence.answer)) for _, sentence in worded]
    probabilities = judge.acceptability(texts)
    return {
        sentence.id: round(probability, DECIMALS)
        for (_, sentence), probability in zip(worded, probabilities, strict=True)
    }


def _shares(worded: Iterable[Worded], probabilities: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """Return fact type -> share of acceptable sentences, among all of them and by template."""
    verdicts: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for key, sentence in worded:
        for group in ("all", sentence.template):
            verdicts[key][group].append(_is_acceptable(probabilities[sentence.id]))
    return {
        key: {group: round(fmean(group_verdicts), DECIMALS) for group, group_verdicts in groups.items()}
        for key, groups in verdicts.items()
    }


def _is_acceptable(probability: float) -> bool:
    return probability >= 0.5


def _flags(sentence: Sentence, probability: float) -> Iterator[str]:
    if sentence.leaky:
        yield "leaky"
    if sentence.repeated:
        yield "repeats_a_word"
    if sentence.long:
        yield "long"
    if _is_number_in_doubt(sentence):
        yield "number_in_doubt"
    if not _is_acceptable(probability):
        yield "unacceptable"


def _is_number_in_doubt(sentence: Sentence) -> bool:
    """Return whether a name that looks like a plural stands before a verb in the singular."""
    last_word = (words(sentence.subject) or [""])[-1]
    looks_plural = last_word.endswith("s") and not last_word.endswith(("ss", "us", "is"))
    return looks_plural and any(f"{sentence.subject} {verb} " in sentence.text for verb in VERBS)
