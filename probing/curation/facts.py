"""All facts of a property about well-known subjects: what multiple choice, graphs and pairs are chosen from."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from probing.curation.endpoint import Endpoint, number
from probing.curation.query import MOST_LINKS, Query, current, stated
from probing.curation.triple_counts import NO_ITEM, TripleCounts
from probing.errors import BadInput


@dataclass(frozen=True)
class Subject:
    """An item with its values, by number; `links` is how many sites have an article about it.

    `others`: how many more values it has that are unknown or no items.
    """

    id: str
    links: int
    objects: tuple[str, ...]
    others: int = 0


def facts_query(property: str, least: int, current_only: bool = False) -> Query:
    """`least`: sitelinks that a subject must have."""
    if not 1 <= least < MOST_LINKS:
        raise BadInput(f"No subjects have {least} sitelinks.", f"Ask for 1 to {MOST_LINKS - 1} or more.")
    pattern = current if current_only else stated
    return Query(
        f"{property} of everything with {least} sitelinks or more",
        ("subject", "object", "subject_sitelinks"),
        (pattern("subject", property, "object"),),
        least=least,
    )


def subjects_of(
    endpoint: Endpoint, property: str, least: int, triple_counts: TripleCounts, current_only: bool = False
) -> list[Subject]:
    """The best known first."""
    rows = endpoint.rows(facts_query(property, least, current_only))
    values: dict[str, set[str]] = defaultdict(set)
    links: dict[str, int] = {}
    for row in rows:
        values[row["subject"]].add(row["object"])
        links[row["subject"]] = int(row["subject_sitelinks"])
    subjects = [
        _subject(id, links[id], values[id]) for id in sorted(values, key=lambda each: (-links[each], number(each)))
    ]
    triple_counts.found += sum(map(len, values.values()))
    triple_counts.drop(NO_ITEM, sum(subject.others for subject in subjects))
    return subjects


def _subject(id: str, links: int, values: set[str]) -> Subject:
    items = sorted((value for value in values if value.startswith("Q")), key=number)
    return Subject(id, links, tuple(items), len(values) - len(items))


def labelled(labels: Mapping[str, Mapping[str, str]], item: str, language: str) -> str:
    """Its label, or nothing."""
    return labels[item].get(language, "")
