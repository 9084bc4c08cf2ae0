"""manage.py check: what it says about settings, database, files, machine and work, and that it is quiet otherwise."""

import shutil
from collections import namedtuple
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.checks import ERROR, CheckMessage
from django.core.files.base import ContentFile
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection
from django.db.migrations import Migration
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone
from pytest_django.fixtures import Settings as DjangoSettings
from rq import Worker

from leaderboard import redis_server
from leaderboard.figures import artefacts
from leaderboard.intake import queue
from leaderboard.models import Benchmark, Claim, RunEvent
from leaderboard.operations import deployment_checks as checks
from probing.measuring import limits
from tests.hub.local_hub import Hub
from tests.leaderboard import factories as make
from tests.leaderboard.conftest import Site

pytestmark = pytest.mark.django_db
Usage = namedtuple("Usage", "total used free")


def only(messages: list[CheckMessage]) -> CheckMessage:
    (message,) = messages
    assert message.hint, "every message says what to do"
    return message


def ids(messages: list[CheckMessage]) -> list[str]:
    return [message.id.removeprefix("clozeboard.") for message in messages]


def test_a_site_that_is_in_order_is_not_reported(site: Site) -> None:
    for check in (checks.database, checks.artefact_storage, checks.local_models, checks.stored_files):
        assert check() == []


def test_the_command_has_tags_and_ends_with_an_error(site: Site) -> None:
    call_command("check", "--deploy", "--tag", "files")
    artefacts.storage().delete(f"{site.first.artefact}/items.parquet")
    call_command("check", "--deploy", "--tag", "machine")
    with pytest.raises(CommandError, match=r"clozeboard\.E107"):
        call_command("check", "--deploy", "--tag", "files")
    call_command("check")  # the files are looked at only where this is asked for


def test_a_missing_migration_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = [(Migration("0001_initial", "leaderboard"), False)]
    monkeypatch.setattr(MigrationExecutor, "migration_plan", lambda self, targets: missing)
    message = only(checks.database())
    assert (message.level, message.id) == (ERROR, "clozeboard.E101")
    assert "1 migrations are missing: leaderboard 0001_initial" in message.msg and "manage.py migrate" in message.hint


@pytest.mark.django_db(transaction=True)
def test_a_database_that_cannot_be_written_is_an_error() -> None:
    if connection.vendor != "sqlite":
        pytest.skip("SQLite alone can be made read-only by a statement")
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA query_only = ON")
        try:
            message = only(checks.database())
        finally:
            cursor.execute("PRAGMA query_only = OFF")
    assert message.id == "clozeboard.E102"
    assert "readonly" in message.msg


def test_a_journal_that_lets_pages_wait_is_a_warning() -> None:
    assert list(checks.of_journal("wal")) == []
    assert ids(list(checks.of_journal("delete"))) == ["W101"]


@pytest.mark.parametrize(("seconds", "expected"), [(0.5, []), (3, ["W103"]), (23, ["E103"])])
def test_clocks_may_not_differ_by_half_of_what_makes_a_worker_lost(seconds: float, expected: list[str]) -> None:
    messages = list(checks.of_skew(timedelta(seconds=seconds)))
    assert ids(messages) == expected
    assert all(f"{seconds:.1f} seconds" in message.msg for message in messages)


def test_a_database_that_does_not_answer_is_an_error_and_ends_no_command(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise OperationalError("connection refused")

    monkeypatch.setattr(connection, "ensure_connection", fail)
    message = only(checks.database())
    assert message.id == "clozeboard.E100" and "connection refused" in message.msg


def test_a_storage_that_cannot_be_written_is_an_error(data: Path) -> None:
    (data / "artefacts").write_text("")
    assert only(checks.artefact_storage()).id == "clozeboard.E104"


@pytest.mark.parametrize(("free", "expected"), [(10**8, {"E105"}), (5 * 10**9, {"W105"}), (10**12, set())])
def test_the_disk_needs_space_for_the_largest_model(
    monkeypatch: pytest.MonkeyPatch, free: int, expected: set[str]
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(10**12, 0, free))
    assert set(ids(checks.disk_space())) == expected


def test_a_folder_of_models_that_is_a_file_is_an_error(settings: DjangoSettings) -> None:
    settings.MODELS.write_text("")
    assert only(checks.local_models()).id == "clozeboard.E106"
    settings.MODELS.unlink()
    settings.MODELS.mkdir()
    assert checks.local_models() == []


def test_results_without_a_run_are_orphans(site: Site) -> None:
    artefacts.storage().save("runs/gone/items.parquet", ContentFile(b""))
    message = only(checks.stored_files())
    assert message.id == "clozeboard.W108"
    assert "runs/gone" in message.msg and f"runs/{site.first.pk}" not in message.msg


def test_missing_results_and_benchmarks_are_named(site: Site, data: Path) -> None:
    artefacts.storage().delete(f"{site.first.artefact}/items.parquet")
    assert f"{site.first.artefact}/items.parquet (1 in all)" in only(checks.stored_files()).msg
    shutil.rmtree(data / site.benchmark.path)
    messages = checks.stored_files()
    assert ids(messages) == ["E107", "E108"]
    assert site.benchmark.path in messages[1].msg


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("echo 'NVIDIA H100'", ""),
        ("echo 'no devices were found'; exit 6", "no devices were found"),
        ("", "shows no GPU"),
    ],
)
def test_a_driver_without_a_gpu_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, words: str
) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    messages = checks.accelerator()
    assert ids(messages) == ["W109"] * bool(words)
    assert all(words in message.msg for message in messages)


def test_a_machine_without_a_driver_computes_on_its_processor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert checks.accelerator() == []


def test_a_hub_that_does_not_answer_is_a_warning(local_hub: Hub, settings: DjangoSettings) -> None:
    assert checks.hub() == []
    settings.HF_ENDPOINT = "http://127.0.0.1:9"
    assert only(checks.hub()).id == "clozeboard.W110"


def test_a_queue_without_a_worker_is_an_error_where_runs_wait(tiny: Benchmark, rq_worker: Worker) -> None:
    assert ids(checks.workers()) == ["W111"] * 3
    run = make.run(make.model(), tiny)
    queue.enqueue(run.pk)
    messages = checks.workers()
    assert ids(messages) == ["E111", "W111", "W111"]
    assert "No worker serves the queue measure. 1 runs wait for one." in messages[0].msg
    rq_worker.register_birth()
    assert checks.workers() == []


def test_runs_whose_turn_it_is_and_that_are_not_in_the_queue_are_lost(tiny: Benchmark, rq_worker: Worker) -> None:
    rq_worker.register_birth()
    run = make.run(make.model(), tiny)
    queue.enqueue(run.pk)
    assert checks.workers() == []
    redis_server.connection().delete("rq:queue:measure")
    message = only(checks.workers())
    assert message.id == "clozeboard.E112"
    assert f"run {run.pk} (1 in all)" in message.msg and "requeue" in message.hint


def test_a_run_in_progress_without_a_worker_is_an_error(tiny: Benchmark) -> None:
    lost = make.running(make.model(), tiny)
    make.running(make.model(), tiny)
    Claim.objects.filter(run=lost).update(seen=timezone.now() - timedelta(minutes=1))
    assert checks.runs_in_progress() == [], "it will be put back within minutes"
    RunEvent.objects.update(time=timezone.now() - timedelta(hours=1))
    message = only(checks.runs_in_progress())
    assert message.id == "clozeboard.E114"
    assert f"{lost.pk} ({lost.model.hub_id}) (1 in all)" in message.msg


def test_a_fresh_installation_is_in_order(data: Path) -> None:
    assert checks.data_folder_is_writable() == []
    assert checks.secret_key_is_secret() == []
    assert checks.redis_answers() == []
    assert checks.debug_is_local() == []


def test_a_data_folder_that_is_a_file_is_an_error(settings: DjangoSettings, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    settings.DATA = tmp_path / "file" / "data"
    assert only(checks.data_folder_is_writable()).id == "clozeboard.E001"


def test_a_short_secret_key_is_an_error(settings: DjangoSettings) -> None:
    settings.SECRET_KEY = "secret"
    assert only(checks.secret_key_is_secret()).id == "clozeboard.E002"


def test_a_redis_that_does_not_answer_is_a_warning(settings: DjangoSettings) -> None:
    settings.EMBEDDED_REDIS = None
    assert only(checks.redis_answers()).id == "clozeboard.W001"


@pytest.mark.parametrize(("hosts", "expected"), [(["localhost"], []), (["*"], ["W002"])])
def test_debug_in_public_is_a_warning(settings: DjangoSettings, hosts: list[str], expected: list[str]) -> None:
    settings.DEBUG, settings.ALLOWED_HOSTS = True, hosts
    assert ids(checks.debug_is_local()) == expected


def test_a_machine_that_cannot_isolate_models_is_a_warning(
    monkeypatch: pytest.MonkeyPatch, settings: DjangoSettings
) -> None:
    assert checks.models_are_isolated() == []
    monkeypatch.setattr(limits, "isolation_problem", lambda: "bubblewrap is not installed")
    assert only(checks.models_are_isolated()).id == "clozeboard.W003"
    settings.ISOLATION_REQUIRED = True
    (message,) = checks.models_are_isolated()
    assert "not measured on this machine" in message.msg
