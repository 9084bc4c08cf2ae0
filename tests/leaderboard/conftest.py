"""What the site's tests share: a data folder of their own, tiny models, a hub, and runs of every probe."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import django_rq
import pytest
from django.db.models.signals import post_migrate
from django.utils import timezone
from pytest_django.fixtures import Settings
from rq import Queue, Worker
from whitenoise.middleware import WhiteNoiseMiddleware

from leaderboard.figures import benchmarks, progress
from leaderboard.figures.comparisons import compared_results
from leaderboard.figures.highlights import stored_highlights
from leaderboard.figures.item_rows import matching
from leaderboard.figures.ranks import refresh_standings
from leaderboard.line import CHECKS, FINISH, QUEUES
from leaderboard.management.commands.load_published import load
from leaderboard.models import Benchmark, Claim, Printed, PrintedRow, Run
from leaderboard.models.printed import printed_rows
from leaderboard.redis_server import embedded_server
from leaderboard.serving import limits
from leaderboard.settings import embedded_redis_socket
from probing.catalog import EMBEDDED
from tests.conftest import BearFolder
from tests.hub.local_hub import Hub, serve
from tests.leaderboard import factories as make
from tests.leaderboard.kept import files_of, kept
from tests.leaderboard.probes.cloze_runs import TRIPLES, cloze_run
from tests.leaderboard.probes.culture_runs import culture_run_of
from tests.probing.formats.dlama_folder import DlamaFolder
from tests.remembered import remembered
from tests.tiny_models import build_bert, build_gpt2

# What the site's tests share: a data folder of their own, tiny models, and a hub that serves them.


@pytest.fixture(autouse=True)
def data(settings: Settings, tmp_path: Path) -> Iterator[Path]:
    """An empty data folder, no Redis, no hub, no request counted; a server that killed workers left is stopped."""
    folder = tmp_path / "data"
    folder.mkdir()
    settings.DATA, settings.MODELS, settings.HUB_CACHE = folder, folder / "models", folder / "hub"
    settings.EMBEDDED_REDIS = embedded_redis_socket(folder)
    settings.REDIS_URL = f"unix://{settings.EMBEDDED_REDIS}"
    server = {"URL": settings.REDIS_URL, "SERIALIZER": "json"}
    settings.RQ_QUEUES = dict.fromkeys(settings.RQ_QUEUES, server)
    settings.HF_ENDPOINT, settings.HF_TOKEN = "http://127.0.0.1:9", ""
    settings.REQUESTS_PER_MINUTE = 0
    limits.counted.clear()
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # the usual one takes 0.3 s
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.dummy.DummyCache"}}  # pages are computed anew
    artefacts = settings.STORAGES["artefacts"] | {"OPTIONS": {"location": folder / "artefacts"}}
    settings.STORAGES = settings.STORAGES | {"artefacts": artefacts}
    yield folder
    if (folder / "valkey" / "valkey.pid").exists():
        settings.EMBEDDED_REDIS = embedded_redis_socket(folder)
        with embedded_server():
            pass


@pytest.fixture(scope="session", autouse=True)
def baselines_computed_once() -> Iterator[None]:
    """Compute the baselines of the same benchmark once, not for each test that imports it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(benchmarks, "baseline_scores", remembered(benchmarks.baseline_scores))
        yield


@pytest.fixture(scope="session", autouse=True)
def permissions_never_made() -> None:
    """Leave out the permissions that Django makes after each test that empties the database: nobody asks for them."""
    post_migrate.disconnect(dispatch_uid="django.contrib.auth.management.create_permissions")


@pytest.fixture(scope="session", autouse=True)
def static_files_found_once() -> Iterator[None]:
    """Look for scripts and styles once, not for each client, which does so before its first request."""
    known_files: dict[str, Any] = {}
    look = WhiteNoiseMiddleware.add_files_from_finders

    def add_files(middleware: WhiteNoiseMiddleware) -> None:
        if not known_files:
            look(middleware)
            known_files.update(middleware.files)
        middleware.files = dict(known_files)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WhiteNoiseMiddleware, "add_files_from_finders", add_files)
        yield


@pytest.fixture(scope="session")
def tiny_models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Folders of a causal and a masked model; tests that spoil one work on a copy."""
    folder = tmp_path_factory.mktemp("models")
    return {"org/causal": build_gpt2(folder / "causal"), "org/masked": build_bert(folder / "masked")}


@pytest.fixture
def local_hub(settings: Settings, tiny_models: dict[str, Path]) -> Iterator[Hub]:
    """A hub that serves the tiny models, and whatever the test adds."""
    with serve() as server:
        for hub_id, folder in tiny_models.items():
            server.add(hub_id, folder)
        settings.HF_ENDPOINT = server.url
        yield server


@pytest.fixture
def small(db: Any, bear_folder: BearFolder) -> Benchmark:
    """The small benchmark of the library's tests, imported: two relations, six items, template 0."""
    bear_folder.plan = {"settings": {"templates": [0]}}
    folder = bear_folder.write()
    return kept(("small", *files_of(folder).items()), lambda: benchmarks.install("bear", folder, "small")[0])


@pytest.fixture
def tiny(db: None) -> Benchmark:
    """A benchmark without files."""
    return make.benchmark()


@pytest.fixture
def graph(db: None) -> Benchmark:
    """The knowledge graph that ships with the project, imported."""
    return make.shipped("graph")


@pytest.fixture
def starter(transactional_db: None) -> Benchmark:
    """The starter benchmark with 31 parts of ten items, so that a run takes long enough to be interrupted."""
    benchmark, _ = benchmarks.install("bear", EMBEDDED / "starter", "many", "Many")
    benchmark.settings = {"limit": 10}
    benchmark.save()
    return benchmark


@pytest.fixture
def pairs(db: Any) -> Benchmark:
    """The starter pairs, imported."""
    return kept("pairs", lambda: benchmarks.install("stest", EMBEDDED / "pairs", "pairs")[0])


@pytest.fixture
def living_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every queue one that a living worker takes jobs from."""
    monkeypatch.setattr(progress, "served_queues", lambda: frozenset((*QUEUES, CHECKS, FINISH)))


@dataclass
class Site:
    benchmark: Benchmark
    first: Run
    second: Run
    published: PrintedRow
    running: Run
    failed: Run

    @property
    def addresses(self) -> list[str]:
        """Every kind of page."""
        first = f"/runs/{self.first.pk}/"
        return [
            "/",
            "/?columns=domain:Geographic",
            f"/models/{self.first.model.hub_id}/",
            first,
            f"/runs/{self.running.pk}/",
            f"/runs/{self.failed.pk}/",
            f"{first}items/",
            f"{first}items/?correct=no&template=1",
            f"/benchmarks/small/items/P30-1/?run={self.first.pk}&wording=1",
            f"/compare/?m={self.first.pk}&m={self.second.pk}",
            "/compare/",
            "/benchmarks/",
            "/benchmarks/small/",
            "/benchmarks/small/relations/P30/",
            "/benchmarks/small/items/",
            "/benchmarks/small/items/P30-1/",
            "/submit/",
            "/queue/",
            "/methods/",
            "/methods/comparing/",
            "/methods/scoring/",
            "/papers/",
            "/papers/s-test/",
            "/api/",
        ]


def forget() -> None:
    """Forget what the process remembers by the numbers of runs and benchmarks."""
    for cached in (compared_results, matching, stored_highlights):
        cached.cache_clear()


@pytest.fixture(autouse=True)
def nothing_remembered() -> None:
    """Each test has a database of its own, in which the numbers of runs and benchmarks come again."""
    forget()


@pytest.fixture
def site(small: Benchmark) -> Site:
    """Runs in every state; the benchmark's usual templates are the two of the measured ones."""
    small.settings = {"templates": [0, 1]}
    small.save()
    made = kept("site", lambda: runs_in_every_state(small))
    Claim.objects.update(seen=timezone.now())
    for run in (made.first, made.second, made.published, made.running, made.failed):
        run.benchmark = small
    return replace(made, benchmark=small)


def runs_in_every_state(small: Benchmark) -> Site:
    """Make the runs of `site`."""
    return Site(
        benchmark=small,
        first=make.measured(small, make.model("org/first"), skill=1, seed=1),
        second=make.measured(small, make.model("org/second", kind="masked"), skill=3, seed=2),
        published=make.published(small),
        running=make.running(make.model("org/running"), small),
        failed=make.run(
            make.model("org/failed"), small, Run.State.FAILED, code="no-space", message="The disk is full."
        ),
    )


@pytest.fixture
def answered(site: Site) -> Site:
    """The same runs, with the answers to each question counted and the models ranked."""

    def figures() -> None:
        make.restore_figures(site.benchmark)
        refresh_standings(site.benchmark)

    kept("answered", figures)
    site.benchmark.refresh_from_db()
    return site


# Benchmarks and runs that the tests of several probes' pages share.


@pytest.fixture
def geography(db: None, tmp_path: Path) -> Benchmark:
    folder = tmp_path / "triples"
    folder.mkdir()
    (folder / "triples.jsonl").write_text("".join(json.dumps(triple) + "\n" for triple in TRIPLES))
    return kept("geography", lambda: benchmarks.install("geography", folder, "geography")[0])


@pytest.fixture
def cities(db: None, tmp_path: Path) -> Run:
    """A major fact type with 24 sentences, of which 4 are leaky, and the two minor ones of before."""
    named = [("City", "Egypt", 16), ("Egypt Town", "Egypt", 4), ("Village", "France", 4)]
    triples = [
        {"fact_type": "city_country", "subject": f"{name} {number}", "objects": [country]}
        for name, country, many in named
        for number in range(many)
    ]
    (tmp_path / "triples.jsonl").write_text("".join(json.dumps(triple) + "\n" for triple in [*triples, *TRIPLES[2:]]))

    def run() -> Run:
        on, _ = benchmarks.install("geography", tmp_path, "cities")
        return cloze_run(on, make.model("org/encoder", kind="masked"))

    return kept("cities", run)


@pytest.fixture
def encoder(geography: Benchmark) -> Run:
    return kept("encoder", lambda: cloze_run(geography, make.model("org/encoder", kind="masked")))


@pytest.fixture
def generator(geography: Benchmark) -> Run:
    return kept("generator", lambda: cloze_run(geography, make.model("org/generator", kind="causal")))


@pytest.fixture
def culture(db: None, tmp_path: Path) -> Benchmark:
    folder = DlamaFolder(tmp_path / "pairs")
    folder.add_arabic()
    return kept("culture", lambda: benchmarks.install("dlama", folder.write(), "culture")[0])


@pytest.fixture
def culture_run(culture: Benchmark) -> Run:
    return kept("culture_run", lambda: culture_run_of(culture, "org/one"))


@pytest.fixture
def published_culture_run(culture: Benchmark, culture_run: Run, tmp_path: Path) -> PrintedRow:
    """A paper's figures of the same model."""
    sides = [("culture", "Arab", 0.336), ("culture", "West", 0.23)]
    sides += [("relation_culture", "P37 Arab", 0.9), ("relation_culture", "P37 West", 0.8)]
    about = {"metric": "p_at_1", "n": 100, "low": None, "high": None}
    row = {
        "model": "org/one",
        "name": "One",
        "kind": "masked",
        "parameters": None,
        "settings": {"pair": "arab-west", "language": "ar"},
        "reference": "Table 1",
        "scores": [{**about, "dimension": where, "group": group, "value": value} for where, group, value in sides],
    }
    content = {
        "source": {"title": "A paper", "authors": "A. Author", "year": 2023, "url": "https://example.org"},
        "benchmark": {"slug": "culture", "title": "Culture", "version": "published", "probe": "ranking"},
        "differs": "Other facts.",
        "rows": [row],
    }
    folder = tmp_path / "published"
    folder.mkdir()
    (folder / "paper.json").write_text(json.dumps(content))
    (folder / "models.csv").write_text("model,name,hub_id,parameters,kind\n")
    load(folder)
    return printed_rows(Printed.objects.all())[0]


@pytest.fixture
def redis() -> Iterator[None]:
    """Run the embedded Valkey during the test."""
    with embedded_server():
        yield


@pytest.fixture
def rq_worker(redis: None) -> Iterator[Worker]:
    """Return a worker of all queues that has not registered yet."""
    connection = django_rq.get_connection("checks")
    queues = [Queue(name, connection) for name in (*QUEUES, CHECKS, FINISH)]
    worker = Worker(queues, "host-1", connection=connection)
    yield worker
    worker.register_death()
