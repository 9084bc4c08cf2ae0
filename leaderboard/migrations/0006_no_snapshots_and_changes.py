"""Frozen tables and the log of changes leave the database; what they hold is kept as files of the data folder."""

import gzip
import json
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import migrations


def keep_as_files(apps: Any, schema_editor: Any) -> None:
    """Write each frozen document under its SHA-256 as before, and the log as lines of JSON, the oldest first."""
    folder = Path(settings.DATA) / "history"
    snapshots, changes = (apps.get_model("leaderboard", name).objects for name in ("Snapshot", "Change"))
    if snapshots.exists() or changes.exists():
        folder.mkdir(parents=True, exist_ok=True)
    for snapshot in snapshots.iterator(chunk_size=1):
        (folder / f"{snapshot.digest}.json").write_bytes(gzip.decompress(snapshot.document))
    if changes.exists():
        rows = changes.order_by("pk").values("time", "kind", "benchmark", "model", "run", "text")
        lines = [json.dumps(row, default=str, ensure_ascii=False) for row in rows]
        (folder / "changes.jsonl").write_text("\n".join([*lines, ""]), encoding="utf-8")


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0005_one_version")]

    operations = [
        migrations.RunPython(keep_as_files, migrations.RunPython.noop),
        migrations.DeleteModel("Snapshot"),
        migrations.DeleteModel("Change"),
    ]
