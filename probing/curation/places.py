"""Which items of Wikidata belong to a culture: to one of its countries by citizenship, or because they lie in it."""

from collections.abc import Collection, Iterable
from pathlib import Path

from probing.curation.cultures import Culture
from probing.curation.endpoint import Endpoint, item_number
from probing.curation.query import Query, chunks
from probing.errors import BadInput


def country_ids(culture: Culture) -> list[str]:
    """Return all ids that Wikidata has for the culture's countries."""
    return [id for country in culture.sites for id in culture.ids(country)]


def members_query(countries: Collection[str], items: tuple[str, ...]) -> Query:
    """Return the query of the paper on DLAMA: citizens of these countries, and what lies in them, however far below."""
    values = " ".join(f"wd:{country}" for country in countries)
    where = (
        f"VALUES ?country {{ {values} }}",
        "{ ?item wdt:P27 ?country }  # a citizen",
        "UNION",
        "{ ?item (wdt:P131|wdt:P17)* ?country }  # lies in it, or is it",
    )
    return Query("Which items belong to these countries", ("item",), where, items)


def members(endpoint: Endpoint, culture: Culture, items: Iterable[str]) -> frozenset[str]:
    """Return the items that belong to the culture, by asking the endpoint about all of them."""
    ids = sorted(set(items), key=item_number)
    queries = [members_query(country_ids(culture), chunk) for chunk in chunks(ids)]
    return frozenset(row["item"] for row in endpoint.all_rows(queries))


def read_countries(path: Path) -> dict[str, frozenset[str]]:
    """Read a table of the user's: in each line an id and, behind tabs, the ids of its countries."""
    countries: dict[str, frozenset[str]] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        id, *ids = (text.strip() for text in line.split("\t"))
        if line.strip() and not (id and any(ids)):
            raise BadInput(f"{path.name}, line {number}: no id or no country.", "Write: id, tab, id of a country.")
        if id:
            countries[id] = countries.get(id, frozenset()) | frozenset(filter(None, ids))
    return countries
