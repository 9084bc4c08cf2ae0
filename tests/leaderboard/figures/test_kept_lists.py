"""Lists that are kept until the figures that they are made of change, and made anew before anybody reads them."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from threading import Event
from weakref import ref

import pytest
from django.db import OperationalError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from leaderboard.data_version import QUEUE, FiguresVersion, figures_version
from leaderboard.figures import kept_lists
from leaderboard.figures.kept_lists import KeptLists
from leaderboard.figures.ranks import refresh_ranks
from leaderboard.figures.runs import runs_on
from leaderboard.models import Benchmark, Model, Run, RunRank, Score
from leaderboard.pages import overview_page
from tests.leaderboard import factories as make

Change = Callable[[Run], object]


def version(figures: str, benchmarks: str = "1") -> FiguresVersion:
    return FiguresVersion((1,), figures, benchmarks)


def test_a_list_is_made_once_for_each_version() -> None:
    lists = KeptLists[list[str]](most=2)
    assert lists.get("key", version("1"), lambda _: ["first"]) == ["first"]
    assert lists.get("key", version("1"), lambda _: ["second"]) == ["first"]
    assert lists.get("key", version("2"), lambda _: ["third"]) == ["third"]
    assert lists.get("key", version("1"), lambda _: ["fourth"]) == ["fourth"], "only the last version is kept"


def test_nothing_is_kept_without_a_version() -> None:
    lists = KeptLists[int](most=2)
    numbers = count(1)
    assert [lists.get("key", FiguresVersion(), lambda _: next(numbers)) for _ in range(2)] == [1, 2]


def test_the_lists_that_were_not_used_for_the_longest_time_are_dropped() -> None:
    lists = KeptLists[str](most=2)
    for key in ("a", "b", "a", "c"):
        lists.get(key, version("1"), lambda _, key=key: f"first {key}")
    again = [lists.get(key, version("1"), lambda _: "made again") for key in ("a", "c", "b")]
    assert again == ["first a", "first c", "made again"]


def test_readers_at_the_same_time_wait_for_one_list() -> None:
    lists = KeptLists[int](most=2)
    numbers = count(1)
    begun, go_on = Event(), Event()

    def slowly(_: FiguresVersion) -> int:
        begun.set()
        go_on.wait(10)
        return next(numbers)

    with ThreadPoolExecutor() as readers:
        first = readers.submit(lists.get, "key", version("1"), slowly)
        assert begun.wait(10)
        second = readers.submit(lists.get, "key", version("1"), slowly)
        go_on.set()
        assert [first.result(10), second.result(10)] == [1, 1]


def test_a_list_that_cannot_be_made_is_made_by_the_next_reader() -> None:
    lists = KeptLists[int](most=2)

    def broken(_: FiguresVersion) -> int:
        raise OperationalError

    with pytest.raises(OperationalError):
        lists.get("key", version("1"), broken)
    assert lists.get("key", version("1"), lambda _: 1) == 1


class Content:
    """A list that can be watched."""


@pytest.mark.parametrize("by_reader", [True, False], ids=["reader", "renewal"])
def test_a_list_is_gone_before_the_next_one_is_made(monkeypatch: pytest.MonkeyPatch, by_reader: bool) -> None:
    lists = KeptLists[Content](most=2)
    made: list[ref[Content]] = []
    alive: list[int] = []

    def content(_: FiguresVersion) -> Content:
        alive.append(sum(reference() is not None for reference in made))
        new = Content()
        made.append(ref(new))
        return new

    lists.get("key", version("1"), content)
    if by_reader:
        lists.get("key", version("2"), content)
    else:
        monkeypatch.setattr("leaderboard.figures.kept_lists.figures_version", lambda *benchmarks: version("2"))
        lists.renew()
    assert alive == [0, 0]
    assert made[-1]() is not None


CHANGES: dict[str, Change] = {
    "a run finishes": lambda run: make.finished(run.benchmark),
    "a score changes": lambda run: run.scores.update(value=0.75),
    "scores are added at once": lambda run: Score.objects.bulk_create([Score(run=run, metric="x", n=1)]),
    "ranks are computed": lambda run: RunRank.objects.create(run=run, metric="accuracy", counted=1, n=1),
    "a model is described": lambda run: Model.objects.filter(pk=run.model_id).update(parameters=7),
    "a benchmark is named anew": lambda run: Benchmark.objects.update(title="New"),
    "the benchmark gets another version": lambda run: make.benchmark("tiny", version="2", current=False),
    "a run is measured again": lambda run: Run.objects.filter(pk=run.pk).update(state=Run.State.QUEUED),
    "a run is withdrawn": lambda run: Run.objects.filter(state=Run.State.FINISHED, benchmark=run.benchmark).delete(),
}
OTHER_CHANGES: dict[str, Change] = {
    "a run is submitted": lambda run: make.run(make.model("org/new"), run.benchmark),
    "a run begins": lambda run: Run.objects.filter(model__hub_id="org/waits").update(state=Run.State.SCORING),
    "a run fails": lambda run: Run.objects.filter(state=Run.State.QUEUED).update(state=Run.State.FAILED),
    "a run of another benchmark finishes": lambda run: make.finished(Benchmark.objects.get(slug="other")),
}


@pytest.fixture
def measured(transactional_db: None) -> Run:
    run = make.finished(make.benchmark(), 0.5, make.model("org/first"))
    make.finished(make.benchmark("other"))
    make.run(make.model("org/waits"), run.benchmark)
    return run


def test_what_changes_a_figure_changes_the_version_of_its_benchmark(measured: Run) -> None:
    for name, change in CHANGES.items():
        before = figures_version(measured.benchmark_id), figures_version()
        change(measured)
        assert figures_version(measured.benchmark_id) != before[0], name
        assert figures_version() != before[1], name


def test_other_changes_leave_the_version_of_a_benchmark(measured: Run) -> None:
    before = figures_version(measured.benchmark_id)
    for name, change in OTHER_CHANGES.items():
        change(measured)
        assert figures_version(measured.benchmark_id) == before, name


QUEUE_CHANGES: dict[str, Change] = {
    "a run is submitted": OTHER_CHANGES["a run is submitted"],
    "a model is described": CHANGES["a model is described"],
    "a run begins": OTHER_CHANGES["a run begins"],
    "a run is taken back": lambda run: Run.objects.filter(state=Run.State.QUEUED).delete(),
    "a run finishes": CHANGES["a run finishes"],
}


def test_what_changes_the_queue_changes_its_version(measured: Run) -> None:
    for name, change in QUEUE_CHANGES.items():
        before = figures_version(QUEUE)
        change(measured)
        assert figures_version(QUEUE) != before, name


def test_a_run_that_is_submitted_leaves_the_version_of_all_figures(measured: Run) -> None:
    before = figures_version()
    OTHER_CHANGES["a run is submitted"](measured)
    assert figures_version() == before


def test_the_progress_of_a_run_leaves_the_version_of_the_queue(measured: Run) -> None:
    going = make.running(make.model("org/going"), measured.benchmark)
    before = figures_version(QUEUE)
    assert Run.objects.move(going, Run.State.AGGREGATING)
    assert figures_version(QUEUE) == before


def test_runs_are_read_again_only_after_a_change_of_figures(measured: Run) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            runs_on(measured.benchmark)
        return len(captured)

    assert queries() == 2
    assert queries() == 1
    make.run(make.model("org/new"), measured.benchmark)
    assert queries() == 1
    make.finished(measured.benchmark)
    assert queries() == 2


def test_the_version_of_all_figures_has_that_of_each_benchmark(measured: Run) -> None:
    assert figures_version().of(measured.benchmark_id) == figures_version(measured.benchmark_id)
    assert not FiguresVersion().of(measured.benchmark_id)


def test_the_overview_asks_once_for_the_version_of_the_figures_and_once_for_the_queue(
    client: Client, measured: Run
) -> None:
    client.get("/")
    with CaptureQueriesContext(connection) as captured:
        client.get("/")
    assert sum("clozeboard_figures_version" in query["sql"] for query in captured) == 2


def test_nothing_is_kept_inside_a_transaction(measured: Run) -> None:
    try:
        with transaction.atomic():
            hidden = make.finished(measured.benchmark)
            assert hidden in runs_on(measured.benchmark)
            raise RuntimeError
    except RuntimeError:
        assert runs_on(measured.benchmark) == [measured]


OVERVIEW = "/?topic=all"
PAGES = (OVERVIEW, "/benchmarks/tiny/", "/benchmarks/tiny/?format=csv", "/benchmarks/tiny/relations/P30/")


@pytest.mark.parametrize("address", PAGES)
def test_every_list_is_correct_at_once(client: Client, measured: Run, address: str) -> None:
    def models() -> set[str]:
        html = client.get(address).content.decode()
        return {name for name in ("org/first", "org/late", "org/waits") if name in html}

    late = make.run(make.model("org/late"), measured.benchmark, Run.State.AGGREGATING)
    make.score(late, 0.75)
    make.score(late, 0.75, "relation", "P30")
    waiting = {"org/late", "org/waits"} if address == OVERVIEW else set()  # the overview names them
    assert models() == {"org/first"} | waiting
    assert Run.objects.move(late, Run.State.FINISHED)
    assert models() == {"org/first", "org/late"} | waiting
    refresh_ranks(measured.benchmark)
    measured.delete()
    assert models() == {"org/late"} | waiting
    Run.objects.filter(model__hub_id="org/waits").delete()
    assert models() == {"org/late"}


def test_a_model_with_another_size_is_shown_with_it_at_once(client: Client, measured: Run) -> None:
    assert "7 B" not in client.get(OVERVIEW).content.decode()
    Model.objects.filter(hub_id="org/waits").update(parameters=7_000_000_000)
    assert "7 B" in client.get(OVERVIEW).content.decode(), "also while it has no figure"
    make.run(make.model("org/new"), measured.benchmark)
    assert "org/new" in client.get(OVERVIEW).content.decode()


RENEWED = ("/", "/benchmarks/tiny/", "/models/org/first/", "/queue/")


def finish_another(benchmark: Benchmark) -> Run:
    """Measure another model, from its submission to its rank."""
    run = make.run(make.model("org/late"), benchmark, Run.State.AGGREGATING)
    make.score(run, 0.75)
    assert Run.objects.move(run, Run.State.FINISHED)
    refresh_ranks(benchmark)
    return run


def page(client: Client, address: str) -> tuple[int, str]:
    """Return how many queries a page takes, and its text."""
    with CaptureQueriesContext(connection) as captured:
        response = client.get(address)
    assert response.status_code == 200
    return len(captured), response.content.decode()


@pytest.mark.parametrize("address", RENEWED)
def test_the_first_reader_after_a_result_reads_no_list(client: Client, measured: Run, address: str) -> None:
    page(client, address)
    finish_another(measured.benchmark)
    late, _ = page(client, address)
    Run.objects.filter(model__hub_id="org/late").update(artefact="elsewhere")  # a change of a finished run
    assert kept_lists.renew_once()
    early, html = page(client, address)
    assert early < late
    assert "org/late" in html or address not in ("/", "/benchmarks/tiny/")


def test_the_first_reader_of_the_overview_after_a_result_finds_its_curve_drawn(
    client: Client, measured: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    page(client, "/")
    finish_another(measured.benchmark)
    assert kept_lists.renew_once()
    for function in ("curve_charts", "size_classes", "other_topics"):
        monkeypatch.delattr(overview_page, function)
    assert "org/late" in page(client, "/")[1]


def test_nothing_is_renewed_without_a_change(client: Client, measured: Run) -> None:
    for address in RENEWED:
        page(client, address)
    kept_lists.renew_once()
    assert kept_lists.renew_once() == 0


def test_no_list_is_renewed_from_rows_of_a_benchmark_that_have_changed(client: Client, measured: Run) -> None:
    page(client, "/benchmarks/tiny/")
    Benchmark.objects.update(title="Another title")
    assert kept_lists.renew_once() == 0
    assert "Another title" in page(client, "/benchmarks/tiny/")[1]


def test_a_database_that_does_not_answer_ends_nothing(measured: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def unavailable() -> int:
        raise OperationalError("database is locked")

    monkeypatch.setattr(kept_lists, "renew_lists", unavailable)
    assert kept_lists.renew_once() == 0


def test_the_thread_renews_lists_by_itself(measured: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    renewed: list[float] = []
    monkeypatch.setattr(kept_lists, "PAUSE", 0.01)
    monkeypatch.setattr(kept_lists, "renew_once", lambda: renewed.append(time.monotonic()))
    stopped = kept_lists.start()
    until = time.monotonic() + 10
    while len(renewed) < 3 and time.monotonic() < until:
        time.sleep(0.01)
    stopped.set()
    assert len(renewed) >= 3
