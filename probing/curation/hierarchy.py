"""The superclasses, wholes or territories above an item, found by following one property upwards."""

from collections.abc import Iterable, Iterator, Mapping

from probing.curation.endpoint import Endpoint, item_number
from probing.curation.query import Query, chunks, current_value, is_no

Parents = Mapping[str, tuple[str, ...]]
SOVEREIGN = "Q3624078"
SUBCLASS, TERRITORY, PART = "P279", "P131", "P361"
HIGHEST = 30  # levels; Wikidata's longest chains of classes are shorter


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
