"""The parts of a benchmark that a run covers, and the relations that its probe cannot ask."""

from collections import Counter
from dataclasses import replace
from typing import NamedTuple

from probing.benchmark import Benchmark, Relation
from probing.errors import BadInput
from probing.probes import probe_of
from probing.settings import Settings


class Part(NamedTuple):
    """One relation with one template: the unit of storage, resumption and sharing between workers."""

    relation: str
    template: int
    items: int


class Skipped(NamedTuple):
    """A relation that is chosen and cannot be asked, and why."""

    relation: str
    items: int
    why: str


def narrowed(benchmark: Benchmark, settings: Settings) -> Benchmark:
    """Return the benchmark with those relations and items only that the settings choose."""
    tags = relation_tags(settings)
    usual = {tag: value for tag, value in benchmark.usual_tags.items() if tag not in tags}
    return benchmark.select(settings.relations, settings.limit, tags | usual, settings.sample, settings.seed)


def asked_relation(benchmark: Benchmark, settings: Settings, relation: str) -> Relation:
    """Return the relation of this id with those items only that a run with these settings asks."""
    chosen = benchmark.select([relation], settings.limit, sample=settings.sample, seed=settings.seed)
    return chosen[relation]


def relation_tags(settings: Settings) -> dict[str, str]:
    """Return the tags of the relations that are asked, where a benchmark has them in several versions (methods 4)."""
    return {"language": settings.language, **probe_of(settings).relation_tags()}


def skipped(benchmark: Benchmark, settings: Settings) -> list[Skipped]:
    """Return the chosen relations that the probe cannot ask."""
    probe = probe_of(settings)
    return [
        Skipped(relation.id, len(relation.items), why)
        for relation in narrowed(benchmark, settings).relations
        if (why := probe.why_not(relation))
    ]


def template_counts(benchmark: Benchmark, settings: Settings) -> set[int]:
    """Return how many templates the relations have that a run with these settings asks, without repetitions."""
    counts = Counter(part.relation for part in parts(benchmark, replace(settings, templates=())))
    return set(counts.values())


def parts(benchmark: Benchmark, settings: Settings) -> list[Part]:
    """Return every part that a complete run covers, in benchmark order."""
    reasons = {relation: why for relation, _, why in skipped(benchmark, settings)}
    chosen = narrowed(benchmark, settings).relations
    relations = [relation for relation in chosen if relation.id not in reasons]
    if chosen and not relations:
        why = "; ".join(dict.fromkeys(reasons.values()))
        raise BadInput(
            f"None of these relations can be asked: {why}.", "Choose other relations or options, or another language."
        )
    covered = []
    for relation in relations:
        for template in settings.templates or range(len(relation.templates)):
            if not 0 <= template < len(relation.templates):
                raise BadInput(
                    f"Relation {relation.id} has no template {template}.",
                    f"Choose from 0 to {len(relation.templates) - 1}.",
                )
            covered.append(Part(relation.id, template, len(relation.items)))
    return covered
