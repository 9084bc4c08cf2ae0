"""The health of each part, and that a part which hangs neither delays an answer for long nor piles up threads."""

import time
from pathlib import Path
from threading import Event, active_count
from typing import Any

import pytest
from django.db import OperationalError
from rq import Worker

from leaderboard.operations import site_state
from leaderboard.redis_server import embedded_server

pytestmark = pytest.mark.django_db


def test_the_database_and_redis_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    assert site_state.database().ok
    assert not site_state.redis().ok
    with embedded_server():
        assert site_state.redis().ok


def test_the_storage_is_written_read_and_left_as_it_was(data: Path) -> None:
    assert site_state.storage().ok
    assert [path for path in (data / "artefacts").rglob("*") if path.is_file()] == []


def test_a_storage_that_cannot_be_written_fails(data: Path) -> None:
    (data / "artefacts").write_text("a file where the folder should be")
    parts = site_state.Watch().health()
    assert (parts["storage"].ok, parts["database"].ok) == (False, True)
    assert str(data) not in parts["storage"].message


def test_the_age_of_the_newest_worker_is_told(rq_worker: Worker) -> None:
    assert site_state.workers() == site_state.Health(False, "No worker has sent a heartbeat for 2 minutes.")
    rq_worker.register_birth()
    health_of_workers = site_state.workers()
    assert health_of_workers.ok and health_of_workers.seconds is not None and health_of_workers.seconds < 30
    assert health_of_workers.message.startswith("1 worker is alive")


def test_a_part_that_raises_fails_without_telling_strangers_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> Any:
        raise OperationalError("could not connect to postgres://user:password@host/name")

    monkeypatch.setitem(site_state.PARTS, "database", fail)
    part = site_state.Watch().health()["database"]
    assert (part.ok, part.message) == (False, "The part database fails; the log says why.")


def test_a_part_that_hangs_fails_in_time_and_occupies_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    released = Event()

    def hang() -> site_state.Health:
        released.wait(60)
        return site_state.Health(True, "late")

    monkeypatch.setattr(site_state, "TIMEOUT", 0.3)
    monkeypatch.setitem(site_state.PARTS, "queue", hang)
    watch, before = site_state.Watch(), active_count()
    began = time.monotonic()
    for _ in range(6):
        assert not watch.health()["queue"].ok
    assert time.monotonic() - began < 20
    assert active_count() - before <= len(site_state.PARTS)
    released.set()
    watch.threads.shutdown()
    assert watch.health()["queue"].ok


def test_an_answer_is_given_again_for_a_few_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    checks = []
    monkeypatch.setitem(site_state.PARTS, "storage", lambda: checks.append(1) or site_state.Health(True, ""))
    watch = site_state.Watch()
    for _ in range(5):
        watch.health()
    assert len(checks) == 1
    monkeypatch.setattr(site_state, "FRESH", 0)
    watch.health()
    assert len(checks) == 2
