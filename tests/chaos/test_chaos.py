"""The short form of `make chaos`: a few faults in quick succession."""

import os
from pathlib import Path

import pytest

from tests.chaos.drive import RECOVERY_LIMIT, drive
from tests.chaos.faults import FAULTS, schedule

pytestmark = pytest.mark.timeout(600)
SEED, SHORT = 84, 7


def test_a_schedule_is_repeated_by_its_seed() -> None:
    assert schedule(1, 30) == schedule(1, 30) != schedule(2, 30)
    assert set(schedule(1, len(FAULTS))) == set(FAULTS)


@pytest.mark.parametrize("server", [True, False])
def test_the_short_form_kills_a_worker_and_locks_the_database(server: bool) -> None:
    assert {"worker killed", "database locked"} <= set(schedule(SEED, SHORT, server))


@pytest.mark.slow
def test_no_run_is_lost_repeated_or_wrong(tmp_path: Path) -> None:
    seed = int(os.environ.get("SEED") or SEED)
    report = drive(tmp_path, seed=seed, faults=SHORT, runs=4, seconds=5, patient=False)
    assert report.problems == []
    assert report.statuses[500] == 0
    assert sum(report.runs.values()) >= 4
    assert all((fault.recovery or 0) < RECOVERY_LIMIT for fault in report.faults)
