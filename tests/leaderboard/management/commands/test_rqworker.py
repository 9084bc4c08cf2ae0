"""manage.py rqworker: what a worker does before it takes jobs."""

import os
from contextlib import nullcontext
from typing import Any

import django_rq
import pytest
from django.core.management import CommandError, call_command
from django_rq.management.commands import rqworker
from pytest_django.fixtures import Settings as DjangoSettings

from leaderboard.management.commands import rqworker as command
from leaderboard.models import Run
from probing.measuring import limits
from tests.leaderboard import factories as make

pytestmark = pytest.mark.django_db
Starts = list[tuple[dict[str, Any], list[str], tuple[str, ...]]]  # a worker's options, the lanes of jobs, its queues


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Starts:
    """The options of each worker that started, and the jobs that were queued at that time; no worker takes any."""
    starts: Starts = []

    def handle(self: rqworker.Command, *args: Any, **options: Any) -> None:
        starts.append((options, [job.args[0] for job in django_rq.get_queue().jobs], args))

    monkeypatch.setattr(rqworker.Command, "handle", handle)
    return starts


def test_unfinished_runs_are_queued_again_before_a_worker_starts(started: Starts) -> None:
    benchmark = make.benchmark()
    make.run(make.model(), benchmark)
    make.run(make.model(), benchmark, Run.State.FAILED)
    call_command("rqworker", "default")
    ((options, queued, _),) = started
    assert queued == ["default"]
    assert (options["serializer"], options["worker_ttl"]) == ("json", 20)


def test_a_worker_refuses_to_start_without_redis(started: Starts, settings: DjangoSettings) -> None:
    settings.EMBEDDED_REDIS = ""
    with pytest.raises(CommandError, match="REDIS_URL"):
        call_command("rqworker")
    assert started == []


@pytest.mark.parametrize(
    ("required", "queues", "starts"), [(True, "large", 0), (True, "checks", 1), (False, "large", 1)]
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
def companions(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands of the companions that were started; none runs."""
    commands: list[list[str]] = []

    def kept_running(arguments: list[str]) -> nullcontext[None]:
        commands.append(arguments)
        return nullcontext()

    monkeypatch.setattr(command, "kept_running", kept_running)
    return commands


def test_a_worker_without_names_serves_all_lanes_and_keeps_a_companion(
    started: Starts, companions: list[list[str]]
) -> None:
    call_command("rqworker")
    assert started[0][2] == ("default", "large")
    assert companions == [["rqworker", "checks", f"--companion-of={os.getpid()}"]]


@pytest.mark.parametrize("queues", [("checks",), ("large",)])
def test_a_worker_of_named_queues_keeps_no_companion(
    started: Starts, companions: list[list[str]], queues: tuple[str, ...]
) -> None:
    call_command("rqworker", *queues)
    assert (started[0][2], companions) == (queues, [])


def test_the_device_of_a_worker_is_the_one_of_its_measuring_processes(
    started: Starts, companions: list[list[str]], settings: DjangoSettings
) -> None:
    settings.DEVICE = "auto"
    call_command("rqworker", "--device", "cuda:1")
    assert settings.DEVICE == "cuda:1"
