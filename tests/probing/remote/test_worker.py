"""A worker elsewhere, with a site and a measuring process that are none."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from probing.errors import BadInput, MissingPackage, NoSpace, OutOfMemory, ProbingError
from probing.formats import bear
from probing.plan import Part
from probing.remote import worker as module
from probing.remote.connection import SiteRefused, SiteUnavailable
from probing.remote.protocol import BenchmarkOffer, Handout
from probing.remote.worker import Plan, RemoteWorker
from probing.settings import Settings
from tests.conftest import BearFolder
from tests.fakes import FakeModel
from tests.hub.local_hub import serve
from tests.leaderboard.in_process import asking
from tests.tiny_models import build_gpt2


@dataclass
class FakeSite:
    """A site that hands out parts from lists, one list for each run, and notes what it is told."""

    handouts: dict[int, list[Handout]]
    folder: Path
    address: str = "https://site.example"
    reports: list[tuple[str, str]] = field(default_factory=list)
    outages: int = 0
    refusal: ProbingError | None = None
    goes_on: bool = True

    def hello(self) -> str:
        return "lab"

    def impatient(self) -> "FakeSite":
        return self

    def fetch(self, benchmark: BenchmarkOffer, folder: Path) -> None:
        folder.symlink_to(self.folder)

    def claim(self, machine: Mapping[str, Any], run: int | None = None) -> Handout | None:
        runs = [run] if run is not None else list(self.handouts)
        return next((self.handouts[number].pop(0) for number in runs if self.handouts[number]), None)

    def renew(self, lease: str, share: float) -> bool:
        return self.goes_on

    def deliver(self, lease: str, rows: Path, record: str) -> None:
        if self.outages:
            self.outages -= 1
            raise SiteUnavailable("The site does not answer.")
        if self.refusal:
            raise self.refusal
        assert rows.is_file()
        assert json.loads(record)
        self.reports.append(("rows", lease))

    def fail(self, lease: str, error: ProbingError) -> None:
        self.reports.append((error.code, lease))

    def release(self, lease: str) -> None:
        self.reports.append(("release", lease))


class Bench:
    """What a test changes: the site, the plan, the model that answers, and what the worker has said."""

    def __init__(self, site: FakeSite, plan: Plan) -> None:
        self.site, self.plan, self.said, self.starts = site, plan, list[str](), 0

    def work(self, **changes: Any) -> None:
        RemoteWorker(self.site, replace(self.plan, **changes), self.said.append).work()  # type: ignore[arg-type]


@pytest.fixture
def bench(bear_folder: BearFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    digest = bear.read(bear_folder.write()).digest
    offer = BenchmarkOffer("small", "bear", digest, f"benchmarks/{digest}.tar.gz")
    with serve() as hub:
        commit = hub.add("org/name", build_gpt2(tmp_path / "model")).commit
        parts = [Part("P30", 0, 4), Part("P36", 0, 2)]
        site = FakeSite(
            {
                run: [
                    Handout(f"{run}-{part.relation}", run, "org/name", commit, Settings(), offer, part, 10.0, 0.1, "")
                    for part in parts
                ]
                for run in (1, 2)
            },
            bear_folder.path,
        )
        made = Bench(site, Plan(cache=tmp_path / "cache", hub=hub.url, once=True, poll=0.01))

        class Counted(asking(FakeModel())):  # type: ignore[misc]
            def __enter__(self) -> Any:
                made.starts += 1
                return super().__enter__()

        monkeypatch.setattr(module, "MeasuringProcess", Counted)
        (tmp_path / "cache" / "benchmarks").mkdir(parents=True)
        yield made


ALL = [("rows", "1-P30"), ("rows", "1-P36"), ("rows", "2-P30"), ("rows", "2-P36")]


def test_the_model_stays_loaded_for_all_parts_of_a_run(bench: Bench) -> None:
    bench.work()
    assert bench.site.reports == ALL
    assert bench.starts == 2


def test_a_worker_ends_after_so_many_runs_or_so_long_without_work(bench: Bench) -> None:
    bench.work(once=False, max_runs=1)
    assert bench.site.reports == ALL[:2]
    bench.work(once=False, idle_exit=0.05)
    assert bench.site.reports == ALL


def test_rows_are_delivered_when_the_site_is_back(bench: Bench) -> None:
    bench.site.outages = 3
    bench.work(once=False, idle_exit=1)
    assert sorted(bench.site.reports) == ALL
    assert "The site does not answer." in bench.said


def test_rows_that_could_not_be_delivered_wait_for_the_next_worker(bench: Bench) -> None:
    bench.site.outages = 1
    with pytest.raises(SiteUnavailable):
        bench.work()
    assert bench.site.reports == []
    bench.work()
    assert bench.site.reports == ALL


def test_rows_that_the_site_does_not_want_are_dropped(bench: Bench) -> None:
    bench.site.refusal = SiteRefused("Another worker was faster.")
    bench.work()
    assert bench.site.reports == []
    assert "The site did not take a part: Another worker was faster." in bench.said
    assert not list(bench.plan.cache.glob("outbox/*/*"))


def failing(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    def measure(*args: Any, **more: Any) -> None:
        raise error

    monkeypatch.setattr(module.MeasuringProcess, "measure", measure)


def test_a_failure_of_the_model_is_reported_and_the_worker_goes_on(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(OutOfMemory("Too large."), monkeypatch)
    bench.work()
    assert bench.site.reports == [("out-of-memory", lease) for _, lease in ALL]


def test_a_failure_of_the_machine_is_reported_and_ends_a_worker_that_works_once(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(NoSpace("The disk is full."), monkeypatch)
    with pytest.raises(NoSpace):
        bench.work()
    assert bench.site.reports == [("no-space", "1-P30")]


@pytest.mark.parametrize(
    "lack", [BadInput("There is no device 'cuda:7' here."), MissingPackage("bitsandbytes is not installed.")]
)
def test_what_the_machine_lacks_is_no_fault_of_the_run(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, lack: ProbingError
) -> None:
    failing(lack, monkeypatch)
    with pytest.raises(type(lack)):
        bench.work(once=False)
    assert bench.site.reports == [("release", "1-P30")]


def test_a_worker_that_is_interrupted_gives_its_part_back(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    failing(KeyboardInterrupt(), monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        bench.work()
    assert bench.site.reports == [("release", "1-P30")]


def test_a_worker_stops_measuring_when_the_site_says_so(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.site.goes_on = False

    def measure(self: Any, part: Part, on_share: Any, *, positions: float) -> None:
        while True:
            on_share(0.5)

    monkeypatch.setattr(module.MeasuringProcess, "measure", measure)
    bench.work()
    assert bench.site.reports == []
    assert bench.said.count("Run 1 has ended, or its part belongs to another worker now.") == 2


def test_a_model_that_does_not_fit_the_disk_is_not_downloaded(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SPARE_DISK", 10**18)
    with pytest.raises(NoSpace, match=r"no room for the 0\.0 GB of org/name"):
        bench.work()
