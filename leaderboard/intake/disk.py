"""Room on the disk: the cache of downloaded models, and temporary files of jobs."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from django.conf import settings
from filelock import FileLock, Timeout
from huggingface_hub import scan_cache_dir

from leaderboard.figures.runs import WORKING
from leaderboard.models import Run
from probing.errors import NoSpace
from probing.files.description import loaded_files
from probing.files.listing import Listing

SPARE_DISK = 10**9  # bytes that a download leaves free


def make_room(listing: Listing) -> None:
    """Delete commits of downloaded models until this one fits; raise `NoSpace` if it does not fit without all others.

    It fits if `SPARE_DISK` stays free, and the cache takes no more than its limit. The commits of runs that a worker
    has begun stay.
    """
    cache = Path(settings.HUB_CACHE)
    cache.mkdir(parents=True, exist_ok=True)
    with FileLock(settings.DATA / "model-cache.lock"):
        missing = _missing(listing, cache)
        if not missing or _fits(missing, cache):
            return
        begun = Run.objects.filter(state__in=WORKING).values_list("model__commit", flat=True)
        in_use = {listing.commit, *begun}
        commits = [commit for repository in scan_cache_dir(cache).repos for commit in repository.revisions]
        for commit in sorted(commits, key=lambda commit: commit.snapshot_path.stat().st_mtime):
            if commit.commit_hash not in in_use:
                scan_cache_dir(cache).delete_revisions(commit.commit_hash).execute()
                if _fits(missing, cache):
                    return
    if shutil.disk_usage(cache).free < missing + SPARE_DISK:
        raise NoSpace(f"The disk has no room for the {missing / 1e9:.1f} GB of {listing.hub_id}.", "Free some space.")


def _missing(listing: Listing, cache: Path) -> int:
    """Return the size in bytes of the files that are still to be downloaded."""
    folder = cache / f"models--{listing.hub_id.replace('/', '--')}" / "snapshots" / listing.commit
    return sum(listing.files[name] for name in loaded_files(listing) if not (folder / name).exists())


def _fits(size: int, cache: Path) -> bool:
    limit = settings.HUB_CACHE_LIMIT
    within_limit = not limit or size + scan_cache_dir(cache).size_on_disk <= limit
    return within_limit and shutil.disk_usage(cache).free >= size + SPARE_DISK


# Temporary files of jobs, and halves of downloads, removed however the job's process or its worker ends.


@contextmanager
def temporary_files() -> Iterator[Path]:
    """Make a new folder the place of this process's temporary files, and remove it at the end."""
    parent, before = _parent(), tempfile.tempdir
    with FileLock(parent / "lock"):
        folder = Path(tempfile.mkdtemp(dir=parent))
        handle = os.open(folder, os.O_RDONLY)
        fcntl.flock(handle, fcntl.LOCK_EX)  # the system takes it back from a process that dies
    tempfile.tempdir = str(folder)
    try:
        yield folder
    finally:
        tempfile.tempdir = before
        shutil.rmtree(folder, ignore_errors=True)
        os.close(handle)


def remove_abandoned() -> None:
    """Remove the folders of processes that were killed."""
    parent = _parent()
    with FileLock(parent / "lock"):
        for folder in (path for path in parent.iterdir() if path.is_dir()):
            handle = os.open(folder, os.O_RDONLY)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            else:
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(handle)


def remove_abandoned_downloads() -> None:
    """Remove halves of files whose download ended with its process; the hub's client does not go on with them.

    The client holds the lock of a file for as long as it downloads the file.
    """
    cache = Path(settings.HUB_CACHE)
    for path in cache.glob("models--*/blobs/*.incomplete"):
        repository, digest = path.parent.parent.name, path.name.split(".")[0]
        with suppress(Timeout), FileLock(cache / ".locks" / repository / f"{digest}.lock", timeout=0):
            path.unlink(missing_ok=True)


def _parent() -> Path:
    folder = Path(settings.DATA) / "scratch"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
