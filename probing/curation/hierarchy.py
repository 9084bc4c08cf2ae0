"""What lies above an item: its superclasses, wholes or territories, by a property that can be followed upwards."""

from collections.abc import Iterable, Iterator, Mapping

from probing.curation.endpoint import Endpoint, number
from probing.curation.predicates import SOVEREIGN
from probing.curation.query import Query, chunks, current, is_no

Parents = Mapping[str, tuple[str, ...]]
SUBCLASS, TERRITORY, PART = "P279", "P131", "P361"
HIGHEST = 30  # levels; Wikidata's longest chains of classes are shorter


def parents(endpoint: Endpoint, property: str, items: Iterable[str], levels: int = HIGHEST) -> Parents:
    """Item -> the items right above it, for the items and all that lie above them, level by level.

    Territories are not followed beyond a sovereign state.
    """
    known: dict[str, tuple[str, ...]] = {}
    level = sorted(set(items), key=number)
    for _ in range(levels):
        if not level:
            break
        above = _above(endpoint, property, level)
        known |= {item: tuple(sorted(above.get(item, ()), key=number)) for item in level}
        level = sorted({parent for item in level for parent in known[item]} - set(known), key=number)
    return known


def ancestors(above: Parents, item: str) -> Iterator[str]:
    """Everything above the item, each once, not the item itself; circles do no harm."""
    seen, waiting = {item}, list(above.get(item, ()))
    while waiting:
        parent = waiting.pop(0)
        if parent not in seen:
            seen.add(parent)
            yield parent
            waiting.extend(above.get(parent, ()))


def parents_query(property: str, items: tuple[str, ...]) -> Query:
    where = [current("item", property, "parent")]
    if property == TERRITORY:
        where.append(is_no("item", SOVEREIGN, "sovereign state: nothing lies above it"))
    return Query(f"What lies right above items by {property}", ("item", "parent"), tuple(where), items)


def _above(endpoint: Endpoint, property: str, items: list[str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for row in endpoint.all_rows([parents_query(property, given) for given in chunks(items)]):
        if row["parent"].startswith("Q") and row["parent"] != row["item"]:
            found.setdefault(row["item"], set()).add(row["parent"])
    return found
