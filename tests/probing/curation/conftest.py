"""Fixtures: the two servers of an invented Wikidata, and clients of them."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from probing.curation.articles import Articles
from probing.curation.http_cache import HttpCache
from probing.curation.wikidata import Endpoint
from probing.formats.canary import canary_of
from tests.probing.curation.servers import Server, serving, sparql, wikipedia
from tests.probing.curation.world import World


class Source:
    """The servers of a world, and clients of them that share one cache file."""

    def __init__(self, sparql: Server, wikipedia: Server, cache_file: Path) -> None:
        self.sparql, self.wikipedia, self.cache_file = sparql, wikipedia, cache_file
        self.endpoint_url, self.wikipedia_url = f"{sparql.url}/sparql", wikipedia.url + "/{site}"

    def cache(self, timeout: float = 30) -> HttpCache:
        return HttpCache(self.cache_file, interval=0, first_pause=0.001, attempts=4, timeout=timeout)

    def endpoint(self, timeout: float = 30) -> Endpoint:
        return Endpoint(self.cache(timeout), self.endpoint_url)

    def forget(self) -> None:
        """Give the clients made from now on an empty cache."""
        self.cache_file = self.cache_file.with_name(f"{self.cache_file.name}+")
        self.sparql.requests.clear()
        self.wikipedia.requests.clear()

    def articles(self) -> Articles:
        return Articles(self.cache(), self.wikipedia_url)


Serve = Callable[[World], Source]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    with ExitStack() as stack:

        def start(world: World) -> Source:
            engine = stack.enter_context(serving(sparql(world.store())))
            sites = stack.enter_context(serving(wikipedia(world)))
            return Source(engine, sites, tmp_path / "answers.sqlite")

        yield start


MadeAlike = Callable[[Source, Callable[[Source, Path], Path]], bool]


@pytest.fixture
def made_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MadeAlike:
    """Return a check that curating twice, the second time with an empty cache, gives the same bytes in all files.

    They have the same canary, too.
    """
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")

    def check(source: Source, curated: Callable[[Source, Path], Path]) -> bool:
        first = contents(curated(source, tmp_path / "first"))
        assert canary_of(tmp_path / "first" / path for path in first)
        source.forget()
        return first == contents(curated(source, tmp_path / "second"))

    return check


def contents(folder: Path) -> dict[Path, bytes]:
    """Return the content of every file below the folder."""
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def source(serve: Serve) -> Source:
    """Serve a world with one country and its capital."""
    world = World()
    world.claim("Q79", "P36", "Q85")
    world.article("Q79", "en", "Egypt", 300)
    return serve(world)
