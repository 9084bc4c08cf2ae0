"""What is stored of all runs on a benchmark: outcomes of questions, and smallest differences."""

import pandas as pd
import pytest
from django.core.files.storage import storages
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from leaderboard.figures import ranks
from leaderboard.figures.outcomes import (
    NOT_COUNTED,
    RIGHT,
    WRONG,
    answers_of,
    counts_of,
    outcomes_of,
    store_outcomes,
)
from leaderboard.figures.ranks import refresh_standings, shown_difference, store_smallest_difference
from leaderboard.models import Benchmark, RelationCounts, RelationOutcomes, Run
from probing.analysis.paired_tests import assumed_difference, smallest_difference
from tests.leaderboard import factories as make
from tests.leaderboard.conftest import Site

pytestmark = pytest.mark.django_db


def rows(*answers: tuple[int, int, bool | None], relation: str = "P30") -> pd.DataFrame:
    table = pd.DataFrame(answers, columns=["template", "index", "correct"])
    return table.assign(relation=relation, correct=table["correct"].astype("boolean"))


def finished(on: Benchmark, *answers: tuple[int, int, bool | None], **fields: object) -> Run:
    run = make.run(make.model(), on, Run.State.FINISHED, **fields)
    store_outcomes(run, rows(*answers))
    return run


def test_each_template_of_an_item_keeps_its_outcome(tiny: Benchmark) -> None:
    run = finished(tiny, (0, 7, True), (2, 7, False), (0, 900_000, None), (2, 900_000, True))
    outcomes = outcomes_of(run)["P30"]
    assert outcomes.of(7) == [RIGHT, NOT_COUNTED, WRONG]
    assert outcomes.of(900_000) == [NOT_COUNTED, NOT_COUNTED, RIGHT]
    assert outcomes.of(8) == outcomes.of(900_001) == []


def test_storing_outcomes_again_replaces_them(tiny: Benchmark) -> None:
    run = finished(tiny, (0, 1, True), (0, 2, True))
    store_outcomes(run, rows((0, 1, False)))
    assert outcomes_of(run)["P30"].of(1) == [WRONG]
    assert outcomes_of(run)["P30"].of(2) == []


def test_answers_are_counted_over_runs_that_were_asked_different_items_and_templates(tiny: Benchmark) -> None:
    finished(tiny, (0, 1, True), (0, 5, False))
    finished(tiny, (1, 1, True), (1, 3, None))
    finished(tiny, (0, 3, True), (0, 5, True), (1, 5, False))
    refresh_standings(tiny)
    counts = counts_of(tiny)["P30"]
    assert counts.items.tolist() == [1, 3, 5]
    assert counts.answered.tolist() == [[1, 1, 2], [1, 0, 1]]
    assert counts.right.tolist() == [[1, 1, 1], [1, 0, 0]]


def test_only_finished_runs_that_were_measured_here_are_counted(tiny: Benchmark) -> None:
    kept = finished(tiny, (0, 1, True))
    finished(tiny, (0, 1, False), provenance=Run.Provenance.ELSEWHERE)
    unfinished = make.run(make.model(), tiny, Run.State.SCORING)
    store_outcomes(unfinished, rows((0, 1, False)))
    refresh_standings(tiny)
    assert counts_of(tiny)["P30"].answered.tolist() == [[1]]
    assert list(answers_of(tiny, ["P30"])["P30"]) == [kept.pk]


def test_a_deleted_run_is_no_longer_counted(tiny: Benchmark) -> None:
    finished(tiny, (0, 1, True)).delete()
    refresh_standings(tiny)
    assert not RelationOutcomes.objects.exists()
    assert not RelationCounts.objects.exists()


def test_outcomes_are_those_of_the_stored_items(site: Site) -> None:
    assert outcomes_of(site.first) == {}
    make.restore_figures(site.benchmark)
    stored = make.stored_rows(site.first)[["relation", "template", "index", "correct"]]
    outcomes = outcomes_of(site.first)
    for relation, template, index, correct in stored.itertuples(index=False):
        assert outcomes[relation].of(index)[template] == (RIGHT if correct else WRONG)


def test_answers_that_are_neither_right_nor_wrong_have_no_outcomes(tiny: Benchmark) -> None:
    tiny.probe = "perplexity"
    tiny.save()
    run = make.run(make.model(), tiny, Run.State.FINISHED)
    store_outcomes(run, pd.DataFrame({"relation": ["P30"], "template": [0], "index": [0], "true": [True]}))
    assert outcomes_of(run) == {}


def test_reading_the_answers_to_one_relation_takes_one_query(
    tiny: Benchmark, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(3):
        finished(tiny, (0, 1, True))
    with django_assert_num_queries(1):
        assert len(answers_of(tiny, ["P30", "P36"])["P30"]) == 3


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
