"""Downloading an archive from an official source and unpacking it, never outside its folder."""

import http.client
import shutil
import tarfile
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import IO

from probing.errors import SourceUnavailable
from probing.files.folders import space

LARGEST_ARCHIVE = 500_000_000  # bytes when unpacked
READ_TIMEOUT = 60  # seconds without a byte


def fetch_archive(address: str, paths: Sequence[str], folder: Path, by_hand: str) -> None:
    """Unpack the plain files below `paths` of the .tar.gz at `address`, without the archive's top folder.

    `by_hand`: the next step for people if the network fails.
    """
    request = urllib.request.Request(address, headers={"User-Agent": "clozeboard"})
    try:
        with (
            space(folder),
            urllib.request.urlopen(request, timeout=READ_TIMEOUT) as answer,
        ):
            unpack(answer, paths, folder)
    except (OSError, EOFError, http.client.HTTPException, tarfile.TarError) as error:
        raise SourceUnavailable(
            f"{address} could not be fetched ({getattr(error, 'reason', error)}).", by_hand
        ) from error


def unpack(stream: IO[bytes], paths: Sequence[str], folder: Path) -> None:
    """Unpack the plain files below `paths` of a .tar.gz as `fetch_archive` does, while it is read."""
    with tarfile.open(fileobj=stream, mode="r|gz") as archive:
        for path, content in _selected(archive, paths):
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            with content, target.open("wb") as file:
                shutil.copyfileobj(content, file)


def _selected(archive: tarfile.TarFile, paths: Sequence[str]) -> Iterator[tuple[PurePosixPath, IO[bytes]]]:
    """Yield the plain files below `paths`, each with its path; sizes are added up before anything is unpacked.

    The filters of `tarfile` would check the paths as well, but Python 3.11 has them only from 3.11.4 on.
    """
    total = 0
    for member in archive:
        total += member.size
        if total > LARGEST_ARCHIVE:
            raise tarfile.ReadError(f"larger than {LARGEST_ARCHIVE:,} bytes")
        path = PurePosixPath(*PurePosixPath(member.name).parts[1:])
        content = archive.extractfile(member) if member.isreg() else None
        if content and any(path.is_relative_to(folder) for folder in paths):
            if ".." in path.parts:
                raise tarfile.ReadError(f"{member.name!r} would be unpacked outside its folder")
            yield path, content
