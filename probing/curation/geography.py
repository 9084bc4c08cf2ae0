"""Geography facts (methods 5.1): the best known places of each kind, with what a property says of them now.

Writes `triples.jsonl`, which the reader words by the sentence generator, and `report.json` on those sentences.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from probing.curation.endpoint import Endpoint, Labels, number
from probing.curation.facts import labelled
from probing.curation.quality import Judge, report
from probing.curation.query import Query, chunks, current, is_a_kind_of, sitelinks
from probing.curation.triple_counts import NO_ITEM, TripleCounts, write_lines, write_manifest
from probing.errors import BadInput
from probing.files.folders import new_folder
from probing.formats.geography import FILES
from probing.statements.geography.fact_types import FACT_TYPES, FactType
from probing.statements.geography.sentences import Sentence, sentences
from probing.template import ANSWER_SLOT

REPORT = "report.json"
LANGUAGE = "en"  # the templates' language
UNNAMED_SUBJECT = "the subject has no usable English label"
UNNAMED_OBJECT = "the object has no usable English label"
SAME_SUBJECT = "a better known subject has the same name"
SAME_OBJECT = "another object has the same name"


class Kind(NamedTuple):
    """A class of places; of large ones, only those with as many sitelinks are sorted."""

    item: str
    least: int = 1


KINDS = {
    "sea": Kind("Q165"),
    "mountain range": Kind("Q46831", 5),
    "forest": Kind("Q4421"),
    "river": Kind("Q4022", 25),
    "desert": Kind("Q8514"),
    "waterfall": Kind("Q34038"),
    "canyon": Kind("Q150784"),
    "natural reserve": Kind("Q179049", 2),
    "continent": Kind("Q5107"),
    "country": Kind("Q6256", 50),
    "city": Kind("Q515", 100),
    "air base": Kind("Q695850"),
    "naval base": Kind("Q1324633"),
    "dam": Kind("Q12323", 3),
    "power station": Kind("Q159719", 3),
    "mine": Kind("Q820477"),
    "amusement park": Kind("Q194195"),
    "stadium": Kind("Q483110", 10),
}


@dataclass(frozen=True)
class Plan:
    """`top`: places of a kind; the paper takes the first 100 to 200."""

    fact_types: tuple[str, ...] = tuple(FACT_TYPES)
    top: int = 200

    def __post_init__(self) -> None:
        if unknown := [name for name in self.fact_types if name not in FACT_TYPES]:
            raise BadInput(f"No fact type {', '.join(unknown)}.", f"Choose from: {', '.join(FACT_TYPES)}.")
        object.__setattr__(self, "fact_types", tuple(dict.fromkeys(self.fact_types)))
        if not 1 <= self.top <= 5000:
            raise BadInput(f"top cannot be {self.top}.", "Give 1 to 5000.")

    @property
    def chosen(self) -> list[FactType]:
        return [fact_type for key, fact_type in FACT_TYPES.items() if key in self.fact_types]


@dataclass(frozen=True)
class Triple:
    """A place and its objects, the best known first; ids beside names."""

    fact_type: FactType
    subject: tuple[str, str]
    objects: tuple[tuple[str, str], ...]

    def sentences(self) -> Iterator[Sentence]:
        return sentences(self.fact_type, self.subject[1], tuple(name for _, name in self.objects))

    def line(self) -> dict[str, Any]:
        return {
            "fact_type": self.fact_type.key,
            "property": self.fact_type.property,
            "subject": self.subject[1],
            "objects": [name for _, name in self.objects],
            "subject_id": self.subject[0],
            "object_ids": [id for id, _ in self.objects],
        }


def curate(endpoint: Endpoint, plan: Plan, folder: Path, judge: Judge | None = None) -> None:
    """Write the benchmark into a new folder, whole or not at all; `judge` has its say in the report."""
    with new_folder(folder) as new:
        triples: list[Triple] = []
        counts_by_predicate = {}
        places = {kind: _places(endpoint, kind, plan.top) for kind in dict.fromkeys(each.kind for each in plan.chosen)}
        for fact_type in plan.chosen:
            triple_counts = TripleCounts()
            found = list(_triples(endpoint, fact_type, places[fact_type.kind], triple_counts))
            triples += found
            counts_by_predicate[fact_type.key] = triple_counts.to_json() | {
                "places": len(places[fact_type.kind]),
                "subjects": len(found),
            }
        if not triples:
            raise BadInput(f"{endpoint.url} knows no such places.", "Check --endpoint and the fact types.")
        write_lines(new / FILES[0], [triple.line() for triple in triples])
        worded = [(triple.fact_type.key, sentence) for triple in triples for sentence in triple.sentences()]
        text = json.dumps(report(worded, judge), ensure_ascii=False, indent=1)
        (new / REPORT).write_text(text + "\n", encoding="utf-8")
        settings = {"fact_types": plan.fact_types, "top": plan.top}
        write_manifest(new, "geography", endpoint, settings, counts_by_predicate)


def places_query(kind: str, top: int) -> Query:
    about = KINDS[kind]
    return Query(
        f"The {top} best known places of the kind {kind}",
        ("subject", "subject_sitelinks"),
        (is_a_kind_of("subject", about.item, kind),),
        least=about.least,
        order="DESC(?subject_sitelinks) ?subject",
        limit=top,
    )


def values_query(property: str, subjects: tuple[str, ...]) -> Query:
    return Query(
        f"What {property} says of these places now",
        ("subject", "object", "object_sitelinks"),
        (current("subject", property, "object"), f"OPTIONAL {{ {sitelinks('object')} }}"),
        subjects,
    )


def queries(plan: Plan) -> Iterator[Query]:
    """What would be asked for facts, the queries about given places with one of these; labels are asked beside."""
    yield from (places_query(kind, plan.top) for kind in dict.fromkeys(each.kind for each in plan.chosen))
    yield from (values_query(property, ("Q42",)) for property in dict.fromkeys(each.property for each in plan.chosen))


def _places(endpoint: Endpoint, kind: str, top: int) -> list[str]:
    """The best known first."""
    return [row["subject"] for row in endpoint.rows(places_query(kind, top))]


def _triples(
    endpoint: Endpoint, fact_type: FactType, places: Sequence[str], triple_counts: TripleCounts
) -> Iterator[Triple]:
    objects = _objects(endpoint, fact_type.property, places, triple_counts)
    labels = endpoint.labels([*objects, *(item for several in objects.values() for item in several)], [LANGUAGE])
    seen: set[str] = set()
    for place in places:
        if not (several := objects.get(place)):
            continue
        name = _usable(labels, place)
        if not name or name in seen:
            triple_counts.drop(SAME_SUBJECT if name else UNNAMED_SUBJECT, len(several))
            continue
        if named := _named(labels, several, triple_counts):
            seen.add(name)
            triple_counts.kept += len(named)
            yield Triple(fact_type, (place, name), tuple((id, text) for text, id in named.items()))


def _objects(
    endpoint: Endpoint, property: str, places: Sequence[str], triple_counts: TripleCounts
) -> dict[str, list[str]]:
    """Place -> the items that the property names, the best known first."""
    rows = endpoint.all_rows([values_query(property, given) for given in chunks(places)])
    triple_counts.found += len({(row["subject"], row["object"]) for row in rows})
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for row in rows:
        if row["object"].startswith("Q"):
            found[row["subject"]][row["object"]] = int(row.get("object_sitelinks", 0))
    triple_counts.drop(NO_ITEM, triple_counts.found - sum(map(len, found.values())))
    return {place: _best_known(links) for place, links in found.items()}


def _best_known(links: Mapping[str, int]) -> list[str]:
    return sorted(links, key=lambda item: (-links[item], number(item)))


def _named(labels: Labels, items: Sequence[str], triple_counts: TripleCounts) -> dict[str, str]:
    """Name -> item, each name once."""
    found: dict[str, str] = {}
    for item in items:
        name = _usable(labels, item)
        if name and name not in found:
            found[name] = item
        else:
            triple_counts.drop(SAME_OBJECT if name else UNNAMED_OBJECT)
    return found


def _usable(labels: Mapping[str, Mapping[str, str]], item: str) -> str:
    """Its label, if that can stand in a sentence."""
    name = labelled(labels, item, LANGUAGE)
    return name if any(map(str.isalnum, name)) and ANSWER_SLOT not in name else ""
