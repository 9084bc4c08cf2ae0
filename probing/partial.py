"""The finished parts of an unfinished run: `<out>.partial/`, from which the run goes on."""

import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd

from probing.disk import new_file, space
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

        Parts of another run are never mixed in.
        Without `resume` it starts anew: a loaded model that says nothing of its weights may not be the same one.
        """
        folder = out.with_name(out.name + ".partial")
        if not resume:
            shutil.rmtree(folder, ignore_errors=True)
        with space(folder):
            folder.mkdir(parents=True, exist_ok=True)
        if not (folder / RUN).is_file():
            _write(folder / RUN, {"identity": identity, "start": start.isoformat()})
        stored = json.loads((folder / RUN).read_text(encoding="utf-8"))
        if stored["identity"] != identity:
            raise BadInput(
                f"{folder} holds parts of a different run (other model, benchmark or settings).",
                "Remove it or choose another --out.",
            )
        return cls(folder, datetime.fromisoformat(stored["start"]))

    def has(self, part: Part) -> bool:
        return self._path(part, "parquet").is_file()

    def store(self, part: Part, rows: pd.DataFrame, cost: Cost) -> None:
        """The rows come last: a part that has them is done."""
        _write(self._path(part, "json"), asdict(cost))
        with new_file(self._path(part, "parquet")) as path:
            rows.to_parquet(path, index=False)

    def rows(self, part: Part) -> pd.DataFrame:
        return pd.read_parquet(self._path(part, "parquet"))

    def cost(self, part: Part) -> Cost:
        return Cost(**json.loads(self._path(part, "json").read_text(encoding="utf-8")))

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def _path(self, part: Part, suffix: str) -> Path:
        return self.folder / f"{part.relation}-{part.template}.{suffix}"


def _write(target: Path, values: Mapping[str, Any]) -> None:
    with new_file(target) as path:
        path.write_text(json.dumps(values, indent=1), encoding="utf-8")
