"""Scores under other normalisations: whose count, and the places that they give."""

import pytest

from leaderboard.lists.normalisations import normalised_scores, places, run_scores
from leaderboard.models import Benchmark, Run, Score
from tests.leaderboard import factories as make


@pytest.fixture
def tiny(db: None) -> Benchmark:
    return make.benchmark()


def normalised_run(on: Benchmark, per_token: float | None, **fields: object) -> Run:
    done = make.finished(on, **fields)
    make.score(done, 0.5, "normalisation", "sum")
    make.score(done, per_token, "normalisation", "per token")
    make.score(done, 0.25, "normalisation", "per token", metric="prediction_changed")
    return done


def test_only_runs_by_the_benchmark_s_plan_that_were_measured_here_count(tiny: Benchmark) -> None:
    usual = normalised_run(tiny, 0.4)
    normalised_run(tiny, 0.4, settings={"reduction": "mean"})
    more = normalised_run(tiny, 0.4, settings={"probe": "multiple_choice", "options": {"pmi": True}})
    normalised_run(tiny, 0.4, settings={"dtype": "bfloat16"})
    make.published(tiny)
    assert {name: list(scores) for name, scores in normalised_scores(tiny, "accuracy").items()} == {
        "sum": [usual.pk, more.pk],
        "per token": [usual.pk, more.pk],
    }


def test_a_score_without_a_value_has_no_place(tiny: Benchmark) -> None:
    normalised_run(tiny, None)
    assert list(normalised_scores(tiny, "accuracy")) == ["sum"]


def test_equal_values_share_the_better_place() -> None:
    scores = [Score(run_id=run, value=value) for run, value in enumerate((0.3, 0.5, 0.3, 0.1))]
    assert places(scores) == {0: 2, 1: 1, 2: 2, 3: 4}


def test_a_run_has_its_scores_in_the_usual_order(tiny: Benchmark) -> None:
    by_rule = run_scores(normalised_run(tiny, 0.4), "accuracy")
    assert list(by_rule) == ["sum", "per token"]
    assert by_rule["per token"]["prediction_changed"].value == 0.25
