"""A result: one row per item and template, tidy scores, and the record of how they were made."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from probing.analysis.accuracy import ITEM_COLUMNS, SCORE_COLUMNS
from probing.benchmark import ROW_KEY, Benchmark
from probing.errors import BadInput, Incomplete
from probing.files.folders import new_folder, replaced_folder
from probing.probes.parts import narrowed, parts
from probing.results.tokens import TOKENS_FILE, join_tokens
from probing.settings import Settings

ITEMS = "items.parquet"
SCORES = "scores.csv"
RECORD = "run.json"
ROW_GROUP = 4096  # rows of items that a reader of single ones must read at once
# The columns or keys that each file must have, whatever the probe. Columns of scores that were added later are empty in
# older results.
NEEDED = {
    ITEMS: ROW_KEY,
    SCORES: ITEM_COLUMNS,  # results of older versions have no clustered intervals
    RECORD: ["model", "benchmark", "probe", "settings"],
}


@dataclass(frozen=True)
class Result:
    """`items`: the rows of the probe; `scores`: tidy scores; `record`: what run.json holds."""

    items: pd.DataFrame
    scores: pd.DataFrame
    record: dict[str, Any]

    def save(self, folder: str | Path, tokens: Sequence[Path] = ()) -> None:
        """Write the result folder: all of it or nothing, and never over another one.

        `tokens`: the files with the scores of the parts' tokens, which are joined to one.
        """
        with new_folder(Path(folder).resolve()) as new:
            self._write(new)
            if tokens:
                join_tokens(tokens, new / TOKENS_FILE)

    def replace(self, folder: str | Path) -> None:
        """Put this result in place of the one in the folder, in one step; other files in the folder are kept."""
        with replaced_folder(Path(folder).resolve()) as new:
            self._write(new)

    def _write(self, folder: Path) -> None:
        self.items.to_parquet(folder / ITEMS, index=False, row_group_size=ROW_GROUP)
        self.scores.to_csv(folder / SCORES, index=False)
        (folder / RECORD).write_text(json.dumps(self.record, indent=1) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: str | Path) -> "Result":
        """Read a result folder."""
        folder = Path(folder)
        for name in (ITEMS, SCORES, RECORD):
            if not (folder / name).is_file():
                raise BadInput(f"{folder} is not a result: {name} is missing.", "Give the folder of a finished run.")
        try:
            record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
            scores = pd.read_csv(
                folder / SCORES,
                dtype={"group": str},
                keep_default_na=False,
                na_values={name: [""] for name in ("value", "low", "high", "cluster_low", "cluster_high")},
            )
            items = pd.read_parquet(folder / ITEMS)
            for name, content in {ITEMS: items, SCORES: scores, RECORD: record}.items():
                if missing := [needed for needed in NEEDED[name] if needed not in content]:
                    raise ValueError(f"{name} has no {missing[0]!r}")
            return cls(items, scores.reindex(columns=SCORE_COLUMNS), record)
        except (ValueError, TypeError, pa.ArrowException) as error:
            raise BadInput(f"{folder} cannot be read ({error}).", "Restore it from a copy or run again.") from error


def join(frames: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Return the rows of all parts, in the order given."""
    return pd.concat(frames, ignore_index=True)


def check_complete(rows: pd.DataFrame, benchmark: Benchmark, settings: Settings) -> None:
    """Raise `Incomplete` unless each item of each part has exactly one row, with finite scores.

    Rows of a probe that does not score options have no scores.
    """
    expected = _expected(benchmark, settings)
    keys = list(zip(*(rows[column].tolist() for column in ROW_KEY), strict=True)) if len(rows) else []
    missing = expected.keys() - set(keys)
    if missing:
        first = next(key for key in expected if key in missing)
        raise Incomplete(f"{len(missing)} of {len(expected)} rows are missing, the first is {_row(first)}.", _AGAIN)
    if len(keys) != len(expected):
        raise Incomplete(f"There are {len(keys)} rows for {len(expected)} items and templates.", _AGAIN)
    for key, scores in zip(keys, rows["scores"], strict=True) if "scores" in rows else ():
        if len(scores) != expected[key] or not np.isfinite(np.asarray(scores, dtype=float)).all():
            raise Incomplete(f"The scores of {_row(key)} are not all there.", _AGAIN)


_AGAIN = "Run it again: complete parts are not repeated."


def _expected(benchmark: Benchmark, settings: Settings) -> dict[tuple[str, int, int], int]:
    """Return how many scores each row must have."""
    chosen = narrowed(benchmark, settings)
    return {
        (relation.label, part.template, item.index): len(relation.options_of(item))
        for part in parts(benchmark, settings)
        for relation in [chosen[part.relation]]
        for item in relation.items
    }


def _row(key: tuple[str, int, int]) -> str:
    return f"relation {key[0]}, template {key[1]}, item {key[2]}"
