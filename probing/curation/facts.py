"""What all curations share: facts of a property, what is above an item, and an account of every triple.

From facts about well-known subjects multiple choice, graphs and pairs are chosen. What stands above an item are its
superclasses, wholes or territories, found by following one property upwards. The account counts what became of every
triple, and a manifest records how a benchmark was made.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from probing.curation.wikidata import (
    MOST_LINKS,
    Endpoint,
    Query,
    chunks,
    current_value,
    is_no,
    item_number,
    stated_value,
)
from probing.errors import BadInput, Incomplete
from probing.formats.canary import MANIFEST, add_canary

ENGLISH = "en"
Parents = Mapping[str, tuple[str, ...]]
SOVEREIGN = "Q3624078"
SUBCLASS, TERRITORY, PART = "P279", "P131", "P361"
HIGHEST = 30  # levels; Wikidata's longest chains of classes are shorter
NOT_AN_ITEM = "the object is unknown or not an item"


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


@dataclass
class TripleCounts:
    """Triples `found` by the first query and `added` by later ones; each is either `kept` or `dropped` for a reason."""

    found: int = 0
    added: int = 0
    kept: int = 0
    dropped: Counter[str] = field(default_factory=Counter)

    def drop(self, reason: str, count: int = 1) -> None:
        if count:
            self.dropped[reason] += count

    def to_json(self) -> dict[str, Any]:
        """Return the counts; raise `Incomplete` if they do not add up."""
        if self.found + self.added != self.kept + self.dropped.total():
            raise Incomplete(f"Some triples are neither kept nor dropped: {self}.", "Please report this.")
        return {
            "found": self.found,
            "added": self.added,
            "dropped": dict(sorted(self.dropped.items())),
            "kept": self.kept,
        }


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


def parents(endpoint: Endpoint, property: str, items: Iterable[str], levels: int = HIGHEST) -> Parents:
    """Return item -> the items directly above it, for the given items and all that are above them.

    There is one query per level and chunk of items. Territories are not followed beyond a sovereign state.
    """
    direct_parents: dict[str, tuple[str, ...]] = {}
    level = sorted(set(items), key=item_number)
    for _ in range(levels):
        if not level:
            break
        above = _directly_above(endpoint, property, level)
        direct_parents |= {item: tuple(sorted(above.get(item, ()), key=item_number)) for item in level}
        next_level = {parent for item in level for parent in direct_parents[item]} - set(direct_parents)
        level = sorted(next_level, key=item_number)
    return direct_parents


def ancestors(above: Parents, item: str) -> Iterator[str]:
    """Yield everything above the item once, without the item itself; the hierarchy may contain cycles."""
    visited, waiting = {item}, list(above.get(item, ()))
    while waiting:
        parent = waiting.pop(0)
        if parent not in visited:
            visited.add(parent)
            yield parent
            waiting.extend(above.get(parent, ()))


def parents_query(property: str, items: tuple[str, ...]) -> Query:
    where = [current_value("item", property, "parent")]
    if property == TERRITORY:
        where.append(is_no("item", SOVEREIGN, "sovereign state: nothing lies above it"))
    return Query(f"What lies right above items by {property}", ("item", "parent"), tuple(where), items)


def _directly_above(endpoint: Endpoint, property: str, items: list[str]) -> dict[str, set[str]]:
    above: dict[str, set[str]] = {}
    for row in endpoint.all_rows([parents_query(property, chunk) for chunk in chunks(items)]):
        if row["parent"].startswith("Q") and row["parent"] != row["item"]:
            above.setdefault(row["item"], set()).add(row["parent"])
    return above


def write_manifest(
    folder: Path, kind: str, endpoint: Endpoint, settings: Mapping[str, Any], counts_by_predicate: Mapping[str, Any]
) -> None:
    """Write `manifest.json` and the canary, when all other files are there.

    A query about many items stands in the manifest once, with one item and the number of requests.
    """
    queries = [{"times": times, "text": text} for text, times in sorted(endpoint.shapes.items())]
    content = {
        "kind": kind,
        "endpoint": endpoint.url,
        "asked": endpoint.cache.answer_period(),
        "settings": settings,
        "triples": counts_by_predicate,
        "queries": queries,
    }
    write_json(folder / MANIFEST, content)
    add_canary(folder)


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def write_lines(path: Path, lines: list[dict[str, Any]]) -> None:
    """Write one JSON object per line, and the folders above the file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
