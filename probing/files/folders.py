"""Writing folders and files so that they are complete or absent, and reporting a full disk as `NoSpace`."""

import ctypes
import errno
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

from filelock import FileLock, Timeout

from probing.errors import BadInput, NoSpace, nearest

# Of renameat2(2): paths are those of the working folder, and two names are exchanged.
AT_WORKING_FOLDER, EXCHANGE = -100, 2


def near_path(path: Path) -> str:
    """Return the path beside this one of whose name this one's is probably a misspelling, or an empty text."""
    near = nearest(path.name, [entry.name for entry in path.parent.glob("*")])
    return str(path.parent / near) if near else ""


def missing_path(path: Path, kind: str) -> tuple[str, str]:
    """Return the message and the next step of an error about a path at which there is nothing; `kind`: such as file."""
    near = near_path(path)
    return f"There is no {kind} {path}.", f"Did you mean {near!r}?" if near else "Check the path."


@contextmanager
def space(where: Path | str) -> Iterator[None]:
    """Turn the system's error "no space left" into `NoSpace`."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise NoSpace(f"No space left to write {where}.", "Free some space and try again.") from error


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """Yield a temporary sibling that becomes `target` by one rename at the end, or is removed on any error."""
    refuse_occupied(target)
    with space(target):
        temporary = _new_sibling(target)
        try:
            yield temporary
            temporary.chmod(0o755)
            _sync(temporary)
            temporary.rename(target)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


@contextmanager
def replaced_folder(target: Path) -> Iterator[Path]:
    """Yield a temporary copy of the folder, to be changed, which takes its place at the end; errors change nothing."""
    temporary = _new_sibling(target)
    try:
        with space(target):
            shutil.copytree(target, temporary, dirs_exist_ok=True)
            yield temporary
            _sync(temporary)
            _exchange(temporary, target)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _exchange(first: Path, second: Path) -> None:
    """Exchange the names of two folders: in one step where the system can, else in three that an error undoes."""
    if sys.platform == "linux":
        library = ctypes.CDLL(None)
        paths = (AT_WORKING_FOLDER, os.fsencode(first), AT_WORKING_FOLDER, os.fsencode(second))
        if hasattr(library, "renameat2") and library.renameat2(*paths, EXCHANGE) == 0:
            return
    aside = first.with_name(f"{first.name}.aside")
    second.rename(aside)
    try:
        first.rename(second)
    except BaseException:
        aside.rename(second)
        raise
    aside.rename(first)


@contextmanager
def alone(target: Path, *, may_exist: bool = False) -> Iterator[None]:
    """Hold a lock, so that only one process at a time prepares `target`, which is refused if it must not exist but
    does.

    The system releases the lock of a process that dies.
    """
    if not may_exist:
        refuse_occupied(target)
    with _writable(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        path = target.with_name(f".{target.name}.lock")
        lock = FileLock(path)
        try:
            lock.acquire(timeout=0)
        except Timeout as error:
            raise BadInput(
                f"Another process is writing {target}.", "Wait until it has ended, or choose another place."
            ) from error
    try:
        if not may_exist:
            refuse_occupied(target)
        yield
    finally:
        path.unlink(missing_ok=True)
        lock.release()


def _new_sibling(target: Path) -> Path:
    with _writable(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        return Path(mkdtemp(prefix=f".{target.name}.", dir=target.parent))


@contextmanager
def _writable(target: Path) -> Iterator[None]:
    """Turn all other errors of the system about a place into `BadInput`."""
    try:
        with space(target):
            yield
    except OSError as error:
        raise BadInput(f"{target} cannot be written ({error.strerror}).", "Choose another place.") from error


@contextmanager
def new_file(target: Path) -> Iterator[Path]:
    """Yield the path of a temporary file that becomes `target` at the end; it may replace an older file.

    Raises `BadInput` at once if the target is a folder, or if there is no folder to write it to.
    """
    with _writable(target):
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        target.parent.stat()
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    with space(target):
        try:
            yield temporary
            _sync_path(temporary)
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)


def refuse_occupied(folder: Path) -> None:
    """Raise `BadInput` if there is something at this place that is not an empty folder: nothing is overwritten."""
    with _writable(folder):
        occupied = any(folder.iterdir()) if folder.is_dir() else folder.exists()
    if occupied:
        raise BadInput(f"{folder} exists already.", "Choose another place or remove it first.")


def _sync(folder: Path) -> None:
    for path in (*folder.rglob("*"), folder):
        _sync_path(path)


def _sync_path(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
