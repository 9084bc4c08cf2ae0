"""Stored ranks: equal to those from the result files, apart for each group, computed again when runs come and go."""

import time
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from django.test import Client

from leaderboard.figures import ranks as ranks_module
from leaderboard.figures.ranks import (
    refresh_ranks,
    refresh_standings,
    store_figures,
    unranked_benchmarks,
)
from leaderboard.figures.runs import runs_on
from leaderboard.figures.standings import LeaderboardFilter, figures_of, standings
from leaderboard.models import Benchmark, ItemFigures, ItemSet, Run, RunRank
from leaderboard.worker.jobs import rank_benchmark
from probing.analysis.ranks import item_values, rank_table
from tests.leaderboard import factories as make
from tests.leaderboard.conftest import Site
from tests.leaderboard.csv_rows import csv_rows

pytestmark = pytest.mark.django_db


def ranked(benchmark: Benchmark) -> dict[str, str]:
    filters = LeaderboardFilter(benchmark, "accuracy")
    rows = standings(filters, figures_of(filters), runs_on(benchmark))
    return {row["run"].model.hub_id: row["rank_text"] for row in rows}


def with_items(on: Benchmark, name: str, right: int, items: int = 400) -> Run:
    """A finished run of which the first items are right; its result has no file."""
    run = make.finished(on, right / items, make.model(name))
    rows = pd.DataFrame({"relation": "P30", "template": 0, "index": range(items)})
    store_figures(run, rows.assign(correct=rows["index"] < right))
    return run


def test_a_run_whose_worker_was_killed_before_ranking_is_ranked_later(tiny: Benchmark) -> None:
    with_items(tiny, "good", 300)
    with_items(tiny, "poor", 100)
    assert unranked_benchmarks() == [tiny]
    rank_benchmark(tiny.pk)
    assert [places for _, places in sorted(ranked(tiny).items())] == ["1", "2"]
    assert unranked_benchmarks() == []


def test_stored_ranks_are_those_of_the_results(site: Site) -> None:
    make.restore_figures(site.benchmark)
    assert refresh_ranks(site.benchmark) == 2
    runs = (site.first, site.second)
    direct = rank_table(
        pd.DataFrame({run.pk: item_values(rows := make.stored_rows(run), rows["correct"]) for run in runs}), macro=False
    )
    for run in runs:
        rank, expected = run.ranks.get(), direct.loc[run.pk]
        assert rank.metric == "accuracy"
        lists = ["ahead_of", "level_with"]
        assert [rank.ahead_of, rank.level_with] == expected[lists].tolist()
        numbers = expected.drop(lists)
        assert [getattr(rank, name) for name in numbers.index] == pytest.approx(numbers.tolist())
        assert rank.value == pytest.approx(run.scores.get(metric="accuracy", dimension="overall").value)


def test_runs_with_the_same_items_share_their_list(site: Site) -> None:
    make.restore_figures(site.benchmark)
    assert (ItemSet.objects.count(), ItemFigures.objects.count()) == (1, 2)
    make.restore_figures(site.benchmark)
    assert ItemFigures.objects.count() == 2


def test_pairs_that_overlap_can_be_told_apart_by_their_items(tiny: Benchmark) -> None:
    for name, right in (("org/a", 230), ("org/b", 215), ("org/c", 100)):
        with_items(tiny, name, right)
    assert ranked(tiny) == {"org/a": "≈ 1–2", "org/b": "≈ 1–2", "org/c": "≈ 3"}
    refresh_ranks(tiny)
    assert ranked(tiny) == {"org/a": "1", "org/b": "2", "org/c": "3"}


def test_a_run_without_items_has_a_mark_and_takes_no_place(tiny: Benchmark) -> None:
    with_items(tiny, "org/a", 300)
    with_items(tiny, "org/b", 100)
    make.finished(tiny, 0.5, make.model("org/without"))
    refresh_ranks(tiny)
    assert ranked(tiny) == {"org/a": "1", "org/without": "≈ 2", "org/b": "2"}


def test_groups_are_ranked_apart(tiny: Benchmark) -> None:
    usual, other = with_items(tiny, "org/a", 100), with_items(tiny, "org/b", 300)
    other.settings = {"pll": "original"}
    other.save(update_fields=["settings"])
    refresh_ranks(tiny)
    assert {rank.run_id: (rank.best, rank.worst) for rank in RunRank.objects.all()} == {
        usual.pk: (1, 1),
        other.pk: (1, 1),
    }


def test_only_the_group_of_a_finished_run_is_ranked_again(tiny: Benchmark) -> None:
    first, other = with_items(tiny, "org/a", 100), with_items(tiny, "org/b", 300)
    other.settings = {"pll": "original"}
    other.save(update_fields=["settings"])
    refresh_ranks(tiny)
    untouched = RunRank.objects.get(run=other).pk
    second = with_items(tiny, "org/c", 200)
    assert refresh_ranks(tiny, new_only=True) == 2
    assert set(RunRank.objects.values_list("run_id", flat=True)) == {first.pk, second.pk, other.pk}
    assert RunRank.objects.get(run=other).pk == untouched


def test_a_run_that_finishes_meanwhile_is_ranked_too(tiny: Benchmark, monkeypatch: pytest.MonkeyPatch) -> None:
    with_items(tiny, "org/a", 100)
    late: list[Run] = []

    def slow(items: pd.DataFrame, macro: bool) -> pd.DataFrame:
        if not late:
            late.append(with_items(tiny, "org/late", 300))
        return rank_table(items, macro)

    monkeypatch.setattr(ranks_module, "rank_table", slow)
    assert refresh_ranks(tiny) == 2
    assert late[0].ranks.get().best == 1


def test_deleted_runs_give_their_places_back(admin_client: Client, tiny: Benchmark) -> None:
    first, second = with_items(tiny, "org/a", 300), with_items(tiny, "org/b", 100)
    refresh_ranks(tiny)
    assert second.ranks.get().best == 2
    action = {"action": "delete_selected", "_selected_action": [first.pk], "post": "yes"}
    admin_client.post("/admin/leaderboard/run/", action, follow=True)
    assert not Run.objects.filter(pk=first.pk).exists()
    assert second.ranks.get().best == 1


def test_csv_and_json_give_the_same_ranks_and_groups_that_cannot_be_told_apart(client: Client, tiny: Benchmark) -> None:
    for name, right in (("org/a", 301), ("org/b", 300), ("org/c", 100)):
        with_items(tiny, name, right)
    refresh_ranks(tiny)
    lines = csv_rows(client, "/benchmarks/tiny/")
    assert [(line["tie_group"], line["model"], line["rank"]) for line in lines] == [
        ("1", "org/a", "1–2"),
        ("1", "org/b", "1–2"),
        ("2", "org/c", "3"),
    ]
    rows = client.get("/benchmarks/tiny/?format=json").json()
    assert [(row["tie_group"], row["rank"]) for row in rows] == [(1, "1–2"), (1, "1–2"), (2, "3")]


@pytest.mark.slow
def test_ranking_stored_runs_takes_not_much_longer_than_comparing_them(tiny: Benchmark) -> None:
    chance, n = np.random.default_rng(0), 7731
    rows = pd.DataFrame({"relation": np.sort(chance.integers(0, 60, n)).astype(str), "template": 0, "index": range(n)})
    for number in range(100):
        run = make.run(make.model(f"org/{number}"), tiny, Run.State.FINISHED)
        store_figures(run, rows.assign(correct=chance.random(n) < number / 100))
    size = sum(len(row.figures) for row in ItemFigures.objects.all())
    begin = time.process_time()
    refresh_ranks(tiny)
    whole = time.process_time() - begin
    table = pd.DataFrame(
        {number: chance.random(n) for number in range(100)}, pd.MultiIndex.from_frame(rows.iloc[:, ::2])
    )
    begin = time.process_time()
    rank_table(table)
    compared = time.process_time() - begin
    print(f"100 runs: {1000 * whole:.0f} ms, of which comparing {1000 * compared:.0f}; {size / 100:,.0f} bytes a run")
    assert whole < 40 * compared


def finish_another(first: Run, second: Run) -> None:
    with_items(first.benchmark, "org/third", 250)
    refresh_standings(first.benchmark, new_only=True)


def rescore_first(first: Run, second: Run) -> None:
    rows = pd.DataFrame({"relation": "P30", "template": 0, "index": range(400)})
    store_figures(first, rows.assign(correct=rows["index"] >= 20))
    refresh_standings(first.benchmark)


def delete_first(first: Run, second: Run) -> None:
    first.delete()
    refresh_standings(second.benchmark)


def change_settings(first: Run, second: Run) -> None:
    first.settings = {"pll": "original"}
    first.save(update_fields=["settings"])
    refresh_standings(first.benchmark)


def withdraw_waiting(first: Run, second: Run) -> None:
    waiting = make.run(make.model("org/third"), first.benchmark, Run.State.QUEUED)
    assert Run.objects.cancel(waiting, "Withdrawn.")


def standings_of(benchmark: Benchmark) -> tuple[object, ...]:
    """All that is stored about the runs of a benchmark together."""
    fields = [field.name for field in RunRank._meta.fields if field.name != "id"]
    ranks = RunRank.objects.filter(run__benchmark=benchmark).order_by("run", "metric").values_list(*fields)
    counts = benchmark.relation_counts.order_by("relation").values_list("relation", "items", "counts")
    benchmark.refresh_from_db()
    return (
        list(ranks),
        [(name, bytes(items), bytes(right)) for name, items, right in counts],
        benchmark.smallest_difference,
    )


@pytest.mark.parametrize(
    "change", [finish_another, rescore_first, delete_first, change_settings, withdraw_waiting], ids=lambda f: f.__name__
)
def test_what_is_stored_after_a_change_is_what_is_computed_from_scratch(
    tiny: Benchmark, change: Callable[[Run, Run], None]
) -> None:
    runs = with_items(tiny, "org/first", 300), with_items(tiny, "org/second", 100)
    refresh_standings(tiny)
    before = standings_of(tiny)
    change(*runs)
    after = standings_of(tiny)
    assert (after == before) is (change is withdraw_waiting)
    RunRank.objects.all().delete()
    tiny.relation_counts.all().delete()
    Benchmark.objects.filter(pk=tiny.pk).update(smallest_difference={})
    refresh_standings(tiny)
    assert standings_of(tiny) == after
