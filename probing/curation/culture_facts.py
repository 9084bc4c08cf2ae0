"""Facts of two cultures by DLAMA's five steps (methods 4.3), in DLAMA's layout.

1. find: the facts of a country's people, places or works, with the Wikipedia articles of their subjects
2. sort: subjects by their longest (or most edited) article; subjects without an article are dropped
3. widen: all objects of the subjects, whatever their country
4. name: labels in all languages, without which a triple is dropped; only the first subjects are kept
5. augment: superclasses of the objects, or the territories that contain them
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from probing.curation import wordings
from probing.curation.articles import Article, Articles, SortKey
from probing.curation.cultures import KNOWN_PAIRS, Culture, CulturePair, known_pair
from probing.curation.facts import (
    NOT_AN_ITEM,
    SUBCLASS,
    TERRITORY,
    Parents,
    TripleCounts,
    ancestors,
    parents,
    parents_query,
    write_lines,
    write_manifest,
)
from probing.curation.predicates import Predicate, choose
from probing.curation.wikidata import EXAMPLE_ITEM, Endpoint, Query, articles, chunks, item_number
from probing.errors import BadInput
from probing.files.folders import new_folder
from probing.formats.dlama import TEMPLATES_FOLDER
from probing.formats.own_wordings import TEMPLATE_FILE, write_questions

NO_ARTICLE = "the subject has no article on the sites"
BEYOND_FIRST_SUBJECTS = "beyond the first subjects"
NOT_CONFIRMED = "missing among all objects of the subject"
SUBJECT_WITHOUT_LABEL = "the subject has no label in {}"
OBJECT_WITHOUT_LABEL = "the object has no label in {}"
# A subject (`sub_uri`) with its valid objects (`obj_uri`), the countries that it belongs to (`country`), and the size
# of its largest article: what a line of DLAMA's files says in every language.
Fact = dict[str, Any]


@dataclass(frozen=True)
class CulturePlan:
    """What a curation of culture pairs is to contain.

    `predicates`: by default the user's `own`, which go before those that ship, or else all that ship. `at_most`:
    subjects of a predicate and culture. `sort`: what makes the subject of an article well known. `stricter`: with the
    rules of this project beside those of DLAMA's authors. `templates`: a folder with <language>/templates.jsonl, which
    replace those of the predicates' entries.
    """

    pairs: tuple[CulturePair, ...] = field(default_factory=lambda: tuple(map(known_pair, KNOWN_PAIRS)))
    predicates: tuple[str, ...] = ()
    at_most: int = 1000
    sort: SortKey = "size"
    least_sitelinks: int = 0
    stricter: bool = False
    templates: Path | None = None
    own: Mapping[str, Predicate] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "predicates", tuple(choose(self.predicates, self.own, stricter=self.stricter)))
        names = [pair.name for pair in self.pairs]
        if TEMPLATES_FOLDER in names or len(set(names)) < len(names):
            raise BadInput(
                f"Pairs cannot be called {', '.join(names)}.", f"Each needs a name that is not {TEMPLATES_FOLDER}."
            )
        if self.at_most < 1:
            raise BadInput(f"at_most cannot be {self.at_most}.", "Give 1 or more.")
        if self.least_sitelinks < 0:
            raise BadInput(f"No subject has {self.least_sitelinks} sitelinks.", "Give 0 or more.")
        for language in self.languages:
            self.templates_in(language)

    @property
    def chosen(self) -> dict[str, Predicate]:
        return choose(self.predicates, self.own, stricter=self.stricter)

    def templates_in(self, language: str) -> dict[str, str]:
        """Return predicate -> template; raise `BadInput` if a predicate has none in this language."""
        texts = {id: predicate.templates for id, predicate in self.chosen.items()}
        return wordings.templates(texts, language, self.templates)

    @property
    def languages(self) -> list[str]:
        return sorted({language for pair in self.pairs for language in pair.languages})


class Curation:
    """The curation of one predicate for one pair. `labels` are by item and language, counts by region and country."""

    def __init__(
        self, endpoint: Endpoint, articles: Articles, predicate: Predicate, pair: CulturePair, plan: CulturePlan
    ) -> None:
        self.endpoint, self.articles, self.predicate, self.pair, self.plan = endpoint, articles, predicate, pair, plan
        self.labels: dict[str, Mapping[str, str]] = {}
        self.counts_by_country: dict[str, dict[str, int]] = {}

    def facts(self, culture: Culture) -> tuple[list[Fact], TripleCounts]:
        """Return the facts of a culture after steps 1 to 4."""
        triple_counts = TripleCounts()
        objects, countries, articles = self.find(culture, triple_counts)
        sizes = self.sort(objects, articles, triple_counts)
        return self.widen_and_name(objects, countries, sizes, triple_counts), triple_counts

    def find(
        self, culture: Culture, triple_counts: TripleCounts
    ) -> tuple[dict[str, set[str]], dict[str, set[str]], dict[str, set[Article]]]:
        objects: dict[str, set[str]] = defaultdict(set)
        countries: dict[str, set[str]] = defaultdict(set)
        articles: dict[str, set[Article]] = defaultdict(set)
        counts = self.counts_by_country[culture.region] = {}
        queries = list(find_queries(self.predicate, culture, self.plan.least_sitelinks))
        for country, rows in zip(culture.sites, self.endpoint.rows_of_each(queries), strict=True):
            counts[country] = len({(row["subject"], row["object"]) for row in rows})
            for row in rows:
                objects[row["subject"]].add(row["object"])
                countries[row["subject"]].add(country)
                if "title" in row:
                    site = row["site"].split("//")[1].split(".")[0]  # en of https://en.wikipedia.org/
                    articles[row["subject"]].add((site, row["title"]))
        triple_counts.found = sum(map(len, objects.values()))
        return objects, countries, articles

    def sort(
        self, objects: Mapping[str, set[str]], articles: Mapping[str, set[Article]], triple_counts: TripleCounts
    ) -> dict[str, int]:
        """Return subject -> size of its largest article, the largest first."""
        weights = self.articles.weights((article for group in articles.values() for article in group), self.plan.sort)
        sizes = {id: max((weights.get(article, 0) for article in articles.get(id, ())), default=0) for id in objects}
        triple_counts.drop(NO_ARTICLE, sum(len(objects[id]) for id, size in sizes.items() if not size))
        sorted_ids = sorted((id for id in sizes if sizes[id]), key=lambda id: (-sizes[id], item_number(id)))
        return {id: sizes[id] for id in sorted_ids}

    def widen_and_name(
        self,
        first_objects: Mapping[str, set[str]],
        countries: Mapping[str, set[str]],
        sizes: Mapping[str, int],
        triple_counts: TripleCounts,
    ) -> list[Fact]:
        """Return the facts of the first subjects that have labels, asking for objects and labels chunk by chunk."""
        facts: list[Fact] = []
        for ids in chunks(list(sizes)):
            if len(facts) < self.plan.at_most:
                all_objects = self._objects(ids)
                items = (object for objects in all_objects.values() for object in objects if _is_item(object))
                self._fetch_labels((*ids, *items))
            for id in ids:
                if len(facts) >= self.plan.at_most:
                    triple_counts.drop(BEYOND_FIRST_SUBJECTS, len(first_objects[id]))
                elif objects := self._labelled(id, first_objects[id], all_objects[id], triple_counts):
                    of_country = sorted(countries[id], key=item_number)
                    facts.append({"sub_uri": id, "obj_uri": sorted(objects), "country": of_country, "size": sizes[id]})
        triple_counts.kept = sum(len(fact["obj_uri"]) for fact in facts)
        return facts

    def augment(self, facts: Sequence[Fact]) -> list[tuple[Fact, int]]:
        """Return the facts of all cultures after step 5, each with the number of its ancestors without a label."""
        objects = {object for fact in facts for object in fact["obj_uri"]}
        above = parents(self.endpoint, TERRITORY if self.predicate.by_territory else SUBCLASS, objects)
        higher = {parent for item in objects for parent in ancestors(above, item)}
        allowed = higher if self.predicate.by_territory else higher & objects
        self._fetch_labels(allowed)
        unlabelled = set(filter(self._missing_language, allowed))
        return [_augmented(fact, above, allowed - unlabelled, unlabelled) for fact in facts]

    def _objects(self, subjects: Sequence[str]) -> dict[str, set[str]]:
        objects: dict[str, set[str]] = {subject: set() for subject in subjects}
        for row in self.endpoint.all_rows([objects_query(self.predicate, tuple(subjects))]):
            objects[row["subject"]].add(row["object"])
        return objects

    def _fetch_labels(self, items: Iterable[str]) -> None:
        self.labels |= self.endpoint.labels(set(items) - set(self.labels), self.pair.languages)

    def _labelled(
        self, subject: str, first_objects: set[str], all_objects: set[str], triple_counts: TripleCounts
    ) -> list[str]:
        """Return the objects that have labels, if the subject has labels too; count what is added and dropped."""
        triple_counts.added += len(all_objects - first_objects)
        triple_counts.drop(NOT_CONFIRMED, len(first_objects - all_objects))
        items = set(filter(_is_item, all_objects))
        triple_counts.drop(NOT_AN_ITEM, len(all_objects - items))
        if language := self._missing_language(subject):
            triple_counts.drop(SUBJECT_WITHOUT_LABEL.format(language), len(items))
            return []
        for object in items:
            if language := self._missing_language(object):
                triple_counts.drop(OBJECT_WITHOUT_LABEL.format(language))
        return [object for object in items if not self._missing_language(object)]

    def _missing_language(self, item: str) -> str:
        return next((language for language in self.pair.languages if language not in self.labels[item]), "")


def curate(endpoint: Endpoint, articles: Articles, plan: CulturePlan, folder: Path) -> dict[str, list[str]]:
    """Write the benchmark into a new folder, which appears only when it is complete.

    Return region -> the countries without any fact; Wikidata may use another id for them.
    """
    with new_folder(folder) as new:
        wordings.check_names(endpoint, [id for id in plan.predicates if id in plan.own])
        for language in plan.languages:
            write_templates(new, language, plan.templates_in(language))
        questions = {id: predicate.questions for id, predicate in plan.own.items()}
        write_questions(new / TEMPLATES_FOLDER, plan.templates, plan.predicates, plan.languages, questions)
        counts_by_pair = {pair.name: dict(_write_pair(endpoint, articles, plan, pair, new)) for pair in plan.pairs}
        if not any(new.glob("*/dlama")):
            raise BadInput("There are no such facts.", "Check the countries, the predicates and the languages.")
        write_manifest(new, "culture", endpoint, _manifest_settings(plan, articles), counts_by_pair)
    return _countries_without_facts(plan, counts_by_pair)


def write_templates(folder: Path, language: str, templates: Mapping[str, str]) -> None:
    """Write the templates of a language, by predicate, in mLAMA's form."""
    lines = [{"relation": predicate, "template": text} for predicate, text in templates.items()]
    write_lines(folder / TEMPLATES_FOLDER / language / TEMPLATE_FILE, lines)


def queries(plan: CulturePlan) -> Iterator[Query]:
    """Yield the queries for facts, which are not those for labels; queries about certain items have an example item."""
    cultures = {culture.region: culture for pair in plan.pairs for culture in pair.cultures}
    for predicate in plan.chosen.values():
        for culture in cultures.values():
            yield from find_queries(predicate, culture, plan.least_sitelinks)
        yield objects_query(predicate, (EXAMPLE_ITEM,))
    yield from (parents_query(property, (EXAMPLE_ITEM,)) for property in (SUBCLASS, TERRITORY))


def _write_pair(
    endpoint: Endpoint, articles: Articles, plan: CulturePlan, pair: CulturePair, folder: Path
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Write the facts of a pair; yield each predicate with its counts by region."""
    for predicate in plan.chosen.values():
        curation = Curation(endpoint, articles, predicate, pair, plan)
        curated = [(culture, *curation.facts(culture)) for culture in pair.cultures]
        augmented = iter(curation.augment([fact for _, facts, _ in curated for fact in facts]))
        counts_by_region = {}
        for culture, facts, triple_counts in curated:
            pairs_of_fact_and_count = [next(augmented) for _ in facts]
            augmented_facts = [fact for fact, _ in pairs_of_fact_and_count]
            _write_facts(folder / pair.name / "dlama_raw", curation, culture, facts)
            _write_facts(folder / pair.name / "dlama", curation, culture, augmented_facts)
            counts_by_region[culture.region] = triple_counts.to_json() | {
                "subjects": len(facts),
                "objects_by_augmentation": sum(len(fact["obj_uri"]) for fact in augmented_facts) - triple_counts.kept,
                "ancestors_without_label": sum(unlabelled for _, unlabelled in pairs_of_fact_and_count),
                "found_by_country": curation.counts_by_country[culture.region],
            }
        yield predicate.id, counts_by_region


def _countries_without_facts(
    plan: CulturePlan, counts_by_pair: Mapping[str, Mapping[str, Any]]
) -> dict[str, list[str]]:
    empty: dict[str, list[str]] = {}
    for pair in plan.pairs:
        for culture in pair.cultures:
            counts = [regions[culture.region]["found_by_country"] for regions in counts_by_pair[pair.name].values()]
            if countries := [id for id in culture.sites if not any(by_country[id] for by_country in counts)]:
                empty[culture.region] = countries
    return empty


def _write_facts(folder: Path, curation: Curation, culture: Culture, facts: Sequence[Fact]) -> None:
    """Write one file per language, or none if there are no facts."""
    name = f"{curation.predicate.id}_general_{culture.region}"
    for language in curation.pair.languages if facts else ():
        lines = [
            {
                "sub_uri": fact["sub_uri"],
                "obj_uri": fact["obj_uri"],
                "sub_label": curation.labels[fact["sub_uri"]][language],
                "obj_label": [curation.labels[object][language] for object in fact["obj_uri"]],
                "country": fact["country"],
                "size": fact["size"],
                "uuid": f"{name}_{index}",
                "culture": culture.name,
            }
            for index, fact in enumerate(facts)
        ]
        write_lines(folder / language / f"{name}.jsonl", lines)


def _augmented(fact: Fact, above: Parents, labelled: set[str], unlabelled: set[str]) -> tuple[Fact, int]:
    """Return the fact with its labelled ancestors, and the number of its ancestors without a label."""
    higher = {parent for object in fact["obj_uri"] for parent in ancestors(above, object)}
    objects = sorted({*fact["obj_uri"], *(higher & labelled)})
    return {**fact, "obj_uri": objects}, len(higher & unlabelled)


def _is_item(value: str) -> bool:
    return value.startswith("Q")


def _manifest_settings(plan: CulturePlan, articles: Articles) -> dict[str, Any]:
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
        "own_predicates": {id: asdict(plan.own[id]) for id in plan.predicates if id in plan.own},
        "at_most": plan.at_most,
        "sort": plan.sort,
        "least_sitelinks": plan.least_sitelinks,
        "stricter": plan.stricter,
        "wikipedia": articles.url,
    }


def find_queries(predicate: Predicate, culture: Culture, least_sitelinks: int = 0) -> Iterator[Query]:
    """Yield one query per country, in the culture's order."""
    for country, sites in culture.sites.items():
        yield _find_query(predicate, culture.ids(country), sites, least_sitelinks)


def _find_query(predicate: Predicate, country: Sequence[str], sites: Sequence[str], least_sitelinks: int) -> Query:
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
        least=least_sitelinks or None,
    )


def objects_query(predicate: Predicate, subjects: tuple[str, ...]) -> Query:
    description = f"All that {predicate.id} ({predicate.name}) says of these subjects"
    return Query(description, ("subject", "object"), (predicate.facts(), *predicate.objects), subjects)
