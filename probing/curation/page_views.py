"""How often people read the articles about the subjects of a benchmark in a year, by Wikimedia's Analytics API.

Its documentation: https://doc.wikimedia.org/generated-data-platform/aqs/analytics-api/. It has no record of an article
that nobody read, so that its views are unknown and not 0.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

from probing.curation.http_cache import NOT_FOUND, HttpCache, Refused
from probing.curation.wikidata import Query, articles
from probing.errors import BadInput
from probing.progress_bar import with_progress

VIEWS_API = "https://wikimedia.org/api/rest_v1/metrics/pageviews"
FIRST_YEAR = 2016  # the first of which the API has every month
LATE = timedelta(days=31)  # so long after its end, all months of a year are there
LANGUAGE = re.compile(r"[a-z]{2,}(-[a-z]+)*")


def titles_query(language: str, subjects: tuple[str, ...]) -> Query:
    """Return the query for the titles of the articles about subjects in the Wikipedia of a language."""
    description = f"Articles about subjects in the Wikipedia of the language {language}"
    return Query(description, ("subject", "title"), (), subjects, optional=(articles("subject", [language]),))


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
