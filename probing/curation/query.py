"""SPARQL text from small pieces that a person can read and paste into an endpoint's web form.

A pattern is one or more lines of a WHERE clause; functions named for what they say return patterns. `current` values
are those of best rank without an end time; `stated` ones are all that are not deprecated.
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
PAGE = 10_000  # rows in an answer, at most
CHUNK = 200  # items that one query names, at most
DIGITS = "0123456789"
DEEPEST = 4  # digits by which a query is sliced, at most
MOST_LINKS = 1000  # sitelinks; an item has one at most for each of Wikimedia's sites


@dataclass(frozen=True)
class Query:
    """One question to an endpoint.

    `optional`: patterns that need not hold, and so come last.
    `given`: the items that `?{first column}` may be, for queries about known items.
    `least`: how many sitelinks it must have, for queries about well-known items; `links`: those of a slice.
    `order` and `limit` are for the few queries that want the best-known items only; any other wants all rows. Where
    those are more than a page, or take too long, it is asked in slices: by halves of the numbers of sitelinks, the
    larger first, each a list of numbers that an endpoint looks up; then by the last digits of the first column's
    item. That bounds each answer without sorting, and the slices together are the same whatever the pages.
    """

    about: str
    columns: tuple[str, ...]
    where: tuple[str, ...]
    given: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    order: str = ""
    limit: int = 0
    least: int = 0
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
        return f"# {self.about}\n{prefixes}{text}"

    @property
    def shape(self) -> str:
        """The text with one of the given items in place of all: what a manifest says of queries that differ in them."""
        return replace(self, given=("Q42",)).text if self.given else self.text

    def slices(self) -> Iterator["Query"]:
        """Queries that together have the rows of this one; none where it cannot be sliced further.

        Below the first digit the item with no more digits is a slice of its own: Q7 ends neither in 07 nor in 17.
        """
        links = self.links or range(self.least or MOST_LINKS, MOST_LINKS)
        if len(links) > 1:
            middle = len(links) // 2
            yield from (replace(self, links=half) for half in (links[middle:], links[:middle]))
        elif not self.limit and len(self.ending) < DEEPEST and not self.ending.startswith("Q"):
            for more in DIGITS + ("Q" if self.ending else ""):
                yield replace(self, ending=more + self.ending)

    def _patterns(self) -> Iterator[str]:
        if self.given:
            yield values(self.columns[0], self.given)
        if self.links:
            yield sitelinks_of(self.columns[0], self.links)
        yield from self.where
        if self.least and not self.links:
            yield sitelinks(self.columns[0], self.least)
        yield from self.optional
        if self.ending:
            yield f'FILTER(STRENDS(STR(?{self.columns[0]}), "{self.ending}"))'


def chunks(items: Sequence[str], size: int = CHUNK) -> Iterator[tuple[str, ...]]:
    for begin in range(0, len(items), size):
        yield tuple(items[begin : begin + size])


def values(variable: str, items: Sequence[str]) -> str:
    return f"VALUES ?{variable} {{ {' '.join(f'wd:{item}' for item in items)} }}"


def current(subject: str, property: str, object: str) -> str:
    """The values that hold now: statements of the best rank there is, unless they have ended."""
    statement = f"?{subject}_{property}"
    return (
        f"?{subject} p:{property} {statement} .\n"
        f"{statement} a wikibase:BestRank ; ps:{property} ?{object} .\n"
        f"FILTER NOT EXISTS {{ {statement} pq:P582 ?end }}  # it has not ended"
    )


def stated(subject: str, property: str, object: str) -> str:
    """Every value that counts: all statements but deprecated ones."""
    statement = f"?{subject}_{property}"
    return (
        f"?{subject} p:{property} {statement} .\n"
        f"{statement} ps:{property} ?{object} .\n"
        f"FILTER NOT EXISTS {{ {statement} wikibase:rank wikibase:DeprecatedRank }}"
    )


def best(subject: str, property: str, object: str) -> str:
    """The values of best rank, ended or not: what Wikidata calls truthy."""
    return f"?{subject} wdt:{property} ?{object} ."


def is_a(subject: str, kind: str, name: str) -> str:
    return f"?{subject} wdt:P31 wd:{kind} .  # {name}"


def is_no(subject: str, kind: str, name: str) -> str:
    return f"FILTER NOT EXISTS {{ ?{subject} wdt:P31 wd:{kind} }}  # no {name}"


def is_a_kind_of(subject: str, kind: str, name: str) -> str:
    return f"?{subject} wdt:P31/wdt:P279* wd:{kind} .  # {name} or a subclass of it"


def sitelinks(subject: str, least: int = 0) -> str:
    """How many sites have an article about it: how well known it is."""
    text = f"?{subject} wikibase:sitelinks ?{subject}_sitelinks ."
    return f"{text}\nFILTER(?{subject}_sitelinks >= {least})" if least else text


def sitelinks_of(subject: str, numbers: Sequence[int]) -> str:
    """The items with these numbers of sitelinks: fixed values, so that an endpoint begins with these few items."""
    return f"VALUES ?{subject}_sitelinks {{ {' '.join(map(str, numbers))} }}\n{sitelinks(subject)}"


def articles(subject: str, sites: Sequence[str]) -> str:
    """Site and title of its articles on these Wikipedia sites, if it has any."""
    addresses = ", ".join(f"<https://{site}.wikipedia.org/>" for site in sites)
    return (
        f"OPTIONAL {{\n  ?article schema:about ?{subject} ; schema:isPartOf ?site ; schema:name ?title .\n"
        f"  FILTER(?site IN ({addresses}))\n}}"
    )


def label(item: str, languages: Sequence[str]) -> str:
    listed = ", ".join(f'"{language}"' for language in languages)
    return f"?{item} rdfs:label ?label .\nFILTER(LANG(?label) IN ({listed}))\nBIND(LANG(?label) AS ?language)"
