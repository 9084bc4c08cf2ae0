"""Temporary files of jobs, and halves of downloads, removed however the job's process or its worker ends."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from django.conf import settings
from filelock import FileLock, Timeout


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
