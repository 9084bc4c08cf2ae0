"""The versions of figures by benchmark are dropped with their triggers; the version of all data stays.

The triggers go before any table is copied: SQLite renames no table while a trigger of another one reads it.
"""

from itertools import product
from typing import Any

from django.db import migrations

TABLES = ("run", "score", "runrank", "model", "benchmark")


def drop_versions(apps: Any, schema_editor: Any) -> None:
    for table, change in product(TABLES, ("insert", "update", "delete")):
        name = f"leaderboard_{table}_figures_{change}"
        if schema_editor.connection.vendor == "postgresql":
            schema_editor.execute(f"DROP FUNCTION IF EXISTS {name}() CASCADE")
        else:
            schema_editor.execute(f"DROP TRIGGER IF EXISTS {name}")
    schema_editor.execute("DROP TABLE IF EXISTS clozeboard_figures_version")


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0004_base_model")]

    operations = [migrations.RunPython(drop_versions, migrations.RunPython.noop)]
