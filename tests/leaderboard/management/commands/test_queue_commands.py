"""manage.py rqworker, rqcron, requeue and serve: what they do before they take jobs, and what they call for."""

from contextlib import nullcontext
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django_rq.management.commands import rqworker
from pytest_django.fixtures import Settings as DjangoSettings

from leaderboard import redis_server
from leaderboard.intake import queue
from leaderboard.management.commands import rqworker as command
from leaderboard.management.commands.rqcron import Scheduler
from leaderboard.models import Benchmark, Run
from leaderboard.redis_server import embedded_server
from leaderboard.serving import web_server
from leaderboard.worker.reconciling import SECONDS, reconcile
from probing.measuring import limits
from tests.hub.local_hub import Hub
from tests.leaderboard import factories as make
from tests.leaderboard.management.commands.output import output_of
from tests.leaderboard.workers import manage, until

pytestmark = pytest.mark.django_db
Starts = list[tuple[dict[str, Any], list[str], tuple[str, ...]]]  # a worker's options, the jobs then, its queues


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Starts:
    """The options of each worker that started, and the jobs that were queued at that time; no worker takes any."""
    starts: Starts = []

    def handle(self: rqworker.Command, *args: Any, **options: Any) -> None:
        starts.append((options, queue.rq_queue("measure").get_job_ids(), args))

    monkeypatch.setattr(rqworker.Command, "handle", handle)
    return starts


def test_unfinished_runs_are_queued_again_before_a_worker_starts(started: Starts) -> None:
    benchmark = make.benchmark()
    run = make.run(make.model(), benchmark)
    make.run(make.model(), benchmark, Run.State.FAILED)
    call_command("rqworker", "measure")
    ((options, queued, _),) = started
    assert queued == [f"run-{run.pk}"]
    assert (options["serializer"], options["worker_ttl"]) == ("json", 20)


def test_a_queue_that_does_not_exist_is_refused() -> None:
    words = "There is no queue 'default'. The queues are measure, measure-large, finish, checks."
    with pytest.raises(CommandError, match=words) as raised:
        call_command("rqworker", "default")
    assert raised.value.returncode == 2


def test_a_worker_refuses_to_start_without_redis(started: Starts, settings: DjangoSettings) -> None:
    settings.EMBEDDED_REDIS = ""
    with pytest.raises(CommandError, match="REDIS_URL"):
        call_command("rqworker")
    assert started == []


@pytest.mark.parametrize(
    ("required", "queues", "starts"), [(True, "measure-large", 0), (True, "checks", 1), (False, "measure", 1)]
)
def test_a_worker_that_measures_refuses_to_start_without_required_isolation(
    started: Starts,
    settings: DjangoSettings,
    monkeypatch: pytest.MonkeyPatch,
    required: bool,
    queues: str,
    starts: int,
) -> None:
    settings.ISOLATION_REQUIRED = required
    monkeypatch.setattr(limits, "isolation_problem", lambda: "bubblewrap is not installed")
    with pytest.raises(CommandError, match="set CLOZEBOARD_ISOLATION=optional") if not starts else nullcontext():
        call_command("rqworker", queues)
    assert len(started) == starts


@pytest.fixture
def children(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands of the processes that were started; none runs, and the first look finds that one has ended."""
    commands: list[list[str]] = []

    def child(command: list[str]) -> nullcontext[None]:
        commands.append(command)
        return nullcontext()

    def wait_for_ever(processes: dict[str, None]) -> None:
        raise CommandError("The rqcron process has stopped.")

    monkeypatch.setattr(command, "child", child)
    monkeypatch.setattr(command, "wait_for_ever", wait_for_ever)
    return commands


def test_without_names_it_starts_what_one_machine_needs_and_ends_with_it(
    started: Starts, children: list[list[str]]
) -> None:
    with pytest.raises(CommandError, match="rqcron process has stopped"):
        call_command("rqworker", "--device", "cuda:1")
    assert children == [
        ["manage.py", "rqworker", "measure", "measure-large", "--device", "cuda:1"],
        ["manage.py", "rqworker", "checks", "finish"],
        ["manage.py", "rqcron"],
    ]
    assert started == []


def test_one_worker_works_off_everything_with_burst(started: Starts, children: list[list[str]]) -> None:
    call_command("rqworker", "--burst")
    assert (started[0][2], children) == (("checks", "finish", "measure", "measure-large"), [])


def test_the_device_of_a_worker_is_the_one_of_its_measuring_processes(
    started: Starts, settings: DjangoSettings
) -> None:
    settings.DEVICE = "auto"
    call_command("rqworker", "checks", "--device", "cuda:1")
    assert settings.DEVICE == "auto"
    call_command("rqworker", "measure", "--device", "cuda:1")
    assert settings.DEVICE == "cuda:1"


@pytest.mark.django_db(transaction=True)
def test_the_job_is_in_the_queue_once_however_often_it_is_due(redis: None) -> None:
    scheduler = Scheduler(redis_server.connection())
    job = scheduler.register(reconcile, "checks", interval=SECONDS)
    for _ in range(2):
        job.latest_enqueue_time = job.next_enqueue_time = None
        assert scheduler.enqueue_jobs() == [job]
    assert queue.rq_queue("checks").get_job_ids() == ["reconcile"]
    assert scheduler.enqueue_jobs() == [], "it is not due for a while"


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_it_outlasts_a_server_that_is_emptied_and_stops_at_once(redis: None) -> None:
    process = manage("rqcron")
    until(lambda: queue.rq_queue("checks").get_job_ids() == ["reconcile"])
    redis_server.connection().flushall()
    process.terminate()
    output = process.communicate(timeout=60)[0]
    assert process.returncode == 0, output
    assert "Traceback" not in output


def test_requeue_needs_redis() -> None:
    with pytest.raises(CommandError, match="REDIS_URL"):
        output_of("requeue")


def test_requeue_says_how_many(small: Benchmark, local_hub: Hub) -> None:
    output_of("submit", "org/causal", "--benchmark", "small")
    with embedded_server():
        assert "1 runs stand in the queue" in output_of("requeue")


def test_the_site_is_served_where_the_command_says(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    monkeypatch.setattr(web_server, "serve", calls.append)
    call_command("serve", "--listen", "127.0.0.1:1")
    assert calls == ["127.0.0.1:1"]
