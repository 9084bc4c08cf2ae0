"""How well known the subjects of a benchmark are: on how many of Wikimedia's sites each has an article (sitelinks).

If it is asked for, also how often people read the article of one Wikipedia in a year (page views), by Wikimedia's
Analytics API. Its documentation: https://doc.wikimedia.org/generated-data-platform/aqs/analytics-api/. It has no record
of an article that nobody read, so that its views are unknown and not 0.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import quote

import pandas as pd

from probing.benchmark import Benchmark
from probing.curation.http_cache import NOT_FOUND, HttpCache, Refused
from probing.curation.wikidata import Endpoint, Query, articles, chunks, item_number, sitelinks
from probing.errors import BadInput
from probing.progress_bar import with_progress
from probing.sentences.sentence_files import refuse_bad_target, write_tables

VIEWS_API = "https://wikimedia.org/api/rest_v1/metrics/pageviews"
FIRST_YEAR = 2016  # the first of which the API has every month
LATE = timedelta(days=31)  # so long after its end, all months of a year are there
ITEM = re.compile(r"Q\d+")
LANGUAGE = re.compile(r"[a-z]{2,}(-[a-z]+)*")


@dataclass(frozen=True)
class PageViews:
    """Client of the API of page views: those by people and not by programs, on all devices.

    `year` and `language`: which views, of which Wikipedia. The views of each article are noted by themselves, so that
    an interruption loses nothing.
    """

    cache: HttpCache
    year: int
    language: str = "en"
    url: str = VIEWS_API

    def __post_init__(self) -> None:
        last = (datetime.now(UTC) - LATE).year - 1
        if not FIRST_YEAR <= self.year <= last:
            raise BadInput(
                f"The page views of {self.year} are not there for every month.", f"Choose {FIRST_YEAR} to {last}."
            )
        if not LANGUAGE.fullmatch(self.language):
            raise BadInput(f"{self.language!r:.80} is no code of a Wikipedia.", "Give --language such as en.")
        if not re.match(r"https?://\w", self.url):
            raise BadInput(f"{self.url!r:.80} is not a web address.", f"Give --views-api such as {VIEWS_API}.")

    @property
    def source(self) -> str:
        """The Wikipedia and the year, such as en.wikipedia in 2025."""
        return f"{self.language}.wikipedia in {self.year}"

    def by_title(self, titles: Iterable[str]) -> Mapping[str, int]:
        """Return the views of each article in the year, without the articles of which the API has none."""
        views = {}
        for title in with_progress(sorted(set(titles)), "Page views"):
            address = self._address(title)
            by_month: list[int] | None = self.cache.note(address)
            if by_month is None:
                by_month = self._ask(address)
                self.cache.put_note(address, by_month)
            if by_month:
                views[title] = sum(by_month)
        return views

    def _address(self, title: str) -> str:
        name = quote(title.replace(" ", "_"), safe="")
        months = f"{self.year}010100/{self.year}123100"
        return f"{self.url}/per-article/{self.language}.wikipedia/all-access/user/{name}/monthly/{months}"

    def _ask(self, address: str) -> list[int]:
        """Return the views of each month that has any."""
        try:
            return self.cache.ask(address, _months, keep=False)
        except Refused as error:
            if error.status == NOT_FOUND and error.text.startswith("{"):  # at a wrong address, HTML comes instead
                return []
            raise


def _months(text: str) -> list[int]:
    answer = json.loads(text)
    months = answer.get("items") if isinstance(answer, dict) else None
    if not isinstance(months, list):
        raise ValueError(f"no months: {text[:200]}")
    return [int(month["views"]) for month in months]


def queries(benchmark: Benchmark, language: str = "") -> Iterator[Query]:
    """Yield the queries for the sitelinks of all subjects, and for the titles of their articles if there is a language.

    Raises `BadInput` where no subject has an id of Wikidata.
    """
    subjects = _subjects(benchmark)
    yield from map(sitelinks_query, chunks(subjects))
    if language:
        yield from (titles_query(language, chunk) for chunk in chunks(subjects))


def sitelinks_query(subjects: tuple[str, ...]) -> Query:
    return Query("Sitelinks of subjects", ("subject", "subject_sitelinks"), (sitelinks("subject"),), subjects)


def titles_query(language: str, subjects: tuple[str, ...]) -> Query:
    """Return the query for the titles of the articles about subjects in the Wikipedia of a language."""
    description = f"Articles about subjects in the Wikipedia of the language {language}"
    return Query(description, ("subject", "title"), (), subjects, optional=(articles("subject", [language]),))


def count_sitelinks(
    endpoint: Endpoint, benchmark: Benchmark, out: Path, page_views: PageViews | None = None
) -> pd.DataFrame:
    """Ask for the sitelinks of each item's subject, and for the views of its article; write and return the table.

    `out`: a new file, .csv, .parquet or .jsonl, with the columns `relation`, `index`, `subject` and `sitelinks`, which
    is empty where the subject has no id of Wikidata or no item there any more. With page views, there are also the
    title of its `article`, the Wikipedia and the year (`views_of`), and its `yearly_views`, which are empty where it
    has no article, or the API no views of it.
    """
    refuse_bad_target(out)
    subjects = _subjects(benchmark)
    rows = endpoint.all_rows([sitelinks_query(chunk) for chunk in chunks(subjects)])
    links = {row["subject"]: int(row["subject_sitelinks"]) for row in rows}
    if not links:
        raise BadInput(f"{endpoint.url} knows none of the subjects of {benchmark.slug}.", "Check --endpoint.")
    items = [(relation.label, item) for relation in benchmark.relations for item in relation.items]
    ids = pd.Series([item.subject_id for _, item in items], dtype=object)
    table = pd.DataFrame(
        {
            "relation": [relation for relation, _ in items],
            "index": [item.index for _, item in items],
            "subject": [item.subject for _, item in items],
            "sitelinks": ids.map(links).astype("Int64"),
        }
    )
    if page_views:
        titles = _titles(endpoint, subjects, page_views.language)
        views = page_views.by_title(titles.values())
        table["article"] = ids.map(titles)
        table["views_of"] = page_views.source
        table["yearly_views"] = table["article"].map(views).astype("Int64")
    write_tables([table], out)
    return table


def _subjects(benchmark: Benchmark) -> Sequence[str]:
    """Return the ids of all subjects; raise `BadInput` where none is one of Wikidata."""
    ids = {item.subject_id for relation in benchmark.relations for item in relation.items}
    subjects = sorted(filter(ITEM.fullmatch, ids), key=item_number)
    if not subjects:
        raise BadInput(f"The subjects of {benchmark.slug} have no ids of Wikidata.", "Choose one that has them.")
    return subjects


def _titles(endpoint: Endpoint, subjects: Sequence[str], language: str) -> Mapping[str, str]:
    """Return the title of the article about each subject that has one in the Wikipedia of the language."""
    rows = endpoint.all_rows([titles_query(language, chunk) for chunk in chunks(subjects)])
    titles = {row["subject"]: row["title"] for row in rows if "title" in row}
    if not titles:
        raise BadInput(f"No subject has an article in {language}.wikipedia.", "Give another --language.")
    return titles
