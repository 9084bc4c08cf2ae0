"""Checks of the database: it answers, has the right tables, can be written, and has the machine's time."""

from collections.abc import Iterator
from datetime import timedelta

from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from leaderboard.models import LEASE, Benchmark
from leaderboard.operations.diagnosis.findings import Finding, fine, problem, warning

SKEW = timedelta(seconds=2)  # difference of two clocks from which on the operator should know


def answers() -> Iterator[Finding]:
    try:
        connection.ensure_connection()
    except DatabaseError as error:
        yield problem("database", f"It does not answer: {error}", "Start it, or correct DATABASE_URL.")
    else:
        yield fine("database", f"It answers ({connection.vendor}).")


def migrations() -> Iterator[Finding]:
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if plan:
        names = ", ".join(f"{migration.app_label} {migration.name}" for migration, _ in plan[:3])
        yield problem("tables", f"{len(plan)} migrations are missing: {names}.", "Run manage.py migrate.")
    else:
        yield fine("tables", "All migrations are applied.")


def writable() -> Iterator[Finding]:
    """Try a change that concerns no row: it needs the right to write, and in SQLite the lock as well."""
    try:
        Benchmark.objects.filter(pk=-1).update(title="")
    except DatabaseError as error:
        step = "Give the site's user the right to write, free space, or end the process that holds the lock."
        yield problem("writing", f"The database cannot be written: {error}", step)
    else:
        yield fine("writing", "The database can be written.")


def journal() -> Iterator[Finding]:
    """Check that pages of a site on SQLite need not wait for writers."""
    if connection.vendor != "sqlite":
        return
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA journal_mode")
        (mode,) = cursor.fetchone()
    if mode == "wal":
        yield fine("journal", "SQLite keeps a write-ahead log.")
    else:
        step = "Put the data folder on a local disk; network folders cannot have a write-ahead log."
        yield warning("journal", f"SQLite is in the mode {mode}, in which pages wait for writers.", step)


def clock() -> Iterator[Finding]:
    """Compare the clocks of the database and of this machine: leases are read on one and written on the other."""
    if connection.vendor == "sqlite":
        yield fine("clock", "SQLite goes by the clock of this machine.")
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT CURRENT_TIMESTAMP")
        (time,) = cursor.fetchone()
    yield of_skew(abs(timezone.now() - time))


def of_skew(skew: timedelta) -> Finding:
    """Judge the difference between two clocks: a lease must not end by one and continue by the other."""
    sentence = f"The clocks of the database and of this machine differ by {skew.total_seconds():.1f} seconds."
    step = "Let both machines set their clocks by NTP, for example with chrony."
    if skew < SKEW:
        return fine("clock", sentence)
    return problem("clock", sentence, step) if skew > LEASE / 2 else warning("clock", sentence, step)
