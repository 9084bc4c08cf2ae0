"""A SPARQL endpoint: queries in, rows out."""

import io
import json
import re
import urllib.error
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from SPARQLWrapper import JSON, POST, SPARQLWrapper
from SPARQLWrapper.SPARQLExceptions import SPARQLWrapperException
from tqdm import tqdm

from probing.curation.http_cache import AGENT, HttpCache, OverLimit, TookTooLong
from probing.curation.query import PAGE, PREFIXES, Query, chunks, label
from probing.errors import BadInput, SourceUnavailable

WIKIDATA = "https://query.wikidata.org/sparql"
ITEM = re.compile(rf"{re.escape(PREFIXES['wd'])}([PQ]\d+)")
DEFAULT = "mul"  # the "language" of a label that is the same in all languages of the Latin script, as names are
LATIN = {
    *("ca", "cs", "da", "de", "en", "es", "et", "eu", "fi", "fr", "ga", "gl", "hr", "hu", "id", "is", "it", "lb", "lt"),
    *("lv", "mi", "ms", "mt", "nb", "nl", "nn", "no", "pl", "pt", "rm", "ro", "sk", "sl", "sq", "sv", "tr", "vi"),
}
TOO_LONG = "timed out"  # stored in place of rows that are over the server's limit of time
UNKNOWN = ""  # an object that Wikidata says exists without saying which ("somevalue")

# Column -> value: an item's id, a text, or UNKNOWN; a column without a value is not there.
Row = Mapping[str, str]
Labels = Mapping[str, Mapping[str, str]]


class Endpoint:
    """`shapes` counts the queries that were needed, whether asked now or answered before."""

    def __init__(self, answers: HttpCache, url: str = WIKIDATA) -> None:
        if not re.match(r"https?://\w", url):
            raise BadInput(f"{url!r:.80} is no address.", "Give --endpoint such as https://example.org/sparql.")
        self.url, self.answers = url, answers
        self.shapes: Counter[str] = Counter()

    def rows(self, query: Query) -> list[Row]:
        """All rows of the query, each once; sorted unless the query has an order of its own."""
        self.shapes[query.shape] += 1
        rows = self._all_pages(query)
        return rows[: query.limit] if query.limit else _sorted(rows, query.columns)

    def answers_to(self, queries: Sequence[Query]) -> Iterator[list[Row]]:
        """The rows of each of several queries of one kind, with a progress bar."""
        about = queries[0].about[:40] if queries else ""
        for query in tqdm(queries, desc=about, unit="query", disable=None, leave=False):
            yield self.rows(query)

    def all_rows(self, queries: Sequence[Query]) -> list[Row]:
        return [row for rows in self.answers_to(queries) for row in rows]

    def labels(self, items: Iterable[str], languages: Sequence[str]) -> Labels:
        """Item -> language -> label, where it has one."""
        wanted = sorted(set(items), key=number)
        languages = sorted(languages)
        queries = [labels_query(languages, given) for given in chunks(wanted)]
        found: dict[str, dict[str, str]] = {item: {} for item in wanted}
        for row in self.all_rows(queries):
            if text := row["label"].strip():
                found[row["item"]].setdefault(row["language"], text)
        return {item: _with_default(labels, languages) for item, labels in found.items()}

    def _all_pages(self, query: Query) -> list[Row]:
        """The rows of the query, or of its slices and their slices, in their order."""
        rows: list[Row] = []
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

    def _page(self, query: Query, can_be_sliced: bool) -> list[Row] | None:
        """The rows; None where they are too many or take too long, if the query can be sliced."""
        try:
            page = self._known_or_asked(query)
        except TookTooLong:
            if not can_be_sliced:
                raise
            return None
        if len(page) > PAGE and not can_be_sliced:
            raise SourceUnavailable(f"{query.about} has more than {PAGE:,} rows at once.", "Ask for less.")
        return page if len(page) <= PAGE else None

    def _known_or_asked(self, query: Query) -> list[Row]:
        """That a query is over the server's limit is stored as well, so that nobody waits for it again."""
        key = f"{self.url}\n{query.text}"
        known = self.answers.known(key)
        if known == TOO_LONG:
            raise TookTooLong(f"{query.about} takes {self.url} too long.", "Ask for less.")
        if known is None:
            known = self._asked(query, key)
            self.answers.keep(key, known)
        return list(known)

    def _asked(self, query: Query, key: str) -> list[Row]:
        try:
            bindings = self.answers.ask(
                lambda: self._send(query.text), lambda answer: _bindings(answer, self.url), self.url
            )
        except OverLimit:
            if any(query.slices()):
                self.answers.keep(key, TOO_LONG)
            raise
        return [_row(binding) for binding in bindings]

    def _send(self, text: str) -> bytes:
        wrapper = SPARQLWrapper(self.url, returnFormat=JSON, agent=AGENT)
        wrapper.setMethod(POST)
        wrapper.setTimeout(int(self.answers.timeout) or 1)
        wrapper.setQuery(text)
        try:
            with wrapper.query().response as response:
                return bytes(response.read())
        except SPARQLWrapperException as error:
            raise _http_error(error) from error


def labels_query(languages: Sequence[str], items: tuple[str, ...]) -> Query:
    about = f"Labels in {', '.join(languages)}"
    asked = (*languages, DEFAULT) if LATIN.intersection(languages) else languages
    return Query(about, ("item", "language", "label"), (label("item", asked),), items)


def _with_default(labels: Mapping[str, str], languages: Sequence[str]) -> dict[str, str]:
    """By language; the default label stands where a language in its script has none."""
    default = {language: labels[DEFAULT] for language in LATIN.intersection(languages) if DEFAULT in labels}
    return default | {language: labels[language] for language in languages if language in labels}


def number(item: str) -> tuple[int, str]:
    """Q9 comes before Q10."""
    digits = re.search(r"\d+", item)
    return (int(digits[0]) if digits else 0, item)


def _http_error(error: SPARQLWrapperException) -> urllib.error.HTTPError:
    """SPARQLWrapper replaces some HTTP errors by its own, which know neither status nor headers; their context does."""
    original = error.__context__
    if not isinstance(original, urllib.error.HTTPError):
        raise error
    said = io.BytesIO(str(error).encode())
    return urllib.error.HTTPError(original.url, original.code, str(original.msg), original.headers, said)


def _bindings(answer: Any, server: str) -> list[dict[str, Any]]:
    try:
        return list(answer["results"]["bindings"])
    except (KeyError, TypeError) as error:
        said = json.dumps(answer)[:100]
        raise SourceUnavailable(f"{server} answered something else than rows ({said}).", "Check --endpoint.") from error


def _row(binding: Mapping[str, Any]) -> Row:
    return {column: _value(value) for column, value in binding.items()}


def _value(value: Mapping[str, str]) -> str:
    item = ITEM.fullmatch(value["value"])
    if item:
        return item[1]
    unknown = value["type"] == "bnode" or "/.well-known/genid/" in value["value"]
    return UNKNOWN if unknown else value["value"]


def _sorted(rows: Iterable[Row], columns: Sequence[str]) -> list[Row]:
    """Each row once, by the numbers of its items."""
    distinct = {tuple(number(row.get(column, "")) for column in columns): row for row in rows}
    return [distinct[key] for key in sorted(distinct)]
