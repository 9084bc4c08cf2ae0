"""The finished parts of an unfinished run: `<out>.partial/`, from which the run goes on."""

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from probing.disk import new_file, new_folder
from probing.errors import BadInput
from probing.result import Cost
from probing.settings import Part

RUN = "run.json"


@dataclass(frozen=True)
class Partial:
    """One Parquet file per part, its cost beside it, and what run they belong to."""

    folder: Path
    start: datetime

    @classmethod
    def open(cls, out: Path, identity: Mapping[str, Any], start: datetime, *, resume: bool) -> "Partial":
        """The partial folder of the run that will be `out`, begun at `start` unless it is there.

        Parts of another run are never mixed in, and what is no run's is never touched.
        Without `resume` it starts anew: a loaded model that says nothing of its weights may not be the same one.
        """
        folder = out.with_name(out.name + ".partial")
        if (folder / RUN).is_file():
            begun = _begun(folder, identity)
            if resume:
                return cls(folder, begun)
            shutil.rmtree(folder)
        with new_folder(folder) as new:
            _write(new / RUN, {"identity": identity, "start": start.isoformat()})
        return cls(folder, start)

    def has(self, part: Part) -> bool:
        return self._path(part, "parquet").is_file()

    def store(self, part: Part, rows: pd.DataFrame, cost: Cost) -> None:
        """The rows come last: a part that has them is done."""
        _write(self._path(part, "json"), asdict(cost))
        with new_file(self._path(part, "parquet")) as path:
            rows.to_parquet(path, index=False)

    def rows(self, part: Part) -> pd.DataFrame:
        path = self._path(part, "parquet")
        with _readable(path, "Remove it: the same command asks this part again."):
            return pd.read_parquet(path)

    def cost(self, part: Part) -> Cost:
        return Cost(**json.loads(self._path(part, "json").read_text(encoding="utf-8")))

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def _path(self, part: Part, suffix: str) -> Path:
        return self.folder / f"{part.relation}-{part.template}.{suffix}"


def _begun(folder: Path, identity: Mapping[str, Any]) -> datetime:
    """When the run began whose parts these are; raises `BadInput` if it is another one."""
    remove = "Remove it or choose another --out."
    with _readable(folder, remove):
        stored = json.loads((folder / RUN).read_text(encoding="utf-8"))
        found, begun = stored["identity"], datetime.fromisoformat(stored["start"])
    if found != identity:
        raise BadInput(f"{folder} holds parts of a different run (other model, benchmark or settings).", remove)
    return begun


@contextmanager
def _readable(path: Path, next_step: str) -> Iterator[None]:
    try:
        yield
    except (ValueError, LookupError, TypeError, pa.ArrowException) as error:
        raise BadInput(f"{path} cannot be read.", next_step) from error


def _write(target: Path, values: Mapping[str, Any]) -> None:
    with new_file(target) as path:
        path.write_text(json.dumps(values, indent=1), encoding="utf-8")
