"""What doctor says about the database."""

from datetime import timedelta

import pytest
from django.db import OperationalError, connection
from django.db.migrations.recorder import MigrationRecorder

from leaderboard.operations.diagnosis import database
from leaderboard.operations.diagnosis.examination import examine
from tests.leaderboard.operations.diagnosis.only import only

pytestmark = pytest.mark.django_db


def test_the_database_of_the_tests_is_in_order() -> None:
    for check in (database.answers, database.migrations, database.writable, database.clock):
        assert only(list(check())).state == "ok"
    assert [finding.state for finding in database.journal()] == ["ok"] * (connection.vendor == "sqlite")


def test_a_missing_migration_is_named() -> None:
    MigrationRecorder(connection).migration_qs.filter(app="leaderboard").last().delete()
    finding = only(list(database.migrations()))
    assert finding.state == "problem"
    assert "leaderboard 00" in finding.message and "manage.py migrate" in finding.next_step


@pytest.mark.django_db(transaction=True)
def test_a_database_that_cannot_be_written_is_a_problem() -> None:
    if connection.vendor != "sqlite":
        pytest.skip("SQLite alone can be made read-only by a statement")
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA query_only = ON")
        try:
            finding = only(list(database.writable()))
        finally:
            cursor.execute("PRAGMA query_only = OFF")
    assert finding.state == "problem"
    assert "readonly" in finding.message


@pytest.mark.parametrize(("seconds", "state"), [(0.5, "ok"), (3, "warning"), (16, "problem")])
def test_clocks_may_not_differ_by_half_a_lease(seconds: float, state: str) -> None:
    finding = database.of_skew(timedelta(seconds=seconds))
    assert (finding.state, f"{seconds:.1f} seconds" in finding.message) == (state, True)


def test_without_a_database_the_other_checks_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise OperationalError("connection refused")

    monkeypatch.setattr(connection, "ensure_connection", fail)
    findings = {finding.check: finding.state for finding in examine()}
    assert findings["database"] == "problem"
    assert findings.keys() >= {"queue", "space", "isolation"}
    assert findings.keys().isdisjoint({"tables", "workers"})
