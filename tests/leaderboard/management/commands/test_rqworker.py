"""manage.py rqworker: what a worker does before it takes jobs."""

from typing import Any

import django_rq
import pytest
from django.core.management import CommandError, call_command
from django_rq.management.commands import rqworker
from pytest_django.fixtures import Settings as DjangoSettings

from leaderboard.models import Run
from tests.leaderboard import factories as make

pytestmark = pytest.mark.django_db

Starts = list[tuple[dict[str, Any], list[int]]]  # options of a worker, and the queued runs


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Starts:
    """The options of each worker that started, and the runs that were queued at that time; no worker takes any."""
    starts: Starts = []

    def handle(self: rqworker.Command, *args: Any, **options: Any) -> None:
        starts.append((options, [job.args[0] for job in django_rq.get_queue().jobs]))

    monkeypatch.setattr(rqworker.Command, "handle", handle)
    return starts


def test_unfinished_runs_are_queued_again_before_a_worker_starts(started: Starts) -> None:
    benchmark = make.benchmark()
    lost = make.run(make.model(), benchmark)
    make.run(make.model(), benchmark, Run.State.FAILED)
    call_command("rqworker")
    ((options, queued),) = started
    assert queued == [lost.pk]
    assert (options["serializer"], options["worker_ttl"]) == ("json", 45)


def test_a_worker_refuses_to_start_without_redis(started: Starts, settings: DjangoSettings) -> None:
    settings.EMBEDDED_REDIS = ""
    with pytest.raises(CommandError, match="REDIS_URL"):
        call_command("rqworker")
    assert started == []
