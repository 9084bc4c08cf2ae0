"""Any set of properties as a knowledge graph in words (methods 3.1), for the perplexity probe."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from probing.curation import wordings
from probing.curation.endpoint import Endpoint, Labels, number
from probing.curation.facts import facts_query, labelled, subjects_of
from probing.curation.query import Query, best, chunks
from probing.curation.triple_counts import TripleCounts, write_manifest
from probing.errors import BadInput
from probing.files.folders import new_folder
from probing.formats.knowledge_graph import ENTITIES, TEMPLATES
from probing.statements.graph import HEAD_SLOT, TAIL_SLOT, Triple
from probing.template import ANSWER_SLOT, SUBJECT_SLOT

TRIPLES = "triples.tsv"
LANGUAGE = "en"  # of names and sentences
UNNAMED = "a name is missing"
LESS_KNOWN = "beyond the best known subjects"


@dataclass(frozen=True)
class Plan:
    """`at_most`: triples of a property. `least`: sitelinks of a subject. `templates`: by property, one sentence."""

    properties: tuple[str, ...]
    at_most: int = 5000
    least: int = 30
    templates: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        wordings.check_properties((*self.properties, *self.templates))
        object.__setattr__(self, "properties", tuple(dict.fromkeys(self.properties)))
        if several := [name for name, texts in self.templates.items() if len(texts) > 1]:
            raise BadInput(f"A graph has one template for each property, but {', '.join(several)} more.", "Give one.")
        if self.at_most < 1:
            raise BadInput(f"at_most cannot be {self.at_most}.", "Give 1 or more.")


def curate(endpoint: Endpoint, plan: Plan, folder: Path) -> None:
    """Write the graph into a new folder, whole or not at all."""
    with new_folder(folder) as new:
        texts = wordings.several(endpoint, plan.properties, LANGUAGE, plan.templates)
        triples: list[Triple] = []
        names: dict[str, str] = {}
        counts_by_predicate = {}
        for property in plan.properties:
            triple_counts = TripleCounts()
            triples += _triples(endpoint, property, plan, names, triple_counts)
            counts_by_predicate[property] = triple_counts.to_json()
        if not triples:
            raise BadInput("There are no such triples.", "Lower the number of sitelinks, or check the properties.")
        sentences = {name: _sentence(several[0]) for name, several in texts.items()}
        (new / TEMPLATES).write_text(json.dumps(sentences, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        _write_table(new / TRIPLES, triples)
        _write_table(new / ENTITIES[0], _entities(endpoint, triples, names))
        write_manifest(new, "graph", endpoint, _settings(plan), counts_by_predicate)


def categories_query(items: tuple[str, ...]) -> Query:
    return Query("What kinds of things these are", ("item", "kind"), (best("item", "P31", "kind"),), items)


def queries(plan: Plan) -> Iterator[Query]:
    """What would be asked for facts, the query about given items with one of these; labels are asked beside."""
    yield from (facts_query(property, plan.least, current_only=True) for property in plan.properties)
    yield categories_query(("Q42",))


def _triples(
    endpoint: Endpoint, property: str, plan: Plan, names: dict[str, str], triple_counts: TripleCounts
) -> Iterator[Triple]:
    """The triples that can be said, best known subjects first; their items' names are added to `names`."""
    subjects = subjects_of(endpoint, property, plan.least, triple_counts, current_only=True)
    found = [Triple(subject.id, property, item) for subject in subjects for item in subject.objects]
    triple_counts.drop(LESS_KNOWN, len(found[plan.at_most :]))
    kept = found[: plan.at_most]
    labels: Labels = endpoint.labels({item for each in kept for item in (each.head, each.tail)}, [LANGUAGE])
    for triple in kept:
        head, tail = (_plain(labelled(labels, item, LANGUAGE)) for item in (triple.head, triple.tail))
        if head and tail:
            names |= {triple.head: head, triple.tail: tail}
            triple_counts.kept += 1
            yield triple
        else:
            triple_counts.drop(UNNAMED)


def _entities(endpoint: Endpoint, triples: Iterable[Triple], names: Mapping[str, str]) -> Iterator[Sequence[str]]:
    """Id, name, and the names of its classes."""
    items = sorted({item for triple in triples for item in (triple.head, triple.tail)}, key=number)
    kinds: dict[str, list[str]] = defaultdict(list)
    for row in endpoint.all_rows([categories_query(given) for given in chunks(items)]):
        if row["kind"].startswith("Q"):
            kinds[row["item"]].append(row["kind"])
    labels = endpoint.labels({kind for several in kinds.values() for kind in several}, [LANGUAGE])
    for item in items:
        known = (_plain(labelled(labels, kind, LANGUAGE)) for kind in kinds[item])
        yield [item, names[item], *dict.fromkeys(filter(None, known))]


def _sentence(template: str) -> str:
    """Statements of a graph have no final period."""
    return template.removesuffix(".").replace(SUBJECT_SLOT, HEAD_SLOT).replace(ANSWER_SLOT, TAIL_SLOT)


def _plain(name: str) -> str:
    """Without tabs and line breaks, which would end its column."""
    return " ".join(name.split())


def _write_table(path: Path, rows: Iterable[Sequence[str]]) -> None:
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")


def _settings(plan: Plan) -> dict[str, Any]:
    return {"properties": plan.properties, "at_most": plan.at_most, "least_sitelinks": plan.least}
