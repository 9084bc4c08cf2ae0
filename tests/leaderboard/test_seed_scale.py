"""A site filled with made-up runs."""

import pytest

from leaderboard.figures.queued_runs import recent_rates
from leaderboard.figures.runs import benchmarks
from leaderboard.models import Model, Run, RunPart, RunRank, Score
from probing.errors import BadInput
from tests.leaderboard import factories as make
from tests.leaderboard.kept import kept
from tests.tools.seed_scale import fill

pytestmark = pytest.mark.django_db
SMALL = {"models": 10, "benchmarks": 2, "templates": 2, "rows": 600, "waiting": 25}


def filled() -> None:
    """Fill an empty site, which takes many times as long as to copy what came of it."""
    kept("scale", lambda: fill(**SMALL))


@pytest.mark.slow
def test_every_model_has_a_run_on_every_benchmark_and_others_wait() -> None:
    filled()
    boards = {board.slug: (board.measured, board.published) for board in benchmarks()}
    assert boards == {"synthetic-1": (8, 2), "synthetic-2": (8, 2), "synthetic-large": (1, 0)}
    assert Run.objects.filter(state=Run.State.QUEUED).count() == 25
    assert RunRank.objects.count() == 16
    assert not Model.objects.exclude(hub_id__startswith="synthetic/").exclude(hub_id__startswith="baseline/").exists()
    assert recent_rates("measure")
    first = Run.objects.filter(state=Run.State.FINISHED).exclude(artefact="").earliest("pk")
    assert set(first.scores.values_list("dimension", flat=True)) == {"overall", "domain", "relation", "template"}
    assert RunPart.objects.filter(run=first).count() == 60 * 2


def test_a_database_with_runs_is_refused() -> None:
    make.finished(make.benchmark())
    with pytest.raises(BadInput, match="This database has runs"):
        fill(**SMALL)
    assert Score.objects.count() == 3


def test_a_scale_without_models_is_refused() -> None:
    with pytest.raises(BadInput, match="There must be a model"):
        fill(**{**SMALL, "models": 0})
