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
# Tables that change every few seconds while a run goes on, or with every request of a remote worker. Pages that show
# their rows must not be kept.
NOT_WATCHED = frozenset({"leaderboard_runpart", "leaderboard_workertoken"})

SQLITE = """
CREATE TRIGGER {name} AFTER {change} ON {table} BEGIN
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
CREATE CONSTRAINT TRIGGER {name} AFTER INSERT OR UPDATE OR DELETE ON {table}
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION clozeboard_data_changed()
"""


def data_version() -> str:
    """Return the present version with one query; empty where it is unknown, so that nothing may be kept.

    Raises `OperationalError` if the database is locked or away, as the queries of a page do.
    """
    try:
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT value FROM {TABLE} WHERE id = 1")
            row = cursor.fetchone()
    except DatabaseError as error:
        if isinstance(error, OperationalError) and "no such table" not in str(error):
            raise
        return ""
    return str(row[0]) if row else ""


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
    if database.vendor == "postgresql":
        yield POSTGRESQL_FUNCTION
    for table in tables:
        if database.vendor == "postgresql":
            yield f"DROP TRIGGER IF EXISTS {table}_changed ON {table}"
            yield POSTGRESQL.format(name=f"{table}_changed", table=table)
        elif database.vendor == "sqlite":
            for change in ("INSERT", "UPDATE", "DELETE"):
                name = f"{table}_{change.lower()}"
                yield f"DROP TRIGGER IF EXISTS {name}"
                yield SQLITE.format(name=name, change=change, table=table)
