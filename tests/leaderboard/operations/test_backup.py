"""Backup and restore: every page is the same, damage and content are refused, and nothing is done by half."""

import gzip
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import tracemalloc
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings as DjangoSettings

from leaderboard.models import Benchmark, Model, Run, RunPart, Submission, WorkerToken
from leaderboard.operations import backup, restore
from leaderboard.operations.backup import write_backup
from leaderboard.operations.restore import restore_backup
from leaderboard.stored import artefacts
from probing.errors import BadInput, DigestMismatch, ProbingError
from tests.leaderboard import factories as make
from tests.leaderboard.conftest import Site
from tests.leaderboard.management.commands.output import output_of
from tests.leaderboard.operations.crawling import crawl, empty_machine
from tests.leaderboard.workers import environment

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "backup.tar.gz"


def rows() -> dict[str, list[dict[str, object]]]:
    return {table.__name__: list(table._default_manager.order_by("pk").values()) for table in restore.tables()}


def test_every_page_of_a_restored_site_is_the_same(
    client: Client, site: Site, settings: DjangoSettings, tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: now)  # pages say how long a run still takes
    WorkerToken.objects.create(name="lab", digest="0" * 64)
    Submission.objects.create(token="t" * 43, model_id="org/first", benchmark=site.benchmark, run=site.first)
    part = site.running.parts.get()
    RunPart.objects.create(run=site.running, relation="P36", template=0, items=2, items_done=2, done=True)
    artefacts.storage().save(artefacts.part_name(site.running.parts.get(done=True)), ContentFile(b"rows"))
    pages, before = crawl(client, site), rows()
    printed = output_of("backup", str(file))
    assert "SECRET_KEY" in printed
    empty_machine(settings, tmp_path)
    assert not Run.objects.exists()
    restored = output_of("restore", str(file))
    assert "restored" in restored and "programs elsewhere that are valid again: 1." in restored
    assert rows() == before
    after = crawl(client, site)
    assert [address for address, page in pages.items() if after[address] != page] == []
    assert part == site.running.parts.get(done=False)
    assert not list(settings.DATA.glob(".restore*"))
    assert make.model().pk > max(row["id"] for row in before["Model"]), "new rows get new keys"


def test_a_backup_has_no_secret_and_only_its_owner_may_read_it(
    site: Site, settings: DjangoSettings, file: Path, admin_user: User
) -> None:
    settings.HF_TOKEN = "a-token-of-the-hub"
    write_backup(file)
    content = gzip.decompress(file.read_bytes())
    for secret in (settings.SECRET_KEY, settings.HF_TOKEN, admin_user.password):
        assert secret.encode() not in content
    assert file.stat().st_mode & 0o077 == 0


def test_a_site_with_content_is_refused(site: Site, data: Path, file: Path) -> None:
    write_backup(file)
    before = rows()
    with pytest.raises(BadInput, match=r"not empty.*DATABASE_URL"):
        restore_backup(file)
    assert rows() == before
    call_command("flush", interactive=False, verbosity=0)
    with pytest.raises(BadInput, match="results or benchmarks already"):
        restore_backup(file)
    assert not Model.objects.exists()


def repacked(file: Path, change: dict[str, bytes | None]) -> None:
    """Write the backup again with other content of some members; None leaves a member out."""
    with tarfile.open(file) as archive:
        members = {info.name: archive.extractfile(info).read() for info in archive.getmembers()}
    with tarfile.open(file, "w:gz") as archive:
        for name, content in (members | change).items():
            if content is not None:
                info = tarfile.TarInfo(name)
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"database.jsonl": b"{}"}, "database.jsonl in the backup is damaged"),
        ({"database.jsonl": None}, "disagree about database.jsonl"),
        ({"artefacts/more": b"x"}, "disagree about artefacts/more"),
        ({"../outside": b"x"}, "a member '../outside' that no backup has"),
        ({"manifest.json": None}, "ends before its manifest"),
        ({"manifest.json": b"[]"}, "manifest of the backup cannot be read"),
        ({"manifest.json": b'{"made": "", "versions": {}, "migrations": [], "files": []}'}, "manifest of the backup"),
        ({"database.jsonl/inside": b"x"}, "a member 'database.jsonl/inside' that no backup has"),
        ({".": b"x"}, "a member '.' that no backup has"),
    ],
)
def test_a_changed_backup_is_refused_before_anything_is_stored(
    site: Site, settings: DjangoSettings, tmp_path: Path, file: Path, change: dict[str, bytes | None], sentence: str
) -> None:
    write_backup(file)
    repacked(file, change)
    empty_machine(settings, tmp_path)
    with pytest.raises(ProbingError, match=re.escape(sentence)):
        restore_backup(file)
    assert not Benchmark.objects.exists()
    assert [path for path in settings.DATA.rglob("*") if path.is_file()] == []
    assert not (tmp_path / "outside").exists()


def with_rows(file: Path, change: Callable[[list[dict[str, Any]]], None]) -> None:
    """Change the rows of a backup and its manifest so that both agree: what a stranger can do to a dump."""
    with tarfile.open(file) as archive:
        lines, manifest = (archive.extractfile(name).read() for name in ("database.jsonl", "manifest.json"))
    rows = [json.loads(line) for line in lines.splitlines()]
    change(rows)
    content = "".join(f"{json.dumps(row)}\n" for row in rows).encode()
    facts = json.loads(manifest)
    facts["rows"] |= Counter(row["model"] for row in rows)
    facts["files"]["database.jsonl"] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    repacked(file, {"database.jsonl": content, "manifest.json": json.dumps(facts).encode()})


@pytest.mark.parametrize(
    "path", ["/etc", "benchmarks/../../outside", "benchmarks/..", "artefacts", "benchmarks/a/../.."]
)
def test_a_backup_of_a_stranger_offers_no_other_files_of_this_machine(
    site: Site, settings: DjangoSettings, tmp_path: Path, file: Path, path: str
) -> None:
    def lead_elsewhere(rows: list[dict[str, Any]]) -> None:
        next(row for row in rows if row["model"] == "leaderboard.benchmark")["fields"]["path"] = path

    write_backup(file)
    with_rows(file, lead_elsewhere)
    empty_machine(settings, tmp_path)
    with pytest.raises(BadInput, match="where none can be"):
        restore_backup(file)
    assert not Benchmark.objects.exists()


def test_a_backup_of_a_stranger_creates_no_account(
    site: Site, settings: DjangoSettings, tmp_path: Path, file: Path
) -> None:
    account = {"username": "stranger", "password": "x", "is_superuser": True, "is_staff": True}
    write_backup(file)
    with_rows(file, lambda rows: rows.append({"model": "auth.user", "pk": 99, "fields": account}))
    empty_machine(settings, tmp_path)
    with pytest.raises(BadInput, match="a row of users, which no backup has"):
        restore_backup(file)
    assert not User.objects.exists() and not Benchmark.objects.exists()


@pytest.mark.parametrize("length", [0, 100, 3000])
def test_a_backup_that_was_cut_off_is_refused(
    site: Site, settings: DjangoSettings, tmp_path: Path, file: Path, length: int
) -> None:
    write_backup(file)
    os.truncate(file, length)
    empty_machine(settings, tmp_path)
    with pytest.raises((BadInput, DigestMismatch)):
        restore_backup(file)
    assert not Benchmark.objects.exists()


def test_a_restore_that_fails_leaves_nothing_behind(
    site: Site, settings: DjangoSettings, tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_backup(file)
    empty_machine(settings, tmp_path)

    def fail(*args: object) -> None:
        raise OSError("the disk was pulled out")

    with monkeypatch.context() as patch:
        patch.setattr(restore, "move_benchmarks", fail)
        with pytest.raises(OSError, match="pulled out"):
            restore_backup(file)
    assert not Benchmark.objects.exists()
    assert [path for path in settings.DATA.rglob("*") if path.is_file()] == []
    restore_backup(file)
    assert Benchmark.objects.exists()


def test_a_backup_of_other_tables_is_refused_with_the_version_that_can_read_it(
    site: Site, settings: DjangoSettings, tmp_path: Path, file: Path
) -> None:
    manifest = write_backup(file)
    manifest.migrations = manifest.migrations[:-1]
    manifest.versions["clozeboard"] = "0.0.9"
    repacked(file, {"manifest.json": manifest.to_json().encode()})
    empty_machine(settings, tmp_path)
    with pytest.raises(BadInput, match=r"version 0\.0\.9.*then upgrade"):
        restore_backup(file)
    manifest.format = 2
    repacked(file, {"manifest.json": manifest.to_json().encode()})
    with pytest.raises(BadInput, match="format 2"):
        restore_backup(file)


def test_what_is_written_during_a_backup_is_not_in_it_and_does_not_wait(
    site: Site, settings: DjangoSettings, tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process finishes a run between the copy of the files and that of the rows."""
    done = RunPart.objects.create(run=site.running, relation="P36", template=0, items=2, items_done=2, done=True)
    add_rows = backup.Writer.add_rows

    def meanwhile(writer: backup.Writer) -> None:
        code = (
            "import django; django.setup(); from leaderboard.models import Run; "
            f"Run.objects.filter(pk={site.running.pk}).update(state='finished')"
        )
        variables = environment() | {"DJANGO_SETTINGS_MODULE": "leaderboard.settings"}
        subprocess.run([sys.executable, "-c", code], env=variables, check=True, timeout=60)
        add_rows(writer)

    monkeypatch.setattr(backup.Writer, "add_rows", meanwhile)
    manifest = write_backup(file)
    assert Run.objects.get(pk=site.running.pk).state == Run.State.FINISHED
    assert manifest.redo == [done.pk], "its rows were removed before they could be copied"
    empty_machine(settings, tmp_path)
    restore_backup(file)
    assert Run.objects.get(pk=site.running.pk).state == Run.State.SCORING
    assert not RunPart.objects.get(pk=done.pk).done


def test_large_files_do_not_pass_through_memory(site: Site, file: Path) -> None:
    size = 64 * 2**20
    artefacts.storage().save(f"{site.first.artefact}/large", ContentFile(bytes(size)))
    tracemalloc.start()
    write_backup(file)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < size / 2


def test_nothing_is_overwritten_and_missing_files_are_named(site: Site, data: Path, file: Path) -> None:
    artefacts.storage().delete(f"{site.first.artefact}/items.parquet")
    printed = output_of("backup", str(file))
    assert "rows and" in printed
    for place in (file, file.parent / "nowhere" / "backup.tar.gz"):
        with pytest.raises(CommandError) as error:
            output_of("backup", str(place))
        assert error.value.returncode == 2
    with pytest.raises(CommandError, match="cannot be read as a backup"):
        output_of("restore", str(file.parent / "nowhere"))


def test_the_rows_of_a_backup_are_lines_of_json(site: Site, file: Path) -> None:
    manifest = write_backup(file)
    with tarfile.open(file) as archive:
        lines = archive.extractfile("database.jsonl").read().decode().splitlines()
    assert len(lines) == sum(manifest.rows.values())
    assert {json.loads(line)["model"].split(".")[0] for line in lines} == {"leaderboard"}
    assert connection.vendor == manifest.versions["database"]
