"""Triples of any properties of Wikidata as a knowledge graph in words (methods 3.1), for the probe perplexity."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from probing.curation import wordings
from probing.curation.facts import (
    ENGLISH,
    TripleCounts,
    facts_query,
    label_of,
    subjects_of,
    write_json,
    write_manifest,
)
from probing.curation.wikidata import EXAMPLE_ITEM, Endpoint, Query, best_value, chunks, item_number
from probing.errors import BadInput
from probing.files.folders import new_folder
from probing.formats.knowledge_graph import ENTITIES, RELATION_MAPPING
from probing.statements.graph_statements import HEAD_SLOT, TAIL_SLOT, Triple
from probing.template import ANSWER_SLOT, SUBJECT_SLOT

TRIPLES = "triples.tsv"
NAME_MISSING = "a name is missing"
BEYOND_BEST_KNOWN = "beyond the best known subjects"


@dataclass(frozen=True)
class GraphPlan:
    """Settings for the curation of a knowledge graph.

    `at_most`: triples of a property. `least_sitelinks`: of a subject. `templates`: at most one sentence by property.
    """

    properties: tuple[str, ...]
    at_most: int = 5000
    least_sitelinks: int = 30
    templates: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        wordings.check_properties((*self.properties, *self.templates))
        wordings.check_curated(self.templates, self.properties)
        object.__setattr__(self, "properties", tuple(dict.fromkeys(self.properties)))
        if repeated := [id for id, texts in self.templates.items() if len(texts) > 1]:
            raise BadInput(
                f"A graph has one template for each property, but {', '.join(repeated)} has more.", "Give one."
            )
        if self.at_most < 1:
            raise BadInput(f"at_most cannot be {self.at_most}.", "Give 1 or more.")


def curate(endpoint: Endpoint, plan: GraphPlan, folder: Path) -> None:
    """Write the graph into a new folder, which appears only when it is complete."""
    with new_folder(folder) as new:
        texts = wordings.property_templates(endpoint, plan.properties, ENGLISH, plan.templates)
        triples: list[Triple] = []
        names: dict[str, str] = {}
        counts_by_property = {}
        for property in plan.properties:
            triple_counts = TripleCounts()
            triples += _named_triples(endpoint, property, plan, names, triple_counts)
            counts_by_property[property] = triple_counts.to_json()
        if not triples:
            raise BadInput("There are no such triples.", "Lower the number of sitelinks, or check the properties.")
        write_json(new / RELATION_MAPPING, {id: _graph_sentence(templates[0]) for id, templates in texts.items()})
        _write_table(new / TRIPLES, triples)
        _write_table(new / ENTITIES[0], _entities(endpoint, triples, names))
        write_manifest(new, "graph", endpoint, asdict(plan), counts_by_property)


def queries(plan: GraphPlan) -> Iterator[Query]:
    """Yield the queries for facts, which are not those for labels; queries about certain items have an example item."""
    yield from (facts_query(property, plan.least_sitelinks, current_only=True) for property in plan.properties)
    yield categories_query((EXAMPLE_ITEM,))


def categories_query(items: tuple[str, ...]) -> Query:
    return Query("What kinds of things these are", ("item", "kind"), (best_value("item", "P31", "kind"),), items)


def _named_triples(
    endpoint: Endpoint, property: str, plan: GraphPlan, names: dict[str, str], triple_counts: TripleCounts
) -> Iterator[Triple]:
    """Yield the triples whose items have names, the best-known subjects first, and add those names to `names`."""
    subjects = subjects_of(endpoint, property, plan.least_sitelinks, triple_counts, current_only=True)
    triples = [Triple(subject.id, property, item) for subject in subjects for item in subject.objects]
    triple_counts.drop(BEYOND_BEST_KNOWN, len(triples[plan.at_most :]))
    triples = triples[: plan.at_most]
    labels = endpoint.labels({item for triple in triples for item in (triple.head, triple.tail)}, [ENGLISH])
    for triple in triples:
        head, tail = (_on_one_line(label_of(labels, item)) for item in (triple.head, triple.tail))
        if head and tail:
            names |= {triple.head: head, triple.tail: tail}
            triple_counts.kept += 1
            yield triple
        else:
            triple_counts.drop(NAME_MISSING)


def _entities(endpoint: Endpoint, triples: Iterable[Triple], names: Mapping[str, str]) -> Iterator[Sequence[str]]:
    """Yield the id and the name of each item and the names of its classes."""
    items = sorted({item for triple in triples for item in (triple.head, triple.tail)}, key=item_number)
    classes: dict[str, list[str]] = defaultdict(list)
    for row in endpoint.all_rows([categories_query(chunk) for chunk in chunks(items)]):
        if row["kind"].startswith("Q"):
            classes[row["item"]].append(row["kind"])
    labels = endpoint.labels({id for item_classes in classes.values() for id in item_classes}, [ENGLISH])
    for item in items:
        class_names = (_on_one_line(label_of(labels, id)) for id in classes[item])
        yield [item, names[item], *dict.fromkeys(filter(None, class_names))]


def _graph_sentence(template: str) -> str:
    """Return a template with the slots of a graph and, as in all statements of a graph, without a final period."""
    return template.removesuffix(".").replace(SUBJECT_SLOT, HEAD_SLOT).replace(ANSWER_SLOT, TAIL_SLOT)


def _on_one_line(name: str) -> str:
    """Replace tabs and line breaks, which would end the name's column."""
    return " ".join(name.split())


def _write_table(path: Path, rows: Iterable[Sequence[str]]) -> None:
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
