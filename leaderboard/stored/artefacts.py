"""Files of runs in the artefact storage: parts while a run goes on, the result folder once it is finished."""

import hashlib
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
from django.core.files.base import ContentFile
from django.core.files.storage import Storage, storages

from leaderboard.models import Run, RunPart
from probing.files.folders import space
from probing.results.result import Result


def storage() -> Storage:
    return storages["artefacts"]


def folder(run: Run) -> str:
    """Return the run's folder within the storage."""
    return f"runs/{run.pk}"


def store_part(part: RunPart, rows: pd.DataFrame) -> str:
    """Store the rows of a part in place of older ones; return the SHA-256 of the stored file."""
    _store(part_name(part), rows.to_parquet(index=False))
    return digest_of_rows(rows)


def digest_of_rows(rows: pd.DataFrame) -> str:
    """Return the SHA-256 of the file in which rows are stored."""
    return hashlib.sha256(rows.to_parquet(index=False)).hexdigest()


def read_part(part: RunPart) -> pd.DataFrame:
    with storage().open(part_name(part)) as file:
        return pd.read_parquet(file)


def store_result(run: Run, result: Result) -> None:
    """Store the three files that the library writes: items.parquet, scores.csv, run.json."""
    with TemporaryDirectory() as scratch:
        result.save(Path(scratch) / "result")
        for path in (Path(scratch) / "result").iterdir():
            _store(f"{folder(run)}/{path.name}", path.read_bytes())


def remove_parts(run: Run) -> None:
    """Delete the rows of all parts, which the stored result contains."""
    for part in run.parts.all():
        storage().delete(part_name(part))


def part_name(part: RunPart) -> str:
    """Return the name of the file with the rows of a part."""
    return f"{folder(part.run)}/parts/{part.pk}.parquet"


def _store(name: str, content: bytes) -> None:
    """Store a file in place of an older one; a storage by itself would choose another name."""
    with space(Path(name)):
        storage().delete(name)
        storage().save(name, ContentFile(content))
