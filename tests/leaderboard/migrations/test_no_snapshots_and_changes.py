"""What the tables of frozen tables and of changes held is kept as files."""

import gzip
import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
BEFORE = ("leaderboard", "0004_base_model")
AFTER = ("leaderboard", "0006_no_snapshots_and_changes")
DOCUMENT = b'{"format":1,"tables":[]}'


@pytest.fixture
def before() -> Iterator[MigrationExecutor]:
    """A database as it was, in which the newest tables are made again afterwards."""
    executor = MigrationExecutor(connection)
    newest = executor.loader.graph.leaf_nodes()
    executor.migrate([BEFORE])
    yield MigrationExecutor(connection)
    MigrationExecutor(connection).migrate(newest)


def test_frozen_tables_and_the_log_of_changes_become_files(before: MigrationExecutor) -> None:
    apps = before.loader.project_state([BEFORE]).apps
    digest = sha256(DOCUMENT).hexdigest()
    packed = gzip.compress(DOCUMENT)
    apps.get_model("leaderboard", "Snapshot").objects.create(digest=digest, document=packed, length=len(DOCUMENT))
    for text in ("first", "“second”"):
        apps.get_model("leaderboard", "Change").objects.create(kind="withdrawn", model="org/a", run=7, text=text)
    before.migrate([AFTER])
    kept = Path(settings.DATA) / "history"
    assert sha256((kept / f"{digest}.json").read_bytes()).hexdigest() == digest
    lines = (kept / "changes.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["text"] for line in lines] == ["first", "“second”"]
    assert json.loads(lines[0])["run"] == 7


def test_a_site_without_either_gets_no_folder(before: MigrationExecutor) -> None:
    before.migrate([AFTER])
    assert not (Path(settings.DATA) / "history").exists()
