"""Baselines, as runs of each benchmark."""

import pytest

from leaderboard.models import Benchmark, Run
from leaderboard.stored import benchmarks, chance

pytestmark = pytest.mark.django_db


def test_guessing_scores_the_share_of_right_options(small: Benchmark) -> None:
    run = small.runs.get(model__hub_id=chance.HUB_ID)
    values = {(score.dimension, score.group): score.value for score in run.scores.all()}
    assert run.state == Run.State.FINISHED
    assert values["relation", "P30"] == pytest.approx(1 / 3)
    assert values["relation", "P36"] == pytest.approx(1 / 2)
    assert values["overall", "all"] == pytest.approx((4 / 3 + 2 / 2) / 6)


def test_its_scores_are_named_for_the_main_metric_and_have_no_interval(pairs: Benchmark) -> None:
    scores = pairs.runs.get(provenance=Run.Provenance.BASELINE).scores.all()
    assert {(score.metric, score.low, score.high) for score in scores} == {("specificity", None, None)}


def test_storing_it_again_replaces_its_scores(small: Benchmark) -> None:
    first = small.runs.get(model__hub_id=chance.HUB_ID)
    count = first.scores.count()
    again = chance.store_chance(small, benchmarks.read(small), small.settings_with({}))
    assert again == first
    assert first.scores.count() == count


def test_answers_that_are_right_most_often_are_baselines_too(small: Benchmark) -> None:
    for name in ("majority-answer", "most-frequent-answer"):
        run = small.runs.get(model__hub_id=f"baseline/{name}")
        values = {(score.dimension, score.group): score.value for score in run.scores.all()}
        assert run.provenance == Run.Provenance.BASELINE
        assert (values["relation", "P30"], values["relation", "P36"]) == (2 / 4, 1 / 2)
        assert {score.metric for score in run.scores.all()} == {"accuracy"}
