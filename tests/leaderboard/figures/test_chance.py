"""Baselines, as runs of each benchmark."""

from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from leaderboard.figures import benchmarks
from leaderboard.models import Benchmark, Run
from probing.catalog import EMBEDDED
from probing.plan import plan_of

pytestmark = pytest.mark.django_db


def test_guessing_scores_the_share_of_right_options(small: Benchmark) -> None:
    run = small.runs.get(model__hub_id=benchmarks.CHANCE_ID)
    values = {(score.dimension, score.group): score.value for score in run.scores.all()}
    assert run.state == Run.State.FINISHED
    assert values["relation", "P30"] == pytest.approx(1 / 3)
    assert values["relation", "P36"] == pytest.approx(1 / 2)
    assert values["overall", "all"] == pytest.approx((4 / 3 + 2 / 2) / 6)


def test_its_scores_are_named_for_the_main_metric_and_have_no_interval(pairs: Benchmark) -> None:
    scores = pairs.runs.get(provenance=Run.Provenance.BASELINE).scores.all()
    assert {(score.metric, score.low, score.high) for score in scores} == {("specificity", None, None)}


def test_storing_it_again_replaces_its_scores(small: Benchmark) -> None:
    first = small.runs.get(model__hub_id=benchmarks.CHANCE_ID)
    count = first.scores.count()
    again = benchmarks.store_chance(small, plan_of(benchmarks.read(small), small.settings_with({})))
    assert again == first
    assert first.scores.count() == count


def test_answers_that_are_right_most_often_are_baselines_too(small: Benchmark) -> None:
    for name in ("majority-answer", "most-frequent-answer"):
        run = small.runs.get(model__hub_id=f"baseline/{name}")
        values = {(score.dimension, score.group): score.value for score in run.scores.all()}
        assert run.provenance == Run.Provenance.BASELINE
        assert (values["relation", "P30"], values["relation", "P36"]) == (2 / 4, 1 / 2)
        assert {score.metric for score in run.scores.all()} == {"accuracy"}


def test_the_rarer_answer_is_stored_with_the_import_that_names_a_list(pairs: Benchmark, tmp_path: Path) -> None:
    counts = {"France": 3, "Europe": 9, "Japan": 5, "Asia": 2}
    (tmp_path / "words.txt").write_text("".join(f"{word} {count}\n" for word, count in counts.items()))
    call_command(
        "import_benchmark", "stest", EMBEDDED / "pairs", slug=pairs.slug, frequencies=str(tmp_path / "words.txt")
    )
    run = pairs.runs.get(model__hub_id="baseline/rarer-answer")
    content = benchmarks.read(pairs)
    scores = {(score.dimension, score.group): score.value for score in run.scores.all()}
    shares = {}
    for relation in content.relations:
        rarer = [counts.get(item.options[1], 0) < counts.get(item.options[0], 0) for item in relation.items]
        shares[relation.label] = sum(rarer) / len(rarer)
    assert 0 < shares["lies_in"] < 1
    assert {label: scores["relation", label] for label in shares} == pytest.approx(shares)
    assert scores["overall", "all"] == pytest.approx(sum(shares.values()) / len(shares))
    assert {(score.metric, score.low, score.cluster_low) for score in run.scores.all()} == {("specificity", None, None)}
    assert run.provenance == Run.Provenance.BASELINE
    assert run.events.get().message == "Computed from word frequencies in words.txt."


def test_word_frequencies_are_refused_for_other_benchmarks(small: Benchmark, tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("France 3\n")
    counts = {"frequencies": str(tmp_path / "words.txt")}
    with pytest.raises(CommandError, match="no pairs of answers"):
        call_command("import_benchmark", "bear", benchmarks.folder_of(small), slug="small", **counts)
