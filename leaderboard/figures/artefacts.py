"""Files of runs in the artefact storage, and waiting for a database that is locked or away.

A run has files of its parts while it goes on, and the result folder once it is finished.
"""

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ParamSpec, TypeVar
from uuid import uuid4

import pandas as pd
from django.core.files.base import ContentFile, File
from django.core.files.storage import Storage, storages
from django.db import InterfaceError, OperationalError, connection

from leaderboard.figures import highlights
from leaderboard.models import Run, RunPart
from probing.errors import ProbingError
from probing.files.folders import space
from probing.results.result import Result

try:
    from botocore.exceptions import BotoCoreError, ClientError
except ModuleNotFoundError:  # results lie in a folder, as `settings` has a bucket only with the extra s3
    BUCKET_ERRORS: tuple[type[Exception], ...] = ()
else:
    BUCKET_ERRORS = (BotoCoreError, ClientError)


class StorageUnavailable(ProbingError):
    """The artefact storage does not answer, or refuses the keys; what was stored before is kept."""

    code = "storage-unavailable"
    permanent = False


def storage() -> Storage:
    return storages["artefacts"]


@contextmanager
def answering() -> Iterator[None]:
    """Turn errors of an object storage into `StorageUnavailable`."""
    try:
        yield
    except BUCKET_ERRORS as error:
        raise StorageUnavailable(
            f"The artefact storage does not answer as it should ({type(error).__name__}).",
            "Check its address and keys.",
        ) from error


def folder(run: Run) -> str:
    return f"runs/{run.pk}"


def store_part(part: RunPart, rows: pd.DataFrame) -> None:
    """Store the rows that were measured in an attempt at a part; the rows of no other attempt are touched."""
    _store(part_name(part), ContentFile(rows.to_parquet(index=False)))


def read_part(part: RunPart) -> pd.DataFrame:
    with answering(), storage().open(part_name(part)) as file:
        return pd.read_parquet(file)


def remove_part(part: RunPart) -> None:
    """Delete the rows that were stored in an attempt at a part."""
    storage().delete(part_name(part))


def store_result(run: Run, result: Result) -> str:
    """Store the three files that the library writes (items.parquet, scores.csv, run.json) and the highlights.

    Returns their folder. It is new each time, so that two workers that finish a run do not write the same files.
    """
    target = f"{folder(run)}/{uuid4().hex[:12]}"
    with TemporaryDirectory() as scratch:
        result.save(Path(scratch) / "result")
        for path in (Path(scratch) / "result").iterdir():
            with path.open("rb") as file:
                _store(f"{target}/{path.name}", File(file))
    errors = highlights.surest_errors(result.items_without_options)
    _store(f"{target}/{highlights.FILE}", ContentFile(highlights.to_json(errors).encode()))
    return target


def folders_of(run: Run) -> list[str]:
    """Return the folders with files of a run, the innermost first."""
    return [*(f"{folder(run)}/{name}" for name in _folders(folder(run))), folder(run)]


def remove_leftovers(run: Run) -> None:
    """Delete the files of a finished run that do not belong to its result: its parts, and results of killed workers."""
    kept = run.artefact.removeprefix(f"{folder(run)}/")
    for name in _folders(folder(run)):
        if name != kept:
            remove_folder(f"{folder(run)}/{name}")


def remove_folders(names: Iterable[str]) -> None:
    """Delete the folders of a run that is gone."""
    for name in names:
        remove_folder(name)


def remove_folder(name: str) -> None:
    """Delete a folder that holds only files."""
    with suppress(FileNotFoundError):
        for file in storage().listdir(name)[1]:
            storage().delete(f"{name}/{file}")
    with suppress(OSError):  # somebody writes there again; or an object storage, which has no folders
        storage().delete(name)


def _folders(name: str) -> list[str]:
    try:
        return storage().listdir(name)[0]
    except FileNotFoundError:
        return []


def part_name(part: RunPart) -> str:
    """Return the name of the file with the rows of a part that were measured in its attempt."""
    return f"{folder(part.run)}/parts/{part.pk}-{part.attempt}.parquet"


def _store(name: str, content: "File[bytes]") -> None:
    """Store a file completely or not at all, in place of an older one, for which a storage would use another name."""
    with answering(), space(Path(name)):
        storage().delete(name)
        try:
            storage().save(name, content)
        except BaseException:
            with suppress(OSError):
                storage().delete(name)
            raise


# Waiting for a database that is locked, restarting or unreachable, where that is better than failing.


log = logging.getLogger(__name__)
PATIENCE = 150.0  # seconds
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 2.0  # seconds between two attempts
UNAVAILABLE = (OperationalError, InterfaceError)  # locked, connection lost, server restarting
P = ParamSpec("P")
T = TypeVar("T")


class DatabaseUnavailable(ProbingError):
    """The database could not be read or written for minutes; nothing that was stored is lost."""

    code = "database-unavailable"
    permanent = False


def patiently(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call `function` again and again until the database lets it finish.

    The function must do no harm when it is called again after a commit whose confirmation was lost. Inside a
    transaction it is called once, as only the whole transaction can be repeated. Raises `DatabaseUnavailable` when the
    database has not answered for `PATIENCE` seconds.
    """
    end, pause = time.monotonic() + PATIENCE, FIRST_PAUSE
    while True:
        try:
            return function(*args, **kwargs)
        except UNAVAILABLE as error:
            if connection.in_atomic_block:
                raise
            connection.close()
            if time.monotonic() > end:
                raise DatabaseUnavailable(
                    f"The database did not answer for {PATIENCE:.0f} seconds.", "The run goes on when it is back."
                ) from error
            if pause == FIRST_PAUSE:
                log.warning("The database does not answer (%s). Trying again for %.0f seconds.", error, PATIENCE)
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
