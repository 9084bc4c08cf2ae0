"""Wikidata by SPARQL: queries put together from small patterns, and the client that turns them into rows.

People can read the queries in an endpoint's web form. A pattern is one or more lines of a WHERE clause. Current values
are those of the best rank that have no end time; stated values are all that are not deprecated.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from email.message import Message
from io import BytesIO
from urllib.response import addinfourl

from tqdm import tqdm

from probing.curation.http_cache import HttpCache, OverTimeLimit, QueryTimedOut, Refused
from probing.errors import BadInput, SourceUnavailable
from probing.extras import extra_package
from probing.progress_bar import with_progress

WIKIDATA = "https://query.wikidata.org/sparql"
PREFIXES = {
    "wd": "http://www.wikidata.org/entity/",
    "wdt": "http://www.wikidata.org/prop/direct/",
    "p": "http://www.wikidata.org/prop/",
    "ps": "http://www.wikidata.org/prop/statement/",
    "pq": "http://www.wikidata.org/prop/qualifier/",
    "wikibase": "http://wikiba.se/ontology#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "schema": "http://schema.org/",
}
ITEM_ADDRESS = re.compile(rf"{re.escape(PREFIXES['wd'])}([PQ]\d+)")
DEFAULT_LABEL = "mul"  # Wikidata's code of a label that is the same in all languages of the Latin script
LATIN_SCRIPT = {
    *("ca", "cs", "da", "de", "en", "es", "et", "eu", "fi", "fr", "ga", "gl", "hr", "hu", "id", "is", "it", "lb", "lt"),
    *("lv", "mi", "ms", "mt", "nb", "nl", "nn", "no", "pl", "pt", "rm", "ro", "sk", "sl", "sq", "sv", "tr", "vi"),
}
TOO_LONG = "timed out"  # noted instead of rows for a query that exceeds the engine's time limit
UNKNOWN = ""  # an object that exists according to Wikidata, which does not tell which it is ("somevalue")
# Column -> value: an item's id, a text, or UNKNOWN. A column without a value is missing.
Binding = Mapping[str, str]
Labels = Mapping[str, Mapping[str, str]]
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
            yield one_of(self.columns[0], self.items)
        if self.links:
            yield sitelinks_of(self.columns[0], self.links)
        yield from self.where
        if self.least is not None and not self.links:
            yield sitelinks(self.columns[0], self.least)
        yield from self.optional
        if self.ending:
            yield f'FILTER(STRENDS(STR(?{self.columns[0]}), "{self.ending}"))'


class Endpoint:
    """A SPARQL endpoint with a cache. `shapes` counts the queries, whether they were sent or found in the cache.

    SPARQLWrapper holds the query, reads its answer and names its errors. The cache sends it, because SPARQLWrapper
    sends by urllib only, which would pass by the stored answers, and its errors lack the headers with the pause.
    """

    def __init__(self, cache: HttpCache, url: str = WIKIDATA) -> None:
        if not re.match(r"https?://\w", url):
            raise BadInput(f"{url!r:.80} is not a web address.", "Write url: https://example.org/sparql.")
        self.url, self.cache = url, cache
        self.shapes: Counter[str] = Counter()
        self._library = extra_package("SPARQLWrapper", "curation", "Asking Wikidata")
        self._request = self._library.SPARQLWrapper(url, returnFormat=self._library.JSON, agent=cache.agent)
        self._request.setMethod(self._library.POST)

    def rows(self, query: Query) -> list[Binding]:
        """Return all distinct rows of the query, sorted by their items unless the query gives an order."""
        self.shapes[query.shape] += 1
        rows = self._all_slices(query)
        return rows[: query.limit] if query.limit else _sorted(rows, query.columns)

    def rows_of_each(self, queries: Sequence[Query]) -> Iterator[list[Binding]]:
        """Yield the rows of each of the queries, which are of one kind, with a progress bar."""
        description = queries[0].description[:40] if queries else ""
        for query in with_progress(queries, description):
            yield self.rows(query)

    def all_rows(self, queries: Sequence[Query]) -> list[Binding]:
        return [row for rows in self.rows_of_each(queries) for row in rows]

    def labels(self, items: Iterable[str], languages: Sequence[str]) -> Labels:
        """Return item -> language -> label, without the languages in which an item has no label."""
        item_ids = sorted(set(items), key=item_number)
        languages = sorted(languages)
        labels: dict[str, dict[str, str]] = {item: {} for item in item_ids}
        for row in self.all_rows([labels_query(languages, chunk) for chunk in chunks(item_ids)]):
            if text := row["label"].strip():
                labels[row["item"]].setdefault(row["language"], text)
        return {item: _with_default(item_labels, languages) for item, item_labels in labels.items()}

    def _all_slices(self, query: Query) -> list[Binding]:
        """Return the rows of the query, if necessary from its slices and their slices in order."""
        rows: list[Binding] = []
        waiting = [query]
        with tqdm(desc="in slices", unit="slice", disable=None, leave=False, delay=1) as bar:
            while waiting and not (query.limit and len(rows) >= query.limit):
                part = waiting.pop()
                slices = list(part.slices())
                page = self._page(part, bool(slices))
                if page is None:
                    waiting += reversed(slices)
                else:
                    rows += page
                bar.update()
        return rows

    def _page(self, query: Query, can_be_sliced: bool) -> list[Binding] | None:
        """Return the rows, or None if the query must be sliced because they are too many or take too long."""
        try:
            page = self._cached_rows(query)
        except QueryTimedOut:
            if not can_be_sliced:
                raise
            return None
        if len(page) > PAGE and not can_be_sliced:
            raise SourceUnavailable(f"{query.description} has more than {PAGE:,} rows at once.", "Ask for less.")
        return page if len(page) <= PAGE else None

    def _cached_rows(self, query: Query) -> list[Binding]:
        """Return the rows from the cache, else from the endpoint; a timeout of the engine is noted as well."""
        key = f"{self.url}\n{query.text}"
        if self.cache.note(key) == TOO_LONG:
            raise QueryTimedOut(f"{query.description} takes {self.url} too long.", "Ask for less.")
        self._request.setQuery(query.text)
        try:
            return self.cache.ask(self._request.endpoint, self._rows_of, {"query": self._request.queryString})
        except OverTimeLimit:
            if any(query.slices()):
                self.cache.put_note(key, TOO_LONG)
            raise
        except Refused as error:
            raise self._explained(error) from error

    def _rows_of(self, text: str) -> list[Binding]:
        """Return the rows of an answer in JSON; raise `SourceUnavailable` if it has none."""
        # Read as what was asked for: of another Content-Type, SPARQLWrapper would make XML, a graph or plain bytes.
        headers = Message()
        headers["Content-Type"] = "application/sparql-results+json"
        answer = addinfourl(BytesIO(text.encode()), headers, self.url)
        result = self._library.QueryResult((answer, self._request.returnFormat))
        try:
            bindings = result.convert()["results"]["bindings"]
            return [{column: _item_or_text(value) for column, value in binding.items()} for binding in bindings]
        except (KeyError, TypeError) as error:
            excerpt = " ".join(text.split())[:100]
            raise SourceUnavailable(
                f"{self.url} answered something other than rows ({excerpt}).", "Check the address."
            ) from error

    def _explained(self, refusal: Refused) -> BadInput:
        """Return the refusal with what SPARQLWrapper says about its status, if it says anything."""
        errors = self._library.SPARQLExceptions
        kinds = {400: errors.QueryBadFormed, 401: errors.Unauthorized, 404: errors.EndPointNotFound}
        reason = f" {kinds[refusal.status]()}" if refusal.status in kinds else ""
        return BadInput(f"{refusal.message}{reason}", refusal.next_step)


def labels_query(languages: Sequence[str], items: tuple[str, ...]) -> Query:
    description = f"Labels in {', '.join(languages)}"
    codes = (*languages, DEFAULT_LABEL) if LATIN_SCRIPT.intersection(languages) else languages
    return Query(description, ("item", "language", "label"), (label("item", codes),), items)


def _with_default(labels: Mapping[str, str], languages: Sequence[str]) -> dict[str, str]:
    """Return the labels by language, with the default label for languages of the Latin script that lack one."""
    default = {
        language: labels[DEFAULT_LABEL] for language in LATIN_SCRIPT.intersection(languages) if DEFAULT_LABEL in labels
    }
    return default | {language: labels[language] for language in languages if language in labels}


def item_number(item: str) -> tuple[int, str]:
    """Return a key that sorts Q9 before Q10."""
    digits = re.search(r"\d+", item)
    return (int(digits[0]) if digits else 0, item)


def _item_or_text(value: Mapping[str, str]) -> str:
    item = ITEM_ADDRESS.fullmatch(value["value"])
    if item:
        return item[1]
    is_unknown = value["type"] == "bnode" or "/.well-known/genid/" in value["value"]
    return UNKNOWN if is_unknown else value["value"]


def _sorted(rows: Iterable[Binding], columns: Sequence[str]) -> list[Binding]:
    distinct = {tuple(item_number(row.get(column, "")) for column in columns): row for row in rows}
    return [distinct[key] for key in sorted(distinct)]


def chunks(items: Sequence[str], size: int = CHUNK) -> Iterator[tuple[str, ...]]:
    for begin in range(0, len(items), size):
        yield tuple(items[begin : begin + size])


def one_of(variable: str, items: Sequence[str]) -> str:
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


def label(item: str, languages: Sequence[str], kind: str = "rdfs:label") -> str:
    """Return a pattern of an item's labels in these languages, or of its aliases with the kind skos:altLabel."""
    listed = ", ".join(f'"{language}"' for language in languages)
    return f"?{item} {kind} ?label .\nFILTER(LANG(?label) IN ({listed}))\nBIND(LANG(?label) AS ?language)"
