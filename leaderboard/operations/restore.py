"""Restore: fill an empty site from a backup, completely or not at all.

All members are first unpacked beside the data folder's content and compared with their digests. Then rows, results and
benchmarks are put in place within one transaction; whatever was put in place is removed if anything fails.

Dumps are for everybody, so the file may be a stranger's: no row may give rights over the machine, whatever it says.
"""

import re
import shutil
import tarfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from tempfile import mkdtemp

from django.conf import settings
from django.core import serializers
from django.core.files import File
from django.core.management import call_command
from django.core.management.color import no_style
from django.core.serializers.base import DeserializationError
from django.db import DatabaseError, connection, transaction
from django.db.models import Model as DjangoModel

from leaderboard.models import Benchmark
from leaderboard.operations.archive import (
    ARTEFACTS,
    BENCHMARKS,
    DATABASE,
    MANIFEST,
    Manifest,
    applied_migrations,
    copy_with_digest,
    open_archive,
    tables,
)
from leaderboard.operations.backup import stored_files
from leaderboard.stored import artefacts
from probing.errors import BadInput, DigestMismatch
from probing.files.folders import space

BENCHMARK_PATH = re.compile(r"benchmarks/(?!\.\.?$)[^/\0]+")  # within the data folder
BROKEN = "Nothing was changed. Use another backup, or copy this one again."


def restore_backup(path: Path) -> Manifest:
    """Fill the empty site from a backup and return its manifest.

    Raises `BadInput` if the site has any content, or if the backup is of other migrations or no backup, and
    `DigestMismatch` if it is damaged.
    """
    with unpacked(path) as folder:
        manifest = checked(folder)
        call_command("migrate", verbosity=0)
        refuse_other_migrations(manifest)
        refuse_content()
        put_in_place(folder, manifest)
    return manifest


@contextmanager
def unpacked(path: Path) -> Iterator[Path]:
    """Unpack the backup into a hidden folder of the data folder for the time of the block."""
    settings.DATA.mkdir(parents=True, exist_ok=True)
    folder = Path(mkdtemp(prefix=".restore.", dir=settings.DATA))
    try:
        with open_archive(path) as archive, space(folder):
            for info in archive:
                unpack(archive, info, folder)
        yield folder
    except (tarfile.TarError, EOFError) as error:
        raise DigestMismatch(f"{path} is damaged ({error}).", BROKEN) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def unpack(archive: tarfile.TarFile, info: tarfile.TarInfo, folder: Path) -> None:
    """Unpack one member; a backup has only regular files, whose names stay within it and occur once."""
    name = PurePosixPath(info.name)
    source = archive.extractfile(info) if info.isreg() else None
    foreign = BadInput(f"The backup has a member {info.name!r} that no backup has.", BROKEN)
    if source is None or name.is_absolute() or ".." in name.parts:
        raise foreign
    target = folder / name
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        file = target.open("xb")
    except (FileExistsError, NotADirectoryError, IsADirectoryError, ValueError) as error:
        raise foreign from error
    with source, file:
        copy_with_digest(source, file)


def checked(folder: Path) -> Manifest:
    """Return the manifest, after a comparison of all files with their digests."""
    if not (folder / MANIFEST).is_file():
        raise DigestMismatch("The backup ends before its manifest.", BROKEN)
    manifest = Manifest.from_json((folder / MANIFEST).read_bytes())
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()} - {MANIFEST}
    if different := names ^ manifest.files.keys():
        raise DigestMismatch(f"The backup and its manifest disagree about {min(different)}.", BROKEN)
    for name, facts in manifest.files.items():
        with (folder / name).open("rb") as file, Path("/dev/null").open("wb") as nowhere:
            length, digest = copy_with_digest(file, nowhere)
        if facts != {"bytes": length, "sha256": digest}:
            raise DigestMismatch(f"{name} in the backup is damaged.", BROKEN)
    return manifest


def refuse_other_migrations(manifest: Manifest) -> None:
    if manifest.migrations != applied_migrations():
        made_by = manifest.versions.get("clozeboard", "another version")
        raise BadInput(
            f"The backup is of version {made_by}, whose tables are others than those of this version.",
            "Restore it with the version that made it, then upgrade.",
        )


def refuse_content() -> None:
    """Raise `BadInput` if the site has rows, results or benchmarks: nothing is ever overwritten."""
    for table in tables():
        if table._default_manager.exists():
            raise BadInput(
                f"The database is not empty: it has rows of {table._meta.verbose_name_plural}.",
                "Restore into a new database: set DATABASE_URL and CLOZEBOARD_DATA to new places.",
            )
    benchmarks = settings.DATA / "benchmarks"
    if next(stored_files(artefacts.storage(), "runs"), None) or (benchmarks.is_dir() and any(benchmarks.iterdir())):
        raise BadInput(
            "There are results or benchmarks already.",
            "Restore into a new place, or remove the folders runs of the artefacts and benchmarks of the data folder.",
        )


def put_in_place(folder: Path, manifest: Manifest) -> None:
    """Store rows, results and benchmarks in one transaction; remove the files if anything fails."""
    stored: list[str] = []
    folders: list[Path] = []
    try:
        with transaction.atomic():
            load_rows(folder / DATABASE, manifest)
            for name in stored_names(folder):
                with (folder / ARTEFACTS / name).open("rb") as file:
                    stored.append(artefacts.storage().save(name, File(file)))
            if (folder / BENCHMARKS).is_dir():
                move_benchmarks(folder / BENCHMARKS, folders)
    except BaseException:
        for name in stored:
            artefacts.storage().delete(name)
        for path in folders:
            shutil.rmtree(path, ignore_errors=True)
        raise


def stored_names(folder: Path) -> Iterator[str]:
    for path in sorted((folder / ARTEFACTS).rglob("*")):
        if path.is_file():
            yield path.relative_to(folder / ARTEFACTS).as_posix()


def move_benchmarks(source: Path, moved: list[Path]) -> None:
    """Rename each folder of a benchmark into the data folder, and note it in `moved`."""
    for path in sorted((source / "benchmarks").iterdir()):
        target = settings.DATA / "benchmarks" / path.name
        target.parent.mkdir(parents=True, exist_ok=True)
        path.rename(target)
        moved.append(target)


def load_rows(path: Path, manifest: Manifest) -> None:
    """Insert the rows with their keys and times as they were; raise `BadInput` if their numbers differ."""
    counts, own_tables = dict.fromkeys(manifest.rows, 0), tables()
    try:
        with path.open(encoding="utf-8") as lines:
            for row in serializers.deserialize("jsonl", lines):
                refuse_foreign(row.object, own_tables)
                row.save(force_insert=True)
                counts[row.object._meta.label_lower] += 1
        connection.check_constraints()
    except (DeserializationError, DatabaseError, KeyError, UnicodeDecodeError) as error:
        raise BadInput(f"The rows of the backup do not fit into the tables ({error}).", BROKEN) from error
    if counts != manifest.rows:
        raise BadInput("The backup has other numbers of rows than its manifest says.", BROKEN)
    with connection.cursor() as cursor:  # later rows must not get the keys of those that were inserted
        for statement in connection.ops.sequence_reset_sql(no_style(), own_tables):
            cursor.execute(statement)


def refuse_foreign(row: DjangoModel, own_tables: Collection[type[DjangoModel]]) -> None:
    """Raise `BadInput` for what no backup holds: rows of other tables, and benchmarks outside their folder."""
    if type(row) not in own_tables:
        raise BadInput(f"The backup has a row of {row._meta.verbose_name_plural}, which no backup has.", BROKEN)
    if isinstance(row, Benchmark) and row.path and not BENCHMARK_PATH.fullmatch(row.path):
        raise BadInput(f"The backup has a benchmark at {row.path!r:.200}, where none can be.", BROKEN)
