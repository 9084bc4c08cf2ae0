"""manage.py requeue: runs that Redis has lost."""

import pytest
from django.core.management import CommandError

from leaderboard.models import Benchmark
from leaderboard.redis_server import embedded_server
from tests.hub.local_hub import Hub
from tests.leaderboard.management.commands.output import output_of

pytestmark = pytest.mark.django_db


def test_requeue_needs_redis() -> None:
    with pytest.raises(CommandError, match="REDIS_URL"):
        output_of("requeue")


def test_requeue_says_how_many(small: Benchmark, local_hub: Hub) -> None:
    output_of("submit", "org/causal", "--benchmark", "small")
    with embedded_server():
        assert "1 runs stand in the queue" in output_of("requeue")
