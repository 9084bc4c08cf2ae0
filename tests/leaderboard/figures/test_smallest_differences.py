"""The smallest difference that a benchmark can tell apart: stored when a run finishes, assumed before."""

import pytest
from django.core.files.storage import storages
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from leaderboard.figures import ranks
from leaderboard.figures.ranks import shown_difference, store_smallest_difference
from leaderboard.models import Benchmark, Run
from probing.analysis.power import assumed_difference, smallest_difference
from tests.leaderboard import factories as make
from tests.leaderboard.conftest import Site


def stored(benchmark: Benchmark) -> dict[str, float]:
    store_smallest_difference(benchmark)
    benchmark.refresh_from_db()
    return shown_difference(benchmark)


def usual(benchmark: Benchmark, count: int) -> list[Run]:
    return [make.measured(benchmark, make.model(), skill=seed, seed=seed, templates=(0,)) for seed in range(count)]


def test_it_is_that_of_the_stored_rows(small: Benchmark) -> None:
    runs = usual(small, 3)
    expected = smallest_difference({str(run.pk): make.stored_rows(run) for run in runs})
    assert expected
    assert stored(small) == pytest.approx(expected._asdict())
    assert expected.pairs == 3


def test_only_the_newest_runs_with_the_usual_settings_are_compared(
    small: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranks, "NEWEST_RUNS", 2)
    *_, first, second = usual(small, 3)
    make.measured(small, make.model(), skill=1, templates=(1,))
    expected = smallest_difference({"first": make.stored_rows(first), "second": make.stored_rows(second)})
    assert expected
    assert stored(small) == pytest.approx(expected._asdict())


def test_a_run_whose_files_are_gone_is_left_out(small: Benchmark) -> None:
    runs = usual(small, 3)
    storages["artefacts"].delete(f"{runs[0].artefact}/items.parquet")
    assert stored(small)["pairs"] == 1


def test_it_is_assumed_as_long_as_fewer_than_two_runs_were_measured(small: Benchmark) -> None:
    usual(small, 1)
    shown = stored(small)
    assert shown["same_relations"] == assumed_difference(small.items).same_relations
    assert (shown["like_relations"], shown["pairs"]) == (None, 0)


def test_a_probe_without_right_answers_has_none(db: None) -> None:
    assert stored(make.benchmark("graph", probe="perplexity")) == {}


def test_the_page_and_the_api_show_what_is_stored(client: Client, site: Site) -> None:
    usual(site.benchmark, 2)
    shown = stored(site.benchmark)
    html = client.get("/benchmarks/small/").content.decode()
    assert f"<strong>{shown['same_relations']:.3f}</strong> on" in html
    assert f"<strong>{shown['like_relations']:.3f}</strong> on" in html
    assert "median over 1 pair of measured runs" in " ".join(html.split())
    (listed,) = client.get("/api/v1/benchmarks").json()["benchmarks"]
    assert listed["smallest_difference"] == shown


def test_the_page_names_the_assumption(client: Client, small: Benchmark) -> None:
    text = " ".join(client.get("/benchmarks/small/").content.decode().split())
    assert "if the answers of the two models are independent" in text


def test_showing_it_reads_no_row(small: Benchmark, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    with django_assert_num_queries(0):
        shown_difference(small)
