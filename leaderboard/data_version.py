"""The version of the data that pages show: a random text, replaced by whatever changes a row that pages are made of.

Triggers of the database replace it. No change can be forgotten, be it of many rows at once, of another process, or made
by hand in a database shell. The version changes in the transaction that changes the rows, so a reader sees either both
or neither. `manage.py migrate` creates the table and the triggers; the table is none of Django's, so that backups and
restored rows leave it alone.
"""

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from django.apps import AppConfig
from django.db import DatabaseError, OperationalError, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper

TABLE = "clozeboard_data_version"
# Tables that change every few seconds while a run goes on. Pages that show their rows must not be kept. An event comes
# with a change of its run.
NOT_WATCHED = frozenset(f"leaderboard_{name}" for name in ("claim", "runpart", "runevent"))
RUNS = "leaderboard_run"
# From one of these states of a run to another, only pages change that are made anew every few seconds anyway.
AT_WORK = "('downloading', 'scoring', 'aggregating')"
IN_PROGRESS = f"OLD.state IN {AT_WORK} AND NEW.state IN {AT_WORK}"

SQLITE = """
CREATE TRIGGER {name} AFTER {change} ON {table} {when} BEGIN
    INSERT OR REPLACE INTO clozeboard_data_version (id, value) VALUES (1, hex(randomblob(16)));
END
"""
# The trigger is deferred to the end of the transaction: changed earlier, the row of the version would stay locked until
# then, and two transactions could wait for each other. Once a transaction is enough.
POSTGRESQL_FUNCTION = """
CREATE OR REPLACE FUNCTION clozeboard_data_changed() RETURNS trigger AS $$
BEGIN
    IF current_setting('clozeboard.changed_in', true) IS DISTINCT FROM txid_current()::text THEN
        PERFORM set_config('clozeboard.changed_in', txid_current()::text, true);
        INSERT INTO clozeboard_data_version (id, value) VALUES (1, gen_random_uuid()::text)
        ON CONFLICT (id) DO UPDATE SET value = excluded.value;
    END IF;
    RETURN NULL;
END $$ LANGUAGE plpgsql
"""
POSTGRESQL = """
CREATE CONSTRAINT TRIGGER {name} AFTER {change} ON {table}
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW {when} EXECUTE FUNCTION clozeboard_data_changed()
"""


def data_version() -> str:
    """Return the present version with one query; empty where it is unknown, so that nothing may be kept.

    Raises `OperationalError` if the database is locked or away, as the queries of a page do.
    """
    try:
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT value FROM {TABLE} WHERE id = 1")
            row = cursor.fetchone()
            return str(row[0]) if row else ""
    except DatabaseError as error:
        if isinstance(error, OperationalError) and "no such table" not in str(error):
            raise
        return ""


def install(sender: AppConfig, using: str, **kwargs: Any) -> None:
    """Create the table and the triggers of every watched table (a receiver of the signal post_migrate).

    They are made again after each migration, because SQLite drops the triggers of a table that a migration copies; the
    version is replaced as well, as the migration may have changed rows.
    """
    database = connections[using]
    tables = {model._meta.db_table for model in sender.get_models()} - NOT_WATCHED
    present = tables.intersection(database.introspection.table_names())
    with database.cursor() as cursor:
        cursor.execute(f"CREATE TABLE IF NOT EXISTS {TABLE} (id integer PRIMARY KEY, value varchar(36) NOT NULL)")
        for statement in _statements(database, sorted(present)):
            cursor.execute(statement)
        cursor.execute(f"DELETE FROM {TABLE}")
        cursor.execute(f"INSERT INTO {TABLE} (id, value) VALUES (1, %s)", [uuid4().hex])


def _statements(database: BaseDatabaseWrapper, tables: list[str]) -> Iterator[str]:
    create, drop = SQLITE, "DROP TRIGGER IF EXISTS {name}"
    if database.vendor == "postgresql":
        yield POSTGRESQL_FUNCTION
        create, drop = POSTGRESQL, "DROP TRIGGER IF EXISTS {name} ON {table}"
    for table in tables:
        for change in ("INSERT", "UPDATE", "DELETE"):
            when = f"WHEN (NOT ({IN_PROGRESS}))" if (table, change) == (RUNS, "UPDATE") else ""
            names = {"name": f"{table}_{change.lower()}", "table": table}
            yield drop.format(**names)
            yield create.format(**names, change=change, when=when)
