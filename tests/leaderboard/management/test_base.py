"""Commands: they end with a message and an exit code, wait for a run, and stop their child processes."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from leaderboard.management import base as module
from leaderboard.management.base import PlainCommand, child, expect_alive, follow, wait_for_ever
from leaderboard.models import Run
from probing.errors import BadInput, NoSpace, ProbingError
from tests.leaderboard import factories as make

SLEEP = ["-c", "import time; time.sleep(60)"]
DEAF = [
    "-c",
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(1, flush=True); time.sleep(60)",
]


def test_a_process_that_has_ended_is_reported_with_its_log(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "worker.log"
    with child(["-c", "print('broken'); raise SystemExit(3)"], log) as process:
        process.wait()
        with pytest.raises(CommandError, match=r"The worker process has stopped \(exit code 3\)\. See the log\."):
            expect_alive({"worker": process}, "See the log.")
        with pytest.raises(CommandError, match="The worker process has stopped"):
            wait_for_ever({"worker": process})
    assert "broken" in log.read_text()


def test_processes_are_stopped_at_the_end(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with child(SLEEP) as process:
        expect_alive({"web": process})
    assert process.returncode == -15
    monkeypatch.setattr("leaderboard.management.base.STOP_SECONDS", 0.1)
    with child(DEAF, tmp_path / "log") as deaf:
        while not (tmp_path / "log").read_text():
            pass
    assert deaf.returncode == -9


class Failing(PlainCommand):
    def __init__(self, error: ProbingError) -> None:
        super().__init__(stdout=StringIO())
        self.error = error

    def run(self, *args: object, **options: object) -> None:
        self.say("working")
        raise self.error


@pytest.mark.parametrize(
    ("error", "code"), [(BadInput("No such id.", "Correct it."), 2), (NoSpace("The disk is full.", "Free some."), 1)]
)
def test_an_error_that_the_user_can_correct_has_another_exit_code(error: ProbingError, code: int) -> None:
    with pytest.raises(CommandError, match=error.message) as raised:
        call_command(Failing(error))
    assert raised.value.returncode == code
    assert error.next_step in str(raised.value)


pytestmark = pytest.mark.django_db


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setattr(module, "LOOK_SECONDS", 0)
    return make.running(make.model(), make.benchmark())


def test_it_returns_when_the_run_has_finished(run: Run) -> None:
    queries = []

    def watch() -> None:
        queries.append(run.state)
        if len(queries) == 3:
            Run.objects.filter(pk=run.pk).update(state=Run.State.FINISHED)

    follow(run, watch)
    assert queries == [Run.State.SCORING] * 3


def test_without_a_terminal_there_are_lines_that_say_how_far_it_is(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    Run.objects.filter(pk=run.pk).update(state=Run.State.FINISHED)
    follow(run)
    assert capsys.readouterr().err.endswith("Tiny: finished · 50 % of the work · 50 of 100 items\n")


def test_a_run_that_fails_is_an_error_with_its_message(run: Run) -> None:
    Run.objects.fail(run, "no-space", "The disk is full.", "Free some space.")
    with pytest.raises(CommandError, match=rf"Run {run.pk} is failed\. The disk is full\. Free some space\."):
        follow(run)


def test_an_error_of_the_watcher_ends_the_waiting(run: Run) -> None:
    def watch() -> None:
        raise CommandError("The worker process has stopped.")

    with pytest.raises(CommandError, match="has stopped"):
        follow(run, watch)
