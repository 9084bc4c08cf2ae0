"""SPARQL queries, put together from small patterns so that people can read them in an endpoint's web form.

A pattern is one or more lines of a WHERE clause. Current values are those of the best rank that have no end time;
stated values are all that are not deprecated.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

PREFIXES = {
    "wd": "http://www.wikidata.org/entity/",
    "wdt": "http://www.wikidata.org/prop/direct/",
    "p": "http://www.wikidata.org/prop/",
    "ps": "http://www.wikidata.org/prop/statement/",
    "pq": "http://www.wikidata.org/prop/qualifier/",
    "wikibase": "http://wikiba.se/ontology#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "schema": "http://schema.org/",
}
PAGE = 10_000  # the most rows in an answer
CHUNK = 200  # the most items that one query names
EXAMPLE_ITEM = "Q42"  # stands for all items where queries are printed or recorded
DECIMAL_DIGITS = "0123456789"
MOST_ENDING_DIGITS = 4  # a query is sliced by no more digits of the item's number
MOST_LINKS = 1000  # sitelinks; no item has as many: each of Wikimedia's sites gives it at most one, and they are fewer


@dataclass(frozen=True)
class Query:
    """A SELECT query, which can be divided into slices.

    `description`: what the query asks for, written above it as a comment.
    `items`: the values of the first column, for queries about certain items.
    `optional`: patterns that need not hold and therefore come last.
    `order` and `limit`: for queries that need only the best-known items; all other queries need all their rows.
    `least`: the least number of sitelinks of the first column's item, for queries in which this number matters.
    `links` and `ending`: in a slice, the numbers of sitelinks and the last digits of the item's number.

    A query whose rows are more than a page, or that takes too long, is asked in slices: first by halves of the
    numbers of sitelinks, the larger numbers first, which the endpoint looks up; then by the last digits of the item's
    number. This bounds each answer without sorting, and the union of the slices does not depend on the page size.
    """

    description: str
    columns: tuple[str, ...]
    where: tuple[str, ...]
    items: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    order: str = ""
    limit: int = 0
    least: int | None = None
    links: range = range(0)
    ending: str = ""

    @property
    def text(self) -> str:
        body = "\n".join(f"  {line}" for pattern in self._patterns() for line in pattern.split("\n"))
        selected = " ".join(f"?{column}" for column in self.columns)
        end = f"ORDER BY {self.order}\nLIMIT {self.limit}" if self.limit else f"LIMIT {PAGE + 1}"
        text = f"SELECT DISTINCT {selected} WHERE {{\n{body}\n}}\n{end}\n"
        used = [name for name in PREFIXES if re.search(rf"(?<![\w?]){name}:\w", text)]
        prefixes = "".join(f"PREFIX {name}: <{PREFIXES[name]}>\n" for name in used)
        return f"# {self.description}\n{prefixes}{text}"

    @property
    def shape(self) -> str:
        """The text with one example item, which is the same for all queries that differ only in their items."""
        return replace(self, items=(EXAMPLE_ITEM,)).text if self.items else self.text

    def slices(self) -> Iterator["Query"]:
        """Yield queries whose rows together are those of this one, or nothing if it cannot be sliced further.

        After the first digit, the item that has no more digits needs a slice of its own: Q7 ends neither in 07 nor 17.
        """
        links = self.links or range(MOST_LINKS if self.least is None else self.least, MOST_LINKS)
        if len(links) > 1:
            middle = len(links) // 2
            yield from (replace(self, links=half) for half in (links[middle:], links[:middle]))
        elif not self.limit and len(self.ending) < MOST_ENDING_DIGITS and not self.ending.startswith("Q"):
            for digit in DECIMAL_DIGITS + ("Q" if self.ending else ""):
                yield replace(self, ending=digit + self.ending)

    def _patterns(self) -> Iterator[str]:
        if self.items:
            yield values(self.columns[0], self.items)
        if self.links:
            yield sitelinks_of(self.columns[0], self.links)
        yield from self.where
        if self.least is not None and not self.links:
            yield sitelinks(self.columns[0], self.least)
        yield from self.optional
        if self.ending:
            yield f'FILTER(STRENDS(STR(?{self.columns[0]}), "{self.ending}"))'


def chunks(items: Sequence[str], size: int = CHUNK) -> Iterator[tuple[str, ...]]:
    """Yield the items in tuples of at most `size`."""
    for begin in range(0, len(items), size):
        yield tuple(items[begin : begin + size])


def values(variable: str, items: Sequence[str]) -> str:
    return f"VALUES ?{variable} {{ {' '.join(f'wd:{item}' for item in items)} }}"


def current_value(subject: str, property: str, object: str) -> str:
    """Return a pattern of the values that hold now: statements of the best rank that have not ended."""
    statement = f"?{subject}_{property}"
    return (
        f"?{subject} p:{property} {statement} .\n"
        f"{statement} a wikibase:BestRank ; ps:{property} ?{object} .\n"
        f"FILTER NOT EXISTS {{ {statement} pq:P582 ?end }}  # it has not ended"
    )


def stated_value(subject: str, property: str, object: str) -> str:
    """Return a pattern of all values whose statements are not deprecated."""
    statement = f"?{subject}_{property}"
    return (
        f"?{subject} p:{property} {statement} .\n"
        f"{statement} ps:{property} ?{object} .\n"
        f"FILTER NOT EXISTS {{ {statement} wikibase:rank wikibase:DeprecatedRank }}"
    )


def best_value(subject: str, property: str, object: str) -> str:
    """Return a pattern of the values of the best rank, ended or not, which Wikidata calls truthy."""
    return f"?{subject} wdt:{property} ?{object} ."


def is_a(subject: str, kind: str, name: str) -> str:
    return f"?{subject} wdt:P31 wd:{kind} .  # {name}"


def is_no(subject: str, kind: str, name: str) -> str:
    return f"FILTER NOT EXISTS {{ ?{subject} wdt:P31 wd:{kind} }}  # no {name}"


def is_not(subject: str, item: str, name: str) -> str:
    return f"FILTER(?{subject} != wd:{item})  # not {name}"


def property_path(properties: str) -> str:
    """Return the path of a property such as P17, or of any of several such as P131|P17."""
    path = "|".join(f"wdt:{property}" for property in properties.split("|"))
    return f"({path})" if "|" in properties else path


def has_property(subject: str, properties: str) -> str:
    return f"FILTER EXISTS {{ ?{subject} {property_path(properties)} ?{subject}_value }}"


def is_a_kind_of(subject: str, kind: str, name: str) -> str:
    return f"?{subject} wdt:P31/wdt:P279* wd:{kind} .  # {name} or a subclass of it"


def sitelinks(subject: str, least: int = 0) -> str:
    """Return a pattern of the number of sites with an article about the subject, which tells how well known it is."""
    text = f"?{subject} wikibase:sitelinks ?{subject}_sitelinks ."
    return f"{text}\nFILTER(?{subject}_sitelinks >= {least})" if least else text


def sitelinks_of(subject: str, numbers: Sequence[int]) -> str:
    """Return a pattern of certain numbers of sitelinks, as fixed values, so that an endpoint begins with few items."""
    return f"VALUES ?{subject}_sitelinks {{ {' '.join(map(str, numbers))} }}\n{sitelinks(subject)}"


def articles(subject: str, sites: Sequence[str]) -> str:
    """Return an optional pattern of the site and title of the subject's articles on these Wikipedia sites."""
    addresses = ", ".join(f"<https://{site}.wikipedia.org/>" for site in sites)
    return (
        f"OPTIONAL {{\n  ?article schema:about ?{subject} ; schema:isPartOf ?site ; schema:name ?title .\n"
        f"  FILTER(?site IN ({addresses}))\n}}"
    )


def label(item: str, languages: Sequence[str]) -> str:
    listed = ", ".join(f'"{language}"' for language in languages)
    return f"?{item} rdfs:label ?label .\nFILTER(LANG(?label) IN ({listed}))\nBIND(LANG(?label) AS ?language)"
