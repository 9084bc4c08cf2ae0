"""How long Wikipedia's articles are, and how often they were edited: what facts are sorted by (methods 4.3, step 2)."""

import json
import urllib.parse
import urllib.request
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from tqdm import tqdm

from probing.curation.http_cache import AGENT, HttpCache, NotThere
from probing.curation.query import chunks
from probing.errors import BadInput

WIKIPEDIA = "https://{site}.wikipedia.org/w"
TITLES = 50  # in one request, at most: what the sites allow

Article = tuple[str, str]  # site, title
SortKey = Literal["size", "edits"]
T = TypeVar("T")


@dataclass(frozen=True)
class Articles:
    """`url`: where a site's `api.php` and `rest.php` lie, with {site} for its language code."""

    answers: HttpCache
    url: str = WIKIPEDIA

    def __post_init__(self) -> None:
        if "{site}" not in self.url:
            raise BadInput(f"{self.url!r:.80} has no {{site}}.", f"Give --wikipedia such as {WIKIPEDIA}.")

    def weigh(self, articles: Iterable[Article], by: SortKey) -> dict[Article, int]:
        """Bytes or edits of each article that is there."""
        by_site: dict[str, list[str]] = defaultdict(list)
        weights: dict[Article, int | None] = {}
        for site, title in sorted(set(articles)):
            weights[site, title] = known = self.answers.known(self._key(by, site, title))
            if known is None:
                by_site[site].append(title)
        batches = [(site, batch) for site, titles in by_site.items() for batch in _batches(titles, by)]
        for site, titles in tqdm(batches, desc=f"Articles' {by}", unit="request", disable=None, leave=False):
            found = self._sizes(site, titles) if by == "size" else {titles[0]: self._edits(site, titles[0])}
            for title, weight in found.items():
                weights[site, title] = weight
                self.answers.keep(self._key(by, site, title), weight)
        return {article: weight for article, weight in weights.items() if weight}

    def _key(self, by: SortKey, site: str, title: str) -> str:
        return f"{by} of {title} at {self.url.format(site=site)}"

    def _sizes(self, site: str, titles: Sequence[str]) -> dict[str, int]:
        """Bytes of each title that the answer names; of one that is not there, 0."""
        wanted = {"action": "query", "prop": "info", "redirects": "1", "format": "json", "formatversion": "2"}
        body = urllib.parse.urlencode(wanted | {"titles": "|".join(titles)}).encode()
        about = self._ask(f"{self.url.format(site=site)}/api.php", _pages, body)
        renamed = {each["from"]: each["to"] for kind in ("normalized", "redirects") for each in about.get(kind, [])}
        sizes = {page["title"]: page.get("length", 0) for page in about["pages"]}
        ends = {title: _end(title, renamed) for title in titles}
        return {title: sizes[end] for title, end in ends.items() if end in sizes}

    def _edits(self, site: str, title: str) -> int:
        name = urllib.parse.quote(title.replace(" ", "_"), safe="")
        try:
            return self._ask(f"{self.url.format(site=site)}/rest.php/v1/page/{name}/history/counts/edits", _count)
        except NotThere:
            return 0

    def _ask(self, address: str, read: Callable[[Any], T], body: bytes | None = None) -> T:
        request = urllib.request.Request(address, body, {"User-Agent": AGENT})
        return self.answers.ask(lambda: _send(request, self.answers.timeout), read, address)


def _send(request: urllib.request.Request, timeout: float) -> bytes:
    with urllib.request.urlopen(request, timeout=timeout) as response:
        return bytes(response.read())


def _pages(answer: Any) -> dict[str, Any]:
    """What an answer says of pages; a site may report an error of its own with status 200."""
    about = answer.get("query") if isinstance(answer, dict) else None
    if not (isinstance(about, dict) and "pages" in about):
        raise ValueError(f"no pages: {json.dumps(answer)[:200]}")
    return about


def _count(answer: Any) -> int:
    if not (isinstance(answer, dict) and "count" in answer):
        raise ValueError(f"no count: {json.dumps(answer)[:200]}")
    return int(answer["count"])


def _batches(titles: Sequence[str], by: SortKey) -> Iterable[Sequence[str]]:
    """Edits are counted page by page."""
    return chunks(titles, TITLES if by == "size" else 1)


def _end(title: str, renamed: dict[str, str]) -> str:
    """Where normalisation and a redirect lead."""
    for _ in range(2):
        title = renamed.get(title, title)
    return title
