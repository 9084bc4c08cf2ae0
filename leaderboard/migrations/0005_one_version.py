"""The versions of figures by benchmark are dropped; the version of all data stays.

All triggers go before any table is copied, because SQLite renames no table while a trigger of another one reads it.
`leaderboard.data_version.install` makes those of now after the migrations.
"""

from itertools import product
from typing import Any

from django.db import migrations

TABLES = ("run", "score", "runrank", "model", "benchmark")  # that had a version of their figures


def drop_triggers(apps: Any, schema_editor: Any) -> None:
    for statement in _of_postgresql() if schema_editor.connection.vendor == "postgresql" else _of_sqlite(schema_editor):
        schema_editor.execute(statement)
    schema_editor.execute("DROP TABLE IF EXISTS clozeboard_figures_version")


def _of_postgresql() -> list[str]:
    figures = [f"leaderboard_{table}_figures_{change}" for table, change in product(TABLES, ("insert", "update", "delete"))]
    return [f"DROP FUNCTION IF EXISTS {name}() CASCADE" for name in ("clozeboard_data_changed", *figures)]


def _of_sqlite(schema_editor: Any) -> list[str]:
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name LIKE 'leaderboard_%'")
        return [f"DROP TRIGGER {name}" for (name,) in cursor.fetchall()]


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0004_base_model")]

    operations = [migrations.RunPython(drop_triggers, migrations.RunPython.noop)]
