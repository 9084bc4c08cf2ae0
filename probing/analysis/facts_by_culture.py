"""Diversity of a data set: its facts by culture, and how many of them another data set has as well."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import pandas as pd

from probing.analysis.breakdowns import ALL
from probing.benchmark import Benchmark
from probing.formats.dlama import natural

FactKey = tuple[str, str]  # a predicate and a subject
REST, UNKNOWN = "rest of the world", "unknown"
SHARES = ["relation", "group", "facts", "share"]
OVERLAP = [*SHARES, "shared", "shared_share"]


@dataclass(frozen=True)
class Fact:
    """A subject of a predicate with its valid objects, by their ids where they have some, else by their labels.

    `cultures`: those that the data set names itself; empty if it names none.
    """

    relation: str
    subject: str
    objects: frozenset[str]
    cultures: frozenset[str] = frozenset()

    @property
    def key(self) -> FactKey:
        return self.relation, self.subject


@dataclass(frozen=True)
class CulturePlaces:
    """The subjects and objects that belong to a culture, among the `located` ones, whose countries are known."""

    culture: str
    members: Collection[str]
    located: Collection[str]

    def group(self, fact: Fact) -> str:
        """Return the culture if the subject or an object belongs to it, else the rest of the world, or unknown."""
        ids = (fact.subject, *fact.objects)
        if any(id in self.members for id in ids):
            return self.culture
        return REST if any(id in self.located for id in ids) else UNKNOWN


def facts_of(benchmark: Benchmark) -> list[Fact]:
    """Return each fact once, however many languages, culture pairs and kinds of objects a benchmark has it in."""
    objects: dict[FactKey, set[str]] = defaultdict(set)
    cultures: dict[FactKey, set[str]] = defaultdict(set)
    for relation in benchmark.relations:
        for item in relation.items:
            key = relation.label, item.subject_id or item.subject
            options = relation.options_of(item)
            objects[key].update(relation.right_ids(item) or (options[answer] for answer in item.answers))
            culture = relation.tags_of(item).get("culture", ())
            cultures[key].update((culture,) if isinstance(culture, str) else culture)
    return [Fact(*key, frozenset(ids), frozenset(cultures[key])) for key, ids in objects.items()]


def diversity(facts: Iterable[Fact], places: CulturePlaces | None = None) -> pd.DataFrame:
    """Return the number of facts and their share of each predicate and group, and those of all predicates at the end.

    Groups are the cultures that the facts name, else those that `places` gives. A fact that names two counts in both.
    """
    return _table(facts, places, {})[SHARES]


def overlap(facts: Collection[Fact], others: Iterable[Fact], places: CulturePlaces | None = None) -> pd.DataFrame:
    """Return the same with the facts that `others` have: the same predicate and subject, and one of the objects."""
    objects: dict[FactKey, set[str]] = {fact.key: set() for fact in facts}
    for fact in others:
        if fact.key in objects:
            objects[fact.key] |= fact.objects
    return _table(facts, places, objects)


def _table(
    facts: Iterable[Fact], places: CulturePlaces | None, others: Mapping[FactKey, Collection[str]]
) -> pd.DataFrame:
    """Return all columns; `others`: the objects that the other data set has for a predicate and subject."""
    totals: Counter[str] = Counter()
    counts: Counter[tuple[str, str]] = Counter()
    shared: Counter[tuple[str, str]] = Counter()
    for fact in facts:
        is_shared = not fact.objects.isdisjoint(others.get(fact.key, ()))
        for relation in (fact.relation, ALL):
            totals[relation] += 1
            for group in _groups(fact, places):
                counts[relation, group] += 1
                shared[relation, group] += is_shared
    rows = [
        (*group, number, number / totals[group[0]], shared[group], shared[group] / number)
        for group, number in sorted(counts.items(), key=lambda count: _page_order(*count[0]))
    ]
    return pd.DataFrame(rows, columns=OVERLAP)


def _groups(fact: Fact, places: CulturePlaces | None) -> list[str]:
    if fact.cultures:
        return sorted(fact.cultures)
    return [places.group(fact) if places else UNKNOWN]


def _page_order(relation: str, group: str) -> tuple[bool, tuple[str, int, str], bool, str]:
    return relation == ALL, natural(relation), group == UNKNOWN, group
