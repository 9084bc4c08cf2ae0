"""A site filled with made-up runs."""

import pytest

from leaderboard.models import Score
from probing.errors import BadInput
from tests.leaderboard import factories as make
from tests.tools.seed_scale import fill

pytestmark = pytest.mark.django_db
SMALL = {"models": 10, "benchmarks": 2, "templates": 2, "rows": 600, "waiting": 25}


def test_a_database_with_runs_is_refused() -> None:
    make.finished(make.benchmark())
    with pytest.raises(BadInput, match="This database has runs"):
        fill(**SMALL)
    assert Score.objects.count() == 3


def test_a_scale_without_models_is_refused() -> None:
    with pytest.raises(BadInput, match="There must be a model"):
        fill(**{**SMALL, "models": 0})
