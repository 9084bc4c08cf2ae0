"""The names of rows in the administration and in messages."""

import pytest

from leaderboard.models import FormerName, ItemFigures, ItemSet, RelationCounts, RelationOutcomes, Run, RunRank

pytestmark = pytest.mark.django_db


def test_rows_of_the_administration_have_readable_names(run: Run) -> None:
    run.refresh_from_db()
    assert Run.objects.move(run, Run.State.SCORING, "Begun.")
    score = run.scores.create(metric="accuracy", dimension="domain", group="Arts", value=0.5, n=10)
    assert (str(run.events.get()), str(score)) == ("scoring: Begun.", "accuracy domain=Arts: 0.5")


def test_rows_that_pages_are_made_of_have_readable_names(run: Run) -> None:
    items = ItemSet(benchmark=run.benchmark, items={"P30": [0, 1], "P36": [1]})
    rank = RunRank(run=run, metric="accuracy", best=1, worst=2)
    assert str(items) == f"3 items of {run.benchmark}"
    assert str(ItemFigures(run=run, metric="accuracy", item_set=items)) == f"accuracy of the items of {run}"
    assert (str(rank), str(RunRank(run=run, metric="accuracy"))) == (
        f"{run}: 1–2 by accuracy",
        f"{run}: no rank by accuracy",
    )
    assert str(RelationOutcomes(run=run, relation="P30")) == f"outcomes of {run} in P30"
    assert str(RelationCounts(benchmark=run.benchmark, relation="P30")) == f"answers to P30 of {run.benchmark}"
    assert str(FormerName(name="old/name", hub_id="org/name")) == "old/name, now org/name"
