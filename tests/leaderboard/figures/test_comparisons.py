"""Compared runs: which runs names stand for, and the rows on which they agree and disagree."""

from typing import Any

import pytest

from leaderboard.figures.comparisons import find_runs, neighbours, short_names
from leaderboard.models import Benchmark, Run
from probing.analysis.paired_tests import RESULT_NAMES
from probing.errors import BadInput
from tests.leaderboard import factories as make


def comparable(benchmark: Benchmark, hub_id: str) -> Run:
    of = make.Model.objects.filter(hub_id=hub_id).first() or make.model(hub_id)
    return make.finished(benchmark, of=of, artefact="runs/1")


def test_runs_are_found_by_number_and_by_model(tiny: Benchmark) -> None:
    first, second = comparable(tiny, "org/a"), comparable(tiny, "org/b")
    assert find_runs([str(first.pk), "org/b"], "") == [first, second]


def test_the_id_of_a_training_stands_for_its_last_step(tiny: Benchmark) -> None:
    last, _ = (
        make.finished(tiny, of=make.model("org/a", step=step), artefact="runs/1", settings_digest="5" * 64)
        for step in (20, 10)
    )
    other = comparable(tiny, "org/b")
    assert find_runs(["org/a", "org/b"], "") == [last, other]


def test_a_name_that_is_repeated_stands_for_different_runs_and_is_answered_at_once(tiny: Benchmark) -> None:
    """Trying one combination after the other would take days."""
    of = make.model("org/a")
    runs = [make.finished(tiny, of=of, artefact="runs/1") for _ in range(30)]
    chosen = find_runs([*["org/a"] * 7, str(runs[0].pk)], "")
    assert chosen == [*runs[:-8:-1], runs[0]]
    for run in runs[7:]:
        run.delete()
    with pytest.raises(BadInput, match="is chosen 8 times"):
        find_runs(["org/a"] * 8, "")


def test_models_are_compared_on_the_benchmark_that_all_have(tiny: Benchmark) -> None:
    other = make.benchmark("other")
    comparable(tiny, "org/a")
    expected = [comparable(other, "org/a"), comparable(other, "org/b")]
    assert find_runs(["org/a", "org/b"], "") == expected


def test_the_benchmark_can_be_chosen(tiny: Benchmark) -> None:
    other = make.benchmark("other")
    expected = [comparable(tiny, name) for name in ("org/a", "org/b")]
    for name in ("org/a", "org/b"):
        comparable(other, name)
    assert find_runs(["org/a", "org/b"], "tiny") == expected


def test_a_model_that_is_named_twice_is_compared_with_another_of_its_runs(tiny: Benchmark) -> None:
    older, newer = comparable(tiny, "org/a"), comparable(tiny, "org/a")
    assert set(find_runs(["org/a", "org/a"], "")) == {older, newer}
    assert find_runs(["org/a", str(newer.pk)], "") == [older, newer]


def test_a_name_without_a_finished_run_is_an_error(tiny: Benchmark) -> None:
    comparable(tiny, "org/a")
    make.running(make.model("org/b"), tiny)
    with pytest.raises(BadInput, match="no finished run of 'org/b'"):
        find_runs(["org/a", "org/b"], "")


def test_runs_of_different_benchmarks_cannot_be_compared(db: None) -> None:
    comparable(make.benchmark(), "org/a")
    comparable(make.benchmark("other"), "org/b")
    with pytest.raises(BadInput, match="no benchmark in common"):
        find_runs(["org/a", "org/b"], "")


def test_more_runs_than_names_are_an_error() -> None:
    with pytest.raises(BadInput, match="Only 8 runs"):
        find_runs(["org/a"] * (len(RESULT_NAMES) + 1), "")


def test_runs_of_different_versions_cannot_be_compared_and_the_versions_are_named(db: None) -> None:
    older, newer = make.benchmark(version="v1", current=False), make.benchmark(version="v2")
    comparable(older, "org/a")
    comparable(newer, "org/b")
    with pytest.raises(BadInput, match="different versions of a benchmark: tiny v1, tiny v2"):
        find_runs(["org/a", "org/b"], "")


def test_runs_that_were_measured_elsewhere_can_be_compared(tiny: Benchmark) -> None:
    first, second = comparable(tiny, "org/a"), comparable(tiny, "org/b")
    Run.objects.filter(pk=second.pk).update(provenance=Run.Provenance.ELSEWHERE)
    assert find_runs(["org/a", "org/b"], "") == [first, second]


def test_names_of_runs_are_as_short_as_telling_them_apart_allows(db: None) -> None:
    tiny = make.benchmark(probe="specificity", format="stest")
    first, other = comparable(tiny, "org/a"), comparable(tiny, "org/b")
    same_name, again = comparable(tiny, "else/b"), comparable(tiny, "org/a")
    prompted = comparable(tiny, "org/a")
    prompted.settings = {"options": {"prompting": "few-shot"}}
    assert short_names([first, other]) == ["a", "b"]
    assert short_names([other, same_name]) == ["org/b", "else/b"]
    assert short_names([first, prompted]) == ["a", f"a ({prompted.variant})"]
    other.model.weights_file = other.model.quantisation = "Q4_1"
    assert short_names([first, other]) == ["a", "b (Q4_1)"]
    assert short_names([first, again]) == [f"org/a, run {first.pk}", f"org/a, run {again.pk}"]


def test_a_run_is_offered_beside_its_base_its_quantised_form_and_a_model_of_its_size(tiny: Benchmark) -> None:
    def run(name: str, **fields: Any) -> Run:
        return make.finished(tiny, of=make.model(name, **fields), artefact="runs/1")

    base = run("org/base-7b", parameters=7_000_000_000)
    own = run("team/tuned", parameters=7_100_000_000, base_model="org/base-7b")
    quantised = run("team/tuned-GGUF", parameters=7_100_000_000, quantisation="Q4_K_M")
    like = run("other/model", parameters=6_900_000_000)
    run("other/small", parameters=1_000_000_000)
    offered = {reason: other for reason, _, other in neighbours(own)}
    assert offered == {"quantised in another way": quantised, "base and tuned": base, "of the same size": like}
    assert {first for _, first, _ in neighbours(own)} == {own}
    assert "base and tuned" in {reason for reason, _, _ in neighbours(base)}
