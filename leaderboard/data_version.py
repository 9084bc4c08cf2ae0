"""Versions of the data that pages show: random texts, replaced by whatever changes a row that pages are made of.

One version is that of all data. Each benchmark has a version of its figures as well, which only changes with rows of
its finished runs, so that a run that is submitted or begun leaves it alone, and so does a result of another benchmark.
The queue has one, too: it changes with runs that wait or have ended, and with what is known of models.

Triggers of the database replace them. No change can be forgotten, be it of many rows at once, of another process, or
made by hand in a database shell. A version changes in the transaction that changes the rows, so a reader sees either
both or neither. `manage.py migrate` creates the tables and the triggers; the tables are none of Django's, so that
backups and restored rows leave them alone.
"""

from collections.abc import Iterator, Set
from itertools import product
from typing import Any, NamedTuple
from uuid import uuid4

from django.apps import AppConfig
from django.db import DatabaseError, OperationalError, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper

TABLE = "clozeboard_data_version"
FIGURES_TABLE = "clozeboard_figures_version"
# Among the numbers of benchmarks, these stand for the rows of benchmarks themselves and for the queue.
ALL_BENCHMARKS, QUEUE = 0, -1
# Tables that change every few seconds while a run goes on. Pages that show their rows must not be kept.
NOT_WATCHED = frozenset({"leaderboard_claim", "leaderboard_runpart"})

# The changes of each table that change figures, with a query of the benchmarks whose figures these are. `NEW` and `OLD`
# are the row after and before the change. Lists name the models of unfinished runs as well; a model comes before its
# runs, so that it has none when it is added.
AT_WORK = "('downloading', 'scoring', 'aggregating')"  # states of runs that are read again for every page
OF_RUN = (
    "SELECT {row}.benchmark_id WHERE {row}.state = 'finished'"
    f" UNION SELECT {QUEUE} WHERE {{row}}.state NOT IN {AT_WORK}"
)
OF_SCORE = "SELECT benchmark_id FROM leaderboard_run WHERE id = {row}.run_id"
OF_MODEL = f"SELECT benchmark_id FROM leaderboard_run WHERE model_id = {{row}}.id UNION SELECT {QUEUE}"
FIGURES_OF = {
    "leaderboard_run": OF_RUN,
    "leaderboard_score": OF_SCORE,
    "leaderboard_runrank": OF_SCORE,
    "leaderboard_model": OF_MODEL,
    "leaderboard_benchmark": f"SELECT {ALL_BENCHMARKS}",
}
ROWS = {"INSERT": ("NEW",), "UPDATE": ("OLD", "NEW"), "DELETE": ("OLD",)}  # of each kind of change

SQLITE = """
CREATE TRIGGER {name} AFTER {change} ON {table} BEGIN
    INSERT OR REPLACE INTO clozeboard_data_version (id, value) VALUES (1, hex(randomblob(16)));
END
"""
SQLITE_FIGURES = """
CREATE TRIGGER {name} AFTER {change} ON {table} BEGIN
    INSERT OR REPLACE INTO clozeboard_figures_version (benchmark, value)
    SELECT benchmark, hex(randomblob(16)) FROM (SELECT NULL AS benchmark WHERE false UNION {benchmarks});
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
POSTGRESQL_FIGURES_FUNCTION = """
CREATE OR REPLACE FUNCTION {name}() RETURNS trigger AS $$
BEGIN
    INSERT INTO clozeboard_figures_version (benchmark, value)
    SELECT changed.benchmark, gen_random_uuid()::text
    FROM (SELECT NULL::integer AS benchmark WHERE false UNION {benchmarks}) AS changed
    ON CONFLICT (benchmark) DO UPDATE SET value = excluded.value;
    RETURN NULL;
END $$ LANGUAGE plpgsql
"""
# Triggers of the same moment run in the order of their names, and the one of all data comes first: whoever changes any
# version holds that row until the end of the transaction, so that no two transactions can wait for each other.
POSTGRESQL_FIGURES = """
CREATE CONSTRAINT TRIGGER {name} AFTER {change} ON {table}
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION {name}()
"""


class FiguresVersion(NamedTuple):
    """The version of the figures of some benchmarks, and that of the rows of benchmarks; false where it is unknown.

    `benchmarks`: the numbers of those benchmarks; none stands for all of them.
    """

    benchmarks: tuple[int, ...] = ()
    of_figures: str = ""
    of_benchmarks: str = ""

    def __bool__(self) -> bool:
        return bool(self.of_benchmarks)

    def of(self, benchmark: int) -> "FiguresVersion":
        """Return the version of one of the benchmarks that this one is about, without a query."""
        of_figures = (text for text in self.of_figures.split() if text.startswith(f"{benchmark}:"))
        return FiguresVersion((benchmark,), " ".join(of_figures), self.of_benchmarks)


def data_version() -> str:
    """Return the present version with one query; empty where it is unknown, so that nothing may be kept.

    Raises `OperationalError` if the database is locked or away, as the queries of a page do.
    """
    return " ".join(value for _, value in _rows(f"SELECT id, value FROM {TABLE} WHERE id = 1"))


def figures_version(*benchmarks: int) -> FiguresVersion:
    """Return the version of the figures of some benchmarks, or of all benchmarks where none is named. One query.

    The number `QUEUE` stands for the queue. The version is unknown, so that nothing may be kept, inside a transaction,
    which sees rows that no other reader sees yet. Raises `OperationalError` as `data_version` does.
    """
    if connection.in_atomic_block:
        return FiguresVersion(benchmarks)
    chosen = f"IN ({', '.join(map(str, {ALL_BENCHMARKS, *benchmarks}))})" if benchmarks else f">= {ALL_BENCHMARKS}"
    rows = dict(_rows(f"SELECT benchmark, value FROM {FIGURES_TABLE} WHERE benchmark {chosen} ORDER BY benchmark"))
    of_benchmarks = rows.pop(ALL_BENCHMARKS, "")
    return FiguresVersion(benchmarks, " ".join(f"{number}:{value}" for number, value in rows.items()), of_benchmarks)


def _rows(query: str) -> list[tuple[int, str]]:
    """Return the rows of a query, none if its table is not there."""
    try:
        with connection.cursor() as cursor:
            cursor.execute(query)
            return list(cursor.fetchall())
    except DatabaseError as error:
        if isinstance(error, OperationalError) and "no such table" not in str(error):
            raise
        return []


def install(sender: AppConfig, using: str, **kwargs: Any) -> None:
    """Create the tables and the triggers of every watched table (a receiver of the signal post_migrate).

    They are made again after each migration, because SQLite drops the triggers of a table that a migration copies; the
    versions are replaced as well, as the migration may have changed rows.
    """
    database = connections[using]
    tables = {model._meta.db_table for model in sender.get_models()} - NOT_WATCHED
    present = tables.intersection(database.introspection.table_names())
    with database.cursor() as cursor:
        cursor.execute(f"CREATE TABLE IF NOT EXISTS {TABLE} (id integer PRIMARY KEY, value varchar(36) NOT NULL)")
        cursor.execute(
            f"CREATE TABLE IF NOT EXISTS {FIGURES_TABLE} (benchmark integer PRIMARY KEY, value varchar(36) NOT NULL)"
        )
        for statement in (*_statements(database, sorted(present)), *_figures_statements(database, present)):
            cursor.execute(statement)
        cursor.execute(f"DELETE FROM {TABLE}")
        cursor.execute(f"INSERT INTO {TABLE} (id, value) VALUES (1, %s)", [uuid4().hex])
        cursor.execute(f"DELETE FROM {FIGURES_TABLE}")
        cursor.execute(f"INSERT INTO {FIGURES_TABLE} VALUES (%s, %s)", [ALL_BENCHMARKS, uuid4().hex])


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


def _figures_statements(database: BaseDatabaseWrapper, present: Set[str]) -> Iterator[str]:
    """Yield the statements that make the triggers of the versions of figures."""
    for table, change in product(present & FIGURES_OF.keys(), ROWS):
        name = f"{table}_figures_{change.lower()}"
        benchmarks = " UNION ".join(FIGURES_OF[table].format(row=row) for row in ROWS[change])
        if database.vendor == "postgresql":
            yield POSTGRESQL_FIGURES_FUNCTION.format(name=name, benchmarks=benchmarks)
            yield f"DROP TRIGGER IF EXISTS {name} ON {table}"
            yield POSTGRESQL_FIGURES.format(name=name, change=change, table=table)
        elif database.vendor == "sqlite":
            yield f"DROP TRIGGER IF EXISTS {name}"
            yield SQLITE_FIGURES.format(name=name, change=change, table=table, benchmarks=benchmarks)
