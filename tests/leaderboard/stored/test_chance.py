"""The baseline of guessing, as a run of each benchmark."""

import pytest

from leaderboard.models import Benchmark, Run
from leaderboard.stored import benchmarks, chance

pytestmark = pytest.mark.django_db


def test_guessing_scores_the_share_of_right_options(small: Benchmark) -> None:
    run = small.runs.get(provenance=Run.Provenance.BASELINE)
    values = {(score.dimension, score.group): score.value for score in run.scores.all()}
    assert run.state == Run.State.FINISHED
    assert values["relation", "P30"] == pytest.approx(1 / 3)
    assert values["relation", "P36"] == pytest.approx(1 / 2)
    assert values["overall", "all"] == pytest.approx((4 / 3 + 2 / 2) / 6)


def test_its_scores_are_named_for_the_main_metric_and_have_no_interval(pairs: Benchmark) -> None:
    scores = pairs.runs.get(provenance=Run.Provenance.BASELINE).scores.all()
    assert {(score.metric, score.low, score.high) for score in scores} == {("specificity", None, None)}


def test_storing_it_again_replaces_its_scores(small: Benchmark) -> None:
    first = small.runs.get(provenance=Run.Provenance.BASELINE)
    count = first.scores.count()
    again = chance.store_chance(small, benchmarks.read(small), small.settings_with({}))
    assert again == first
    assert first.scores.count() == count
