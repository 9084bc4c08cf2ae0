"""Fetching a benchmark from its official source: a pinned archive in, a checked folder out."""

import http.client
import tarfile
import urllib.request
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from probing.benchmark import Benchmark
from probing.catalog import Entry, entry
from probing.disk import new_folder, space
from probing.errors import BadBenchmark, BadInput, DigestMismatch, SourceUnavailable

LARGEST_ARCHIVE = 500_000_000  # bytes when unpacked
PATIENCE = 60  # seconds without a byte


def download(slug: str, target: Path) -> Benchmark:
    """Fetch the benchmark into the folder `target` unless it is there; either way its digest is checked."""
    known = entry(slug)
    if not known.archive:
        raise BadInput(f"The benchmark {slug} ships with this project.", "There is nothing to download.")
    if target.is_dir() and any(target.iterdir()):
        return _checked(known, target)
    with new_folder(target) as folder:
        _fetch(known, folder)
        benchmark = _checked(known, folder)
    return benchmark


def _checked(known: Entry, folder: Path) -> Benchmark:
    try:
        benchmark = known.read(folder)
    except BadBenchmark as error:
        raise DigestMismatch(f"{known.archive} is not the expected benchmark: {error.message}") from error
    if benchmark.digest != known.digest:
        raise DigestMismatch(
            f"The files of {known.slug} have the digest {benchmark.digest[:12]}, expected {known.digest[:12]}.",
            f"Remove {folder} and download again; if it stays so, the source has changed.",
        )
    return benchmark


def _fetch(known: Entry, folder: Path) -> None:
    """Stream the archive and keep what is asked for; only the network's own faults count as unavailable."""
    request = urllib.request.Request(known.archive, headers={"User-Agent": "clozeboard"})
    try:
        with (
            space(folder),
            urllib.request.urlopen(request, timeout=PATIENCE) as answer,
            tarfile.open(fileobj=answer, mode="r|gz") as archive,
        ):
            for member in _wanted(archive, known):
                archive.extract(member, folder, filter="data")
    except (OSError, EOFError, http.client.HTTPException, tarfile.TarError) as error:
        raise SourceUnavailable(f"{known.archive} could not be fetched ({error}).", _by_hand(known)) from error


def _wanted(archive: tarfile.TarFile, known: Entry) -> Iterator[tarfile.TarInfo]:
    """Plain files below `known.paths`, without the archive's top folder; anything else is passed over."""
    total = 0
    for member in archive:
        total += member.size
        if total > LARGEST_ARCHIVE:
            raise SourceUnavailable(f"{known.archive} is larger than {LARGEST_ARCHIVE:,} bytes.", _by_hand(known))
        path = PurePosixPath(*PurePosixPath(member.name).parts[1:])
        if member.isfile() and any(path.is_relative_to(wanted) for wanted in known.paths):
            yield member.replace(name=str(path))


def _by_hand(known: Entry) -> str:
    return (
        f"Try again later, or download commit {known.commit[:12]} of {known.source} by hand, unpack it, "
        f"and use its folder (on the site: manage.py import_benchmark {known.format} FOLDER)."
    )
