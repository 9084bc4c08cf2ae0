"""The form of a backup: a compressed tar file whose last member, the manifest, has the digest of every other one."""

import hashlib
import json
import tarfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from django.apps import apps
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import Model as DjangoModel
from pydantic import TypeAdapter

from probing.errors import BadInput

FORMAT = 1
MANIFEST = "manifest.json"
DATABASE = "database.jsonl"
ARTEFACTS = "artefacts"
BENCHMARKS = "benchmarks"
BLOCK = 1 << 20  # bytes that are in memory at a time


@dataclass
class Manifest:
    """What a backup holds: versions, applied migrations, numbers of rows by table, and each file with its digest.

    `redo` has the parts whose rows had been removed by the time they were copied; they are stored as not done.
    """

    made: str
    versions: dict[str, str]
    migrations: list[str]
    format: int = FORMAT
    rows: dict[str, int] = field(default_factory=dict)
    files: dict[str, dict[str, Any]] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    redo: list[int] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=1)

    @classmethod
    def from_json(cls, text: str | bytes) -> "Manifest":
        """Read a manifest; raise `BadInput` if this version cannot read it."""
        try:
            manifest = TypeAdapter(cls).validate_json(text)
        except ValueError as error:
            raise BadInput("The manifest of the backup cannot be read.", "Use another backup.") from error
        if manifest.format != FORMAT:
            raise BadInput(
                f"The backup has format {manifest.format}, this version reads format {FORMAT}.",
                "Restore it with the version that made it.",
            )
        return manifest


def tables() -> list[type[DjangoModel]]:
    """Return the models whose rows a backup holds: all of the site, none of the administration."""
    return list(apps.get_app_config("leaderboard").get_models())


def applied_migrations() -> list[str]:
    """Return the names of the site's migrations that the database has had."""
    applied = MigrationRecorder(connection).applied_migrations()
    return sorted(name for app, name in applied if app == "leaderboard")


def copy_with_digest(source: IO[bytes], target: IO[bytes]) -> tuple[int, str]:
    """Copy a stream block by block; return its length in bytes and its SHA-256."""
    digest, length = hashlib.sha256(), 0
    while block := source.read(BLOCK):
        digest.update(block)
        length += len(block)
        target.write(block)
    return length, digest.hexdigest()


def open_archive(path: Path) -> tarfile.TarFile:
    """Open a backup to read it from beginning to end; raise `BadInput` if it is not a compressed tar file."""
    try:
        return tarfile.open(path, "r|gz")
    except (OSError, tarfile.TarError) as error:
        raise BadInput(f"{path} cannot be read as a backup ({error}).", "Name a file that backup has made.") from error
