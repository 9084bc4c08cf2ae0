"""Lists that are made anew after a result, before anybody reads them."""

import time

import pytest
from django.db import OperationalError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from leaderboard.figures import kept_lists
from leaderboard.figures.ranks import refresh_ranks
from leaderboard.models import Benchmark, Run
from leaderboard.pages import overview_page
from tests.leaderboard import factories as make

PAGES = ("/", "/benchmarks/tiny/", "/models/org/first/", "/queue/")


@pytest.fixture
def measured(transactional_db: None) -> Run:
    run = make.finished(make.benchmark(), 0.5, make.model("org/first"))
    make.run(make.model("org/waits"), run.benchmark)
    return run


def finish_another(benchmark: Benchmark) -> Run:
    """Measure another model, from its submission to its rank."""
    run = make.run(make.model("org/late"), benchmark, Run.State.AGGREGATING)
    make.score(run, 0.75)
    assert Run.objects.move(run, Run.State.FINISHED)
    refresh_ranks(benchmark)
    return run


def queries(client: Client, address: str) -> tuple[int, str]:
    """Return how many queries a page takes, and its text."""
    with CaptureQueriesContext(connection) as captured:
        response = client.get(address)
    assert response.status_code == 200
    return len(captured), response.content.decode()


@pytest.mark.parametrize("address", PAGES)
def test_the_first_reader_after_a_result_reads_no_list(client: Client, measured: Run, address: str) -> None:
    queries(client, address)
    finish_another(measured.benchmark)
    late, _ = queries(client, address)
    Run.objects.filter(model__hub_id="org/late").update(artefact="elsewhere")  # a change of a finished run
    assert kept_lists.renew_once()
    early, _ = queries(client, address)
    assert early < late


def test_a_renewed_list_has_the_result(client: Client, measured: Run) -> None:
    for address in PAGES:
        queries(client, address)
    finish_another(measured.benchmark)
    assert kept_lists.renew_once()
    for address in ("/", "/benchmarks/tiny/"):
        assert "org/late" in queries(client, address)[1]


def test_the_first_reader_of_the_overview_after_a_result_finds_its_curve_drawn(
    client: Client, measured: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    queries(client, "/")
    finish_another(measured.benchmark)
    assert kept_lists.renew_once()
    for function in ("curve_charts", "size_classes", "other_topics"):
        monkeypatch.delattr(overview_page, function)
    assert "org/late" in queries(client, "/")[1]


def test_nothing_is_renewed_without_a_change(client: Client, measured: Run) -> None:
    for address in PAGES:
        queries(client, address)
    kept_lists.renew_once()
    assert kept_lists.renew_once() == 0


def test_no_list_is_renewed_from_rows_of_a_benchmark_that_have_changed(client: Client, measured: Run) -> None:
    queries(client, "/benchmarks/tiny/")
    Benchmark.objects.update(title="Another title")
    assert kept_lists.renew_once() == 0
    assert "Another title" in queries(client, "/benchmarks/tiny/")[1]


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
