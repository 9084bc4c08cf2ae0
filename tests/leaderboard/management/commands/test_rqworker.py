"""manage.py rqworker: what a worker does before it takes jobs."""

from contextlib import nullcontext
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django_rq.management.commands import rqworker
from pytest_django.fixtures import Settings as DjangoSettings

from leaderboard.intake import queue
from leaderboard.management.commands import rqworker as command
from leaderboard.models import Run
from probing.measuring import limits
from tests.leaderboard import factories as make

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
    monkeypatch.setattr(limits, "problem", lambda: "bubblewrap is not installed")
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
