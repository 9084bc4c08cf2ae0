"""Dumps: the whole site in one dated file that everybody may have, with its digest beside it."""

import os
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.utils import timezone

from leaderboard.operations.archive import Manifest, copy_with_digest
from leaderboard.operations.backup import write_backup
from leaderboard.operations.contents import PUBLIC
from probing.files.folders import new_file

SUFFIX = ".tar.gz"


class Dump(NamedTuple):
    """A dump that readers can download; `digest` is its SHA-256."""

    name: str
    bytes: int
    digest: str


def write_dump() -> tuple[Path, Manifest]:
    """Write today's dump and its digest; raise `BadInput` if it exists already."""
    folder().mkdir(parents=True, exist_ok=True)
    target = folder() / f"clozeboard-{timezone.localdate():%Y-%m-%d}{SUFFIX}"
    manifest = write_backup(target, PUBLIC)
    with target.open("rb") as file, Path(os.devnull).open("wb") as nowhere:
        _, digest = copy_with_digest(file, nowhere)
    with new_file(_digest_file(target)) as path:
        path.write_text(f"{digest}  {target.name}\n", encoding="utf-8")
    return target, manifest


def dumps() -> list[Dump]:
    """Return all dumps, the newest first; one without a digest is still being written."""
    paths = sorted(folder().glob(f"*{SUFFIX}"), reverse=True)
    return [
        Dump(path.name, path.stat().st_size, _digest_file(path).read_text(encoding="utf-8").split()[0])
        for path in paths
        if _digest_file(path).exists()
    ]


def folder() -> Path:
    return Path(settings.DATA) / "dumps"


def _digest_file(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")
