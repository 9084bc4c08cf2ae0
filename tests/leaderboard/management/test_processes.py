"""Child processes of a command: they end with it, and one that has ended is reported with its exit code."""

from pathlib import Path

import pytest
from django.core.management import CommandError

from leaderboard.management.processes import child, expect_alive, wait_for_ever

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
    monkeypatch.setattr("leaderboard.management.processes.STOP_SECONDS", 0.1)
    with child(DEAF, tmp_path / "log") as deaf:
        while not (tmp_path / "log").read_text():
            pass
    assert deaf.returncode == -9
