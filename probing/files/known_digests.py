"""The digests of downloaded files whose source states none: those of the first download are kept and compared with."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from probing.errors import DigestMismatch
from probing.files.folders import new_file


def digests_file(folder: Path) -> Path:
    """Return the file beside the folder that has the digests of its files, as `sha256sum` prints them."""
    return folder.with_name(f"{folder.name}.sha256")


def compare_or_record(folder: Path, digests: Path, apart_from: Iterable[str]) -> None:
    """Compare all files of the folder with those of the first download, or record them if this is the first.

    `digests`: where the record is kept; it stays when the folder is removed. `apart_from`: folders with files that were
    not downloaded. Raises `DigestMismatch` if a file differs, is missing or is new.
    """
    lines = sorted(
        f"{_sha256(path)}  {path.relative_to(folder).as_posix()}\n"
        for path in folder.rglob("*")
        if path.is_file() and path.relative_to(folder).parts[0] not in apart_from
    )
    if not digests.is_file():
        with new_file(digests) as temporary:
            temporary.write_text("".join(lines), encoding="utf-8")
        return
    recorded = digests.read_text(encoding="utf-8").splitlines(keepends=True)
    if different := sorted(set(lines) ^ set(recorded)):
        name = different[0].split(maxsplit=1)[1].strip()
        raise DigestMismatch(
            f"{name} differs from the first download, whose SHA-256 are in {digests}.",
            "Find out which of the two is right; to accept the new files, remove that record.",
        )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
