"""All facts of a property about well-known subjects, from which multiple choice, graphs and pairs are chosen."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from probing.curation.endpoint import Endpoint, item_number
from probing.curation.query import MOST_LINKS, Query, current_value, stated_value
from probing.curation.triple_counts import NOT_AN_ITEM, TripleCounts
from probing.errors import BadInput

ENGLISH = "en"


@dataclass(frozen=True)
class Subject:
    """A subject with its objects in the order of their numbers.

    `links`: number of sites with an article about the subject. `others`: number of its values that are unknown or
    not items.
    """

    id: str
    links: int
    objects: tuple[str, ...]
    others: int = 0


def facts_query(property: str, least_sitelinks: int, current_only: bool = False) -> Query:
    """Return the query for all values of a property; with 0 sitelinks, those of all subjects, however little known."""
    if not 0 <= least_sitelinks < MOST_LINKS:
        raise BadInput(f"No subjects have {least_sitelinks} sitelinks.", f"Ask for 0 to {MOST_LINKS - 1}.")
    pattern = current_value if current_only else stated_value
    return Query(
        f"{property} of everything with {least_sitelinks} sitelinks or more",
        ("subject", "object", "subject_sitelinks"),
        (pattern("subject", property, "object"),),
        least=least_sitelinks,
    )


def subjects_of(
    endpoint: Endpoint, property: str, least_sitelinks: int, triple_counts: TripleCounts, current_only: bool = False
) -> list[Subject]:
    """Return the subjects of a property, the best known first, and count their triples."""
    values: dict[str, set[str]] = defaultdict(set)
    links: dict[str, int] = {}
    for row in endpoint.rows(facts_query(property, least_sitelinks, current_only)):
        values[row["subject"]].add(row["object"])
        links[row["subject"]] = int(row["subject_sitelinks"])
    best_known = sorted(values, key=lambda id: (-links[id], item_number(id)))
    subjects = [_subject(id, links[id], values[id]) for id in best_known]
    triple_counts.found += sum(map(len, values.values()))
    triple_counts.drop(NOT_AN_ITEM, sum(subject.others for subject in subjects))
    return subjects


def _subject(id: str, links: int, values: set[str]) -> Subject:
    items = sorted((value for value in values if value.startswith("Q")), key=item_number)
    return Subject(id, links, tuple(items), len(values) - len(items))


def label_of(labels: Mapping[str, Mapping[str, str]], item: str, language: str = ENGLISH) -> str:
    """Return the item's label, or an empty text if it has none."""
    return labels[item].get(language, "")
