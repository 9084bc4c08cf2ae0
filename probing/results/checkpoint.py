"""The finished parts of an unfinished run: `<out>.partial/`, from which the run goes on."""

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from probing.errors import BadInput
from probing.files.folders import new_file, new_folder
from probing.plan import Part

RUN = "run.json"
TOKENS_SUFFIX = "tokens.parquet"
AGAIN = "Remove it: the same command probes this part again."


@dataclass(frozen=True)
class Partial:
    """A folder with a Parquet file and a record for each finished part, and the identity of the run they belong to.

    `with_tokens`: a part is finished only if the scores of its single tokens are stored as well.
    """

    folder: Path
    with_tokens: bool = False

    @classmethod
    def open(cls, out: Path, identity: Mapping[str, Any], *, resume: bool, with_tokens: bool = False) -> "Partial":
        """Open the partial folder of the run whose result will be the folder `out`.

        A folder with parts of another run, or one that is not a partial run, is left alone and refused. Without
        `resume` the run starts from nothing: a loaded model that does not name its weights may be another one.
        """
        folder = partial_folder(out)
        if (folder / RUN).is_file():
            if any(folder.glob("*.parquet")):
                _refuse_other(folder, identity)
                if resume:
                    return cls(folder, with_tokens)
            shutil.rmtree(folder)
        with new_folder(folder) as new:
            _write_json(new / RUN, {"identity": identity})
        return cls(folder, with_tokens)

    def has(self, part: Part) -> bool:
        suffixes = ("json", "parquet", *([TOKENS_SUFFIX] if self.with_tokens else []))
        return all(self._path(part, suffix).is_file() for suffix in suffixes)

    def tokens(self, part: Part) -> Path | None:
        """Return the file for the scores of a part's tokens, which is written before its rows; None without tokens."""
        return self._path(part, TOKENS_SUFFIX) if self.with_tokens else None

    def store(self, part: Part, rows: pd.DataFrame, record: Mapping[str, Any]) -> None:
        """Write the record and then the rows: a part that has both files is finished."""
        _write_json(self._path(part, "json"), {"record": record})
        with new_file(self._path(part, "parquet")) as path:
            rows.to_parquet(path, index=False)

    def rows(self, part: Part) -> pd.DataFrame:
        path = self._path(part, "parquet")
        with _readable(path, AGAIN):
            return pd.read_parquet(path)

    def record(self, part: Part) -> dict[str, Any]:
        path = self._path(part, "json")
        with _readable(path, AGAIN):
            return dict(_read_json(path)["record"])

    def records(self, covered: Sequence[Part]) -> list[dict[str, Any]]:
        return [self.record(part) for part in covered]

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def _path(self, part: Part, suffix: str) -> Path:
        return self.folder / f"{part.relation}-{part.template}.{suffix}"


def partial_folder(out: Path) -> Path:
    """Return the folder of the finished parts of a run whose result will be the folder `out`."""
    return out.parent / f"{out.name}.partial"


def _refuse_other(folder: Path, identity: Mapping[str, Any]) -> None:
    remove = "Remove it or choose another --out."
    with _readable(folder, remove):
        stored = _read_json(folder / RUN)["identity"]
    if stored != identity:
        raise BadInput(f"{folder} holds parts of a different run (other model, benchmark or settings).", remove)


@contextmanager
def _readable(path: Path, next_step: str) -> Iterator[None]:
    try:
        yield
    except (ValueError, LookupError, TypeError, pa.ArrowException) as error:
        raise BadInput(f"{path} cannot be read.", next_step) from error


def _read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _write_json(target: Path, values: Mapping[str, Any]) -> None:
    with new_file(target) as path:
        path.write_text(json.dumps(values, indent=1), encoding="utf-8")
