"""Facts of two cultures in DLAMA's five steps (methods 4.3), in DLAMA's layout.

1. find: the facts that a country's people, places or works take part in, with the subjects' Wikipedia articles
2. sort: subjects by their longest (or most edited) article; those without one are dropped
3. widen: all objects of the subjects, whatever their country
4. name: labels in all languages, or the triple is dropped; the first subjects are kept
5. augment: superclasses of the objects, or the territories that contain them
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from probing.curation import wordings
from probing.curation.articles import Article, Articles, SortKey
from probing.curation.cultures import Culture, Pair
from probing.curation.endpoint import Endpoint, number
from probing.curation.hierarchy import (
    SUBCLASS,
    TERRITORY,
    Parents,
    ancestors,
    parents,
    parents_query,
)
from probing.curation.predicates import PREDICATES, Predicate
from probing.curation.query import Query, articles, chunks
from probing.curation.triple_counts import NO_ITEM, TripleCounts, write_lines, write_manifest
from probing.errors import BadInput
from probing.files.folders import new_folder
from probing.formats.dlama import TEMPLATE_FILE, TEMPLATES

NO_ARTICLE = "the subject has no article on the sites"
LESS_KNOWN = "beyond the first subjects"
GONE = "gone when all objects were asked for"
UNNAMED_SUBJECT = "the subject has no label in {}"
UNNAMED_OBJECT = "the object has no label in {}"


@dataclass(frozen=True)
class Plan:
    """`at_most`: subjects per predicate and culture. `sort`: what makes a subject well known.

    `least`: sitelinks of a subject; with 0 it need not have any, as in the paper.
    """

    pairs: tuple[Pair, ...]
    predicates: tuple[str, ...] = tuple(PREDICATES)
    at_most: int = 1000
    sort: SortKey = "size"
    least: int = 0
    templates: Path | None = None

    def __post_init__(self) -> None:
        unknown = [name for name in self.predicates if name not in PREDICATES]
        if unknown:
            raise BadInput(f"No predicate {', '.join(unknown)}.", f"Choose from: {', '.join(PREDICATES)}.")
        object.__setattr__(self, "predicates", tuple(dict.fromkeys(self.predicates)))
        names = [pair.name for pair in self.pairs]
        if TEMPLATES in names or len(set(names)) < len(names):
            raise BadInput(
                f"Pairs cannot be called {', '.join(names)}.", f"Each needs a --name that is not {TEMPLATES}."
            )
        if self.at_most < 1:
            raise BadInput(f"at_most cannot be {self.at_most}.", "Give 1 or more.")
        if self.least < 0:
            raise BadInput(f"No subject has {self.least} sitelinks.", "Give 0 or more.")
        for language in self.languages:
            wordings.templates(self.predicates, language, self.templates)

    @property
    def languages(self) -> list[str]:
        return sorted({language for pair in self.pairs for language in pair.languages})


@dataclass
class Found:
    """What is known of a subject after step 1."""

    objects: set[str] = field(default_factory=set)
    countries: set[str] = field(default_factory=set)
    articles: set[Article] = field(default_factory=set)


@dataclass(frozen=True)
class Fact:
    """A subject and all its valid objects; labels by item and language."""

    subject: str
    objects: tuple[str, ...]
    countries: tuple[str, ...]
    size: int


class Curation:
    """One predicate in the languages of a pair."""

    def __init__(self, endpoint: Endpoint, articles: Articles, predicate: Predicate, pair: Pair, plan: Plan) -> None:
        self.endpoint, self.articles, self.predicate, self.pair, self.plan = endpoint, articles, predicate, pair, plan
        self.labels: dict[str, Mapping[str, str]] = {}
        self.by_country: dict[str, dict[str, int]] = {}

    def facts(self, culture: Culture) -> tuple[list[Fact], TripleCounts]:
        """Steps 1 to 4."""
        triple_counts = TripleCounts()
        found = self.find(culture, triple_counts)
        sizes = self.sort(found, triple_counts)
        return self.widen_and_name(found, sizes, triple_counts), triple_counts

    def find(self, culture: Culture, triple_counts: TripleCounts) -> dict[str, Found]:
        found: dict[str, Found] = defaultdict(Found)
        by_country = self.by_country[culture.region] = {}
        queries = list(find_queries(self.predicate, culture, self.plan.least))
        for country, rows in zip(culture.sites, self.endpoint.answers_to(queries), strict=True):
            by_country[country] = len({(row["subject"], row["object"]) for row in rows})
            for row in rows:
                about = found[row["subject"]]
                about.objects.add(row["object"])
                about.countries.add(country)
                if "title" in row:
                    about.articles.add((_site(row["site"]), row["title"]))
        triple_counts.found = sum(len(about.objects) for about in found.values())
        return found

    def sort(self, found: Mapping[str, Found], triple_counts: TripleCounts) -> dict[str, int]:
        """Subject -> the size of its largest article, largest first."""
        weights = self.articles.weigh((each for about in found.values() for each in about.articles), self.plan.sort)
        sizes = {
            subject: max((weights.get(each, 0) for each in about.articles), default=0)
            for subject, about in found.items()
        }
        triple_counts.drop(NO_ARTICLE, sum(len(found[subject].objects) for subject, size in sizes.items() if not size))
        kept = sorted((subject for subject in sizes if sizes[subject]), key=lambda each: (-sizes[each], number(each)))
        return {subject: sizes[subject] for subject in kept}

    def widen_and_name(
        self, found: Mapping[str, Found], sizes: Mapping[str, int], triple_counts: TripleCounts
    ) -> list[Fact]:
        facts: list[Fact] = []
        for subjects in chunks(list(sizes)):
            if len(facts) < self.plan.at_most:
                objects = self._objects(subjects)
                self._name((*subjects, *filter(_is_item, (each for several in objects.values() for each in several))))
            for subject in subjects:
                if len(facts) >= self.plan.at_most:
                    triple_counts.drop(LESS_KNOWN, len(found[subject].objects))
                elif named := self._named(subject, found[subject].objects, objects[subject], triple_counts):
                    countries = tuple(sorted(found[subject].countries, key=number))
                    facts.append(Fact(subject, tuple(sorted(named)), countries, sizes[subject]))
        triple_counts.kept = sum(len(fact.objects) for fact in facts)
        return facts

    def augment(self, facts: Sequence[Fact]) -> list[tuple[Fact, int]]:
        """Step 5, over the objects of both cultures; beside each fact, how many ancestors it lacks without a label."""
        objects = {object for fact in facts for object in fact.objects}
        above = parents(self.endpoint, TERRITORY if self.predicate.by_territory else SUBCLASS, objects)
        higher = {parent for item in objects for parent in ancestors(above, item)}
        allowed = higher if self.predicate.by_territory else higher & objects
        self._name(allowed)
        unnamed = set(filter(self._unnamed, allowed))
        return [_augmented(fact, above, allowed - unnamed, unnamed) for fact in facts]

    def _objects(self, subjects: Sequence[str]) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {subject: set() for subject in subjects}
        for row in self.endpoint.all_rows([objects_query(self.predicate, tuple(subjects))]):
            found[row["subject"]].add(row["object"])
        return found

    def _name(self, items: Iterable[str]) -> None:
        self.labels |= self.endpoint.labels(set(items) - set(self.labels), self.pair.languages)

    def _named(self, subject: str, before: set[str], now: set[str], triple_counts: TripleCounts) -> list[str]:
        """The objects that can be said with the subject."""
        triple_counts.added += len(now - before)
        triple_counts.drop(GONE, len(before - now))
        items = set(filter(_is_item, now))
        triple_counts.drop(NO_ITEM, len(now - items))
        if language := self._unnamed(subject):
            triple_counts.drop(UNNAMED_SUBJECT.format(language), len(items))
            return []
        for object in items:
            if language := self._unnamed(object):
                triple_counts.drop(UNNAMED_OBJECT.format(language))
        return [object for object in items if not self._unnamed(object)]

    def _unnamed(self, item: str) -> str:
        """The first language in which it has no label."""
        return next((language for language in self.pair.languages if language not in self.labels[item]), "")


def curate(endpoint: Endpoint, articles: Articles, plan: Plan, folder: Path) -> dict[str, list[str]]:
    """Write the benchmark into a new folder, whole or not at all.

    Returns the countries of which no predicate had a fact, by region: Wikidata may name them by another id.
    """
    with new_folder(folder) as new:
        for language in plan.languages:
            texts = wordings.templates(plan.predicates, language, plan.templates)
            lines = [{"relation": predicate, "template": text} for predicate, text in texts.items()]
            write_lines(new / TEMPLATES / language / TEMPLATE_FILE, lines)
        counts_by_predicate = {pair.name: dict(_write_pair(endpoint, articles, plan, pair, new)) for pair in plan.pairs}
        if not any(new.glob("*/dlama")):
            raise BadInput("There are no such facts.", "Check the countries, the predicates and the languages.")
        write_manifest(new, "culture", endpoint, _settings(plan, articles), counts_by_predicate)
    return _without_facts(plan, counts_by_predicate)


def find_queries(predicate: Predicate, culture: Culture, least: int = 0) -> Iterator[Query]:
    """One for each country, in their order; `least`: sitelinks that a subject must have."""
    for country, sites in culture.sites.items():
        yield _find_query(predicate, culture.ids(country), sites, least)


def _find_query(predicate: Predicate, country: Sequence[str], sites: Sequence[str], least: int) -> Query:
    return Query(
        f"{predicate.id} ({predicate.name}: {predicate.object}) of each {predicate.subject} of {' '.join(country)}, "
        f"with articles on {' '.join(sites)}",
        ("subject", "object", "site", "title"),
        (
            predicate.region(country),
            predicate.facts(),
            *predicate.filters,
            *predicate.first,
            *predicate.objects,
        ),
        optional=(articles("subject", sites),),
        least=least,
    )


def objects_query(predicate: Predicate, subjects: tuple[str, ...]) -> Query:
    about = f"All that {predicate.id} ({predicate.name}) says of these subjects"
    return Query(about, ("subject", "object"), (predicate.facts(), *predicate.objects), subjects)


def queries(plan: Plan) -> Iterator[Query]:
    """What would be asked for facts, the queries about given items with one of these; labels are asked beside."""
    cultures = {culture.region: culture for pair in plan.pairs for culture in pair.cultures}
    for predicate in (PREDICATES[name] for name in plan.predicates):
        for culture in cultures.values():
            yield from find_queries(predicate, culture, plan.least)
        yield objects_query(predicate, ("Q42",))
    yield from (parents_query(property, ("Q42",)) for property in (SUBCLASS, TERRITORY))


def _write_pair(
    endpoint: Endpoint, articles: Articles, plan: Plan, pair: Pair, folder: Path
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Predicate -> region -> what became of its triples."""
    for predicate in (PREDICATES[name] for name in plan.predicates):
        work = Curation(endpoint, articles, predicate, pair, plan)
        curated = [(culture, *work.facts(culture)) for culture in pair.cultures]
        augmented = iter(work.augment([fact for _, facts, _ in curated for fact in facts]))
        about = {}
        for culture, facts, triple_counts in curated:
            beside = [next(augmented) for _ in facts]
            more = [fact for fact, _ in beside]
            _write_facts(folder / pair.name / "dlama_raw", work, culture, facts)
            _write_facts(folder / pair.name / "dlama", work, culture, more)
            about[culture.region] = triple_counts.to_json() | {
                "subjects": len(facts),
                "objects_by_augmentation": sum(len(fact.objects) for fact in more) - triple_counts.kept,
                "ancestors_without_label": sum(unnamed for _, unnamed in beside),
                "found_by_country": work.by_country[culture.region],
            }
        yield predicate.id, about


def _without_facts(plan: Plan, counts_by_predicate: Mapping[str, Mapping[str, Any]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for pair in plan.pairs:
        for culture in pair.cultures:
            counts = [about[culture.region]["found_by_country"] for about in counts_by_predicate[pair.name].values()]
            if empty := [country for country in culture.sites if not any(each[country] for each in counts)]:
                found[culture.region] = empty
    return found


def _write_facts(folder: Path, work: Curation, culture: Culture, facts: Sequence[Fact]) -> None:
    """One file per language; none where there are no facts."""
    name = f"{work.predicate.id}_general_{culture.region}"
    for language in work.pair.languages if facts else ():
        lines = [
            {
                "sub_uri": fact.subject,
                "obj_uri": list(fact.objects),
                "sub_label": work.labels[fact.subject][language],
                "obj_label": [work.labels[object][language] for object in fact.objects],
                "country": list(fact.countries),
                "size": fact.size,
                "uuid": f"{name}_{index}",
                "culture": culture.name,
            }
            for index, fact in enumerate(facts)
        ]
        write_lines(folder / language / f"{name}.jsonl", lines)


def _augmented(fact: Fact, above: Parents, named: set[str], unnamed: set[str]) -> tuple[Fact, int]:
    """With the ancestors that have names; and how many have none."""
    more = {parent for object in fact.objects for parent in ancestors(above, object)}
    return replace(fact, objects=tuple(sorted({*fact.objects, *(more & named)}))), len(more & unnamed)


def _is_item(value: str) -> bool:
    return value.startswith("Q")


def _site(address: str) -> str:
    """https://en.wikipedia.org/ -> en"""
    return address.split("//")[1].split(".")[0]


def _settings(plan: Plan, articles: Articles) -> dict[str, Any]:
    pairs = {
        pair.name: {
            "languages": pair.languages,
            "countries": {culture.region: culture.sites for culture in pair.cultures},
            "also": {id: others for culture in pair.cultures for id, others in culture.also.items()},
        }
        for pair in plan.pairs
    }
    return {
        "pairs": pairs,
        "predicates": plan.predicates,
        "at_most": plan.at_most,
        "sort": plan.sort,
        "least_sitelinks": plan.least,
        "wikipedia": articles.url,
    }
