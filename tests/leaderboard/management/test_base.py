"""Commands: they end with a message and an exit code, and stop their child processes."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from leaderboard.management.base import PlainCommand, child, expect_alive, wait_for_ever
from probing.errors import BadInput, NoSpace, ProbingError

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
