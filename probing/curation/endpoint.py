"""Client of a SPARQL endpoint, which turns queries into rows."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import BytesIO

from tqdm import tqdm
from urllib3 import HTTPResponse

from probing.curation.http_cache import HttpCache, OverTimeLimit, QueryTimedOut, Refused
from probing.curation.query import PAGE, PREFIXES, Query, chunks, label
from probing.errors import BadInput, SourceUnavailable
from probing.extras import extra_package

WIKIDATA = "https://query.wikidata.org/sparql"
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


class Endpoint:
    """A SPARQL endpoint with a cache. `shapes` counts the queries, whether they were sent or found in the cache.

    SPARQLWrapper holds the query, reads its answer and names its errors. The cache sends it, because SPARQLWrapper
    sends by urllib only, which would pass by the stored answers, and its errors lack the headers with the pause.
    """

    def __init__(self, cache: HttpCache, url: str = WIKIDATA) -> None:
        if not re.match(r"https?://\w", url):
            raise BadInput(f"{url!r:.80} is not a web address.", "Give --endpoint such as https://example.org/sparql.")
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
        for query in tqdm(queries, desc=description, unit="query", disable=None, leave=False):
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
        headers = {"Content-Type": "application/sparql-results+json"}
        answer = HTTPResponse(BytesIO(text.encode()), headers, preload_content=False)
        result = self._library.QueryResult((answer, self._request.returnFormat))
        try:
            return [_binding(binding) for binding in result.convert()["results"]["bindings"]]
        except (KeyError, TypeError) as error:
            excerpt = " ".join(text.split())[:100]
            raise SourceUnavailable(
                f"{self.url} answered something other than rows ({excerpt}).", "Check --endpoint."
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


def _binding(values: Mapping[str, Mapping[str, str]]) -> Binding:
    return {column: _item_or_text(value) for column, value in values.items()}


def _item_or_text(value: Mapping[str, str]) -> str:
    item = ITEM_ADDRESS.fullmatch(value["value"])
    if item:
        return item[1]
    is_unknown = value["type"] == "bnode" or "/.well-known/genid/" in value["value"]
    return UNKNOWN if is_unknown else value["value"]


def _sorted(rows: Iterable[Binding], columns: Sequence[str]) -> list[Binding]:
    """Return the distinct rows, sorted by the numbers of their items."""
    distinct = {tuple(item_number(row.get(column, "")) for column in columns): row for row in rows}
    return [distinct[key] for key in sorted(distinct)]
