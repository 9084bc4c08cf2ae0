"""What doctor says about the queue and the workers."""

from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django.fixtures import Settings as DjangoSettings

from leaderboard.intake import queue
from leaderboard.intake.embedded import embedded_server
from leaderboard.models import Benchmark, Run, RunEvent, RunPart, WorkerToken
from leaderboard.operations.diagnosis import work
from tests.leaderboard import factories as make
from tests.leaderboard.operations.diagnosis.only import only

pytestmark = pytest.mark.django_db


@pytest.fixture
def on() -> Benchmark:
    return make.benchmark()


def test_a_redis_that_does_not_answer_is_a_problem_and_the_embedded_one_a_warning(settings: DjangoSettings) -> None:
    assert only(list(work.redis())).state == "warning"
    with embedded_server():
        assert only(list(work.redis())).state == "ok"
    settings.EMBEDDED_REDIS = None
    assert only(list(work.redis())).state == "problem"


def test_runs_that_wait_with_an_empty_queue_are_lost(on: Benchmark) -> None:
    run = make.run(make.model(), on)
    with embedded_server():
        finding = only(list(work.lost_runs()))
        assert finding.state == "problem"
        assert "1 runs wait" in finding.message and "requeue" in finding.next_step
        queue.enqueue(run.pk)
        assert only(list(work.lost_runs())).state == "ok"


def test_no_worker_is_a_problem_where_runs_wait(on: Benchmark) -> None:
    assert only(list(work.workers())).state == "warning"
    make.run(make.model(), on)
    assert only(list(work.workers())).state == "problem"
    WorkerToken.objects.create(name="lab", digest="1", last_seen=timezone.now())
    finding = only(list(work.workers()))
    assert (finding.state, finding.message) == ("ok", "Alive: lab.")


def test_leases_of_the_far_future_and_of_ended_runs_are_stuck(on: Benchmark) -> None:
    run = make.running(make.model(), on)
    assert only(list(work.leases())).state == "ok"
    now = timezone.now()
    RunPart.objects.update(worker="w", lease_until=now + timedelta(hours=1))
    assert only(list(work.leases())).state == "problem"
    RunPart.objects.update(lease_until=now + timedelta(seconds=20))
    assert only(list(work.leases())).state == "ok"
    Run.objects.filter(pk=run.pk).update(state=Run.State.CANCELLED)
    assert only(list(work.leases())).state == "warning"


def test_a_run_in_progress_without_a_worker_is_a_problem(on: Benchmark) -> None:
    run = make.running(make.model(), on)
    assert only(list(work.forsaken())).state == "ok"
    RunEvent.objects.update(time=timezone.now() - timedelta(hours=1))
    RunPart.objects.update(lease_until=None)
    finding = only(list(work.forsaken()))
    assert finding.state == "problem"
    assert f"{run.pk} ({run.model.hub_id})" in finding.message
