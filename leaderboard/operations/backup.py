"""Backup and dump: the site's rows, results and benchmarks in one file, as they were at one moment.

The site keeps running. A backup has everything, a dump what everybody may have (`contents`).

Rows are read within one transaction, which sees the database as it was at its beginning and blocks no writer. Files of
finished runs never change. The rows of single parts may be removed during the backup, when their run finishes; such
parts are stored as not done, so that a restored site measures them again.
"""

import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryDirectory
from typing import IO, Any

from django.conf import settings
from django.core import serializers
from django.core.files.storage import Storage
from django.core.serializers.json import DjangoJSONEncoder
from django.db import connection, transaction
from django.db.models import Model as DjangoModel
from django.utils import timezone

from leaderboard.models import Benchmark, Run, RunPart
from leaderboard.operations.archive import (
    ARTEFACTS,
    BENCHMARKS,
    DATABASE,
    MANIFEST,
    Manifest,
    applied_migrations,
    copy_with_digest,
    tables,
)
from leaderboard.operations.contents import EVERYTHING, Contents
from leaderboard.stored import artefacts
from probing.errors import BadInput
from probing.files.folders import new_file


def write_backup(target: Path, contents: Contents = EVERYTHING) -> Manifest:
    """Write the archive, which appears complete or not at all; a backup is readable by its owner only.

    Raises `BadInput` if the place is taken or cannot be written.
    """
    if target.exists():
        raise BadInput(f"{target} exists already.", "Choose another name.")
    if not target.parent.is_dir():
        raise BadInput(f"There is no folder {target.parent}.", "Create it first.")
    with snapshot(), new_file(target) as path, TemporaryDirectory(dir=target.parent) as scratch:
        path.touch(mode=contents.mode)
        with tarfile.open(path, "w:gz", compresslevel=1) as archive:  # most of it is compressed already
            writer = Writer(archive, Path(scratch), contents)
            writer.add_results()
            writer.add_benchmarks()
            writer.add_rows()
            writer.add_manifest()
    return writer.manifest


@contextmanager
def snapshot() -> Iterator[None]:
    """Let all queries of the block see the database as it was at the beginning of the block."""
    if connection.vendor != "sqlite":
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield
        return
    with connection.cursor() as cursor:
        cursor.execute("BEGIN DEFERRED")  # transaction.atomic() would begin one that keeps writers waiting
        try:
            yield
        finally:
            cursor.execute("ROLLBACK")


class FullTimes(DjangoJSONEncoder):
    """JSON with times to the microsecond; Django's own encoder cuts them to milliseconds."""

    def default(self, o: Any) -> Any:
        return o.isoformat() if isinstance(o, datetime) else super().default(o)


class Writer:
    """An archive that is being written, with the manifest of what it has so far."""

    def __init__(self, archive: tarfile.TarFile, scratch: Path, contents: Contents) -> None:
        self.archive = archive
        self.scratch = scratch
        self.contents = contents
        versions = {name: version(name) for name in ("clozeboard", "django")} | {"database": connection.vendor}
        time = timezone.now().isoformat(timespec="seconds")
        self.manifest = Manifest(time, versions, applied_migrations(), left_out=list(contents.left_out))

    def add_results(self) -> None:
        """Add the files of finished runs, and the rows of the parts that unfinished runs have done."""
        for run in self.contents.rows(Run).exclude(artefact="").order_by("pk").iterator():
            for name in stored_files(artefacts.storage(), run.artefact):
                self.add_artefact(name)
        done = self.contents.rows(RunPart).filter(done=True)
        parts = done.exclude(run__state=Run.State.FINISHED).select_related("run")
        for part in parts.order_by("pk").iterator():
            if not self.add_artefact(artefacts.part_name(part)):
                self.manifest.redo.append(part.pk)

    def add_artefact(self, name: str) -> bool:
        """Add a file of the artefact storage; return False and note its name if it is not there any more."""
        try:
            self.add(f"{ARTEFACTS}/{name}", lambda: artefacts.storage().open(name))
        except FileNotFoundError:
            self.manifest.missing.append(name)
            return False
        return True

    def add_benchmarks(self) -> None:
        """Add the files of every imported version that are in the data folder."""
        for path in self.contents.rows(Benchmark).exclude(path="").order_by("pk").values_list("path", flat=True):
            folder = settings.DATA / path
            files = sorted(file for file in folder.rglob("*") if file.is_file())
            if not files:
                self.manifest.missing.append(path)
            for file in files:
                self.add(f"{BENCHMARKS}/{path}/{file.relative_to(folder).as_posix()}", file_opener(file))

    def add_rows(self) -> None:
        """Add all rows as lines of JSON, in the form of Django's fixtures."""
        with NamedTemporaryFile("w+", dir=self.scratch, encoding="utf-8") as lines:
            for table in tables():
                rows = self.contents.rows(table).order_by("pk")
                counted = self.counted(table._meta.label_lower, rows.iterator())
                serializers.serialize("jsonl", counted, stream=lines, cls=FullTimes)
            lines.flush()
            self.add(DATABASE, file_opener(Path(lines.name)))

    def counted(self, label: str, rows: Iterator[DjangoModel]) -> Iterator[DjangoModel]:
        """Pass rows on and count them; parts whose rows are gone become free again."""
        redo = set(self.manifest.redo)
        self.manifest.rows[label] = 0
        for row in rows:
            if isinstance(row, RunPart) and row.pk in redo:
                row.done, row.items_done, row.digest, row.record = False, 0, "", {}
            self.manifest.rows[label] += 1
            yield self.contents.prepared(row)

    def add(self, name: str, opened: Callable[[], IO[bytes]]) -> None:
        """Add a file by way of a temporary copy, as its length and digest must be known and it may vanish."""
        with NamedTemporaryFile(dir=self.scratch) as copy:
            with opened() as source:
                length, digest = copy_with_digest(source, copy)
            copy.seek(0)
            self.archive.addfile(member(name, length), copy)
        self.manifest.files[name] = {"bytes": length, "sha256": digest}

    def add_manifest(self) -> None:
        content = self.manifest.to_json().encode()
        self.archive.addfile(member(MANIFEST, len(content)), BytesIO(content))


def member(name: str, length: int) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.size, info.mode = length, 0o600
    return info


def file_opener(path: Path) -> Callable[[], IO[bytes]]:
    return lambda: path.open("rb")


def stored_files(storage: Storage, folder: str) -> Iterator[str]:
    """Yield the names of all files below a folder of a storage, in alphabetical order; none where it has no folder."""
    try:
        folders, files = storage.listdir(folder)
    except FileNotFoundError:
        return
    for name in sorted(files):
        yield f"{folder}/{name}"
    for name in sorted(folders):
        yield from stored_files(storage, f"{folder}/{name}")
