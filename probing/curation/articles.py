"""Lengths and numbers of edits of Wikipedia articles, by which subjects are sorted (methods 4.3, step 2)."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import quote

from probing.curation.http_cache import NOT_FOUND, HttpCache, Refused
from probing.curation.wikidata import chunks
from probing.errors import BadInput
from probing.progress_bar import with_progress

WIKIPEDIA = "https://{site}.wikipedia.org/w"
TITLES_PER_REQUEST = 50  # the most that the sites allow
Article = tuple[str, str]  # site, title
SortKey = Literal["size", "edits"]


@dataclass(frozen=True)
class Articles:
    """Client of the Wikipedia sites' API. `url`: the folder of `api.php` and `rest.php`, with {site} for the site.

    The weight of each title is noted by itself, so that other batches of titles ask only for those that are new.
    """

    cache: HttpCache
    url: str = WIKIPEDIA

    def __post_init__(self) -> None:
        if "{site}" not in self.url:
            raise BadInput(f"{self.url!r:.80} has no {{site}}.", f"Write wikipedia: {WIKIPEDIA}.")

    def weights(self, articles: Iterable[Article], by: SortKey) -> dict[Article, int]:
        """Return the bytes or the number of edits of each article that exists."""
        unanswered: dict[str, list[str]] = defaultdict(list)
        weights: dict[Article, int | None] = {}
        for site, title in sorted(set(articles)):
            weights[site, title] = weight = self.cache.note(self._key(by, site, title))
            if weight is None:
                unanswered[site].append(title)
        batches = [(site, batch) for site, titles in unanswered.items() for batch in _batches(titles, by)]
        for site, titles in with_progress(batches, f"Articles' {by}"):
            answer = self._sizes(site, titles) if by == "size" else {titles[0]: self._edits(site, titles[0])}
            for title, weight in answer.items():
                weights[site, title] = weight
                self.cache.put_note(self._key(by, site, title), weight)
        return {article: weight for article, weight in weights.items() if weight}

    def _key(self, by: SortKey, site: str, title: str) -> str:
        return f"{by} of {title} at {self.url.format(site=site)}"

    def _sizes(self, site: str, titles: Sequence[str]) -> dict[str, int]:
        """Return the bytes of each title that the answer names, which are 0 if there is no such page."""
        parameters = {"action": "query", "prop": "info", "redirects": "1", "format": "json", "formatversion": "2"}
        form = parameters | {"titles": "|".join(titles)}
        content = self.cache.ask(f"{self.url.format(site=site)}/api.php", _pages, form, keep=False)
        renamed = {
            change["from"]: change["to"] for kind in ("normalized", "redirects") for change in content.get(kind, [])
        }
        sizes = {page["title"]: page.get("length", 0) for page in content["pages"]}
        final_titles = {title: _final_title(title, renamed) for title in titles}
        return {title: sizes[final] for title, final in final_titles.items() if final in sizes}

    def _edits(self, site: str, title: str) -> int:
        name = quote(title.replace(" ", "_"), safe="")
        address = f"{self.url.format(site=site)}/rest.php/v1/page/{name}/history/counts/edits"
        try:
            return self.cache.ask(address, _count, keep=False)
        except Refused as error:
            if error.status == NOT_FOUND and error.text.startswith("{"):  # at a wrong address, HTML comes instead
                return 0
            raise


def _pages(text: str) -> dict[str, Any]:
    """Return the part about pages; a site may report an error of its own with status 200, which has no such part."""
    answer = json.loads(text)
    content = answer.get("query") if isinstance(answer, dict) else None
    if not (isinstance(content, dict) and "pages" in content):
        raise ValueError(f"no pages: {text[:200]}")
    return content


def _count(text: str) -> int:
    answer = json.loads(text)
    if not (isinstance(answer, dict) and "count" in answer):
        raise ValueError(f"no count: {text[:200]}")
    return int(answer["count"])


def _batches(titles: Sequence[str], by: SortKey) -> Iterable[Sequence[str]]:
    """Split titles into requests; the API counts the edits of only one page at a time."""
    return chunks(titles, TITLES_PER_REQUEST if by == "size" else 1)


def _final_title(title: str, renamed: Mapping[str, str]) -> str:
    """Return the title that normalisation and one redirect lead to."""
    for _ in range(2):
        title = renamed.get(title, title)
    return title
