"""What a study has measured: tidy scores of all models on all benchmarks, their results on disk, and tables."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from probing.analysis.accuracy import SCORE_COLUMNS
from probing.analysis.breakdown import OVERALL
from probing.errors import BadInput
from probing.files.folders import new_file
from probing.probes import probe_named
from probing.results.result import Result

PAIR_COLUMNS = ["model", "benchmark", "commit", "version", "probe"]
TABLE, SPREADSHEET, CONFIG = "study.parquet", "study.csv", "study.yaml"


class Pair(NamedTuple):
    """The names of a model and of a benchmark in a study."""

    model: str
    benchmark: str

    def __str__(self) -> str:
        return f"{self.model} on {self.benchmark}"

    @property
    def folder_name(self) -> str:
        """The name of the result's folder below that of the study."""
        return f"{self.model.replace('/', '--')}/{self.benchmark}"


@dataclass(frozen=True)
class Study:
    """Results of several models on several benchmarks.

    `folders`: the result folder of each pair, in the order in which they were named. `scores`: tidy scores of all of
    them, with the columns `model`, `benchmark`, `commit`, `version` (of the benchmark) and `probe` in front.
    `failures`: why a pair has no result.

    Examples:
        >>> import probing
        >>> models, capitals = ["openai-community/gpt2", "distilbert/distilgpt2"], {"relations": ["country_capital"]}
        >>> study = probing.study(models, ["starter"], out="study", sample=2, progress=False, **capitals)
        >>> len(study.result("distilbert/distilgpt2", "starter").items)
        2
    """

    folders: Mapping[Pair, Path]
    scores: pd.DataFrame
    failures: Mapping[Pair, str] = field(default_factory=dict)

    @property
    def table(self) -> pd.DataFrame:
        """The overall score of each pair in the main metric of its probe, one row each."""
        main = self.scores["probe"].map(lambda probe: probe_named(probe).main_metric)
        rows = self.scores[(self.scores["metric"] == main) & (self.scores["dimension"] == OVERALL)]
        return rows[["model", "benchmark", "metric", "value", "low", "high", "n"]].reset_index(drop=True)

    def result(self, model: str, benchmark: str) -> Result:
        """Read the result of a pair by its names."""
        pair = Pair(model, benchmark)
        if pair not in self.folders:
            raise BadInput(f"This study has no result of {pair}.", f"It has: {'; '.join(map(str, self.folders))}.")
        return Result.load(self.folders[pair])

    def save(self, folder: Path) -> None:
        """Write the table of all scores as Parquet and as CSV, in place of earlier ones."""
        with new_file(folder / TABLE) as path:
            self.scores.to_parquet(path, index=False)
        with new_file(folder / SPREADSHEET) as path:
            self.scores.to_csv(path, index=False)

    def _repr_html_(self) -> str:
        """Return what notebooks show: the table, and why pairs have no result."""
        table = self.table.to_html(index=False, float_format="{:.4g}".format, na_rep="", border=0)
        failures = [f"<p>{escape(f'{pair}: {reason}')}</p>" for pair, reason in self.failures.items()]
        return f"<div>{table}{''.join(failures)}</div>"


def with_pair(result: Result, pair: Pair) -> pd.DataFrame:
    """Return the scores of a pair's result with the columns of `PAIR_COLUMNS` in front."""
    record = result.record
    values: dict[str, Any] = {
        "model": pair.model,
        "benchmark": pair.benchmark,
        "commit": record["model"].get("commit", ""),
        "version": record["benchmark"].get("version", ""),
        "probe": record["probe"],
    }
    return pd.concat([pd.DataFrame(values, index=result.scores.index, columns=PAIR_COLUMNS), result.scores], axis=1)


def joined_pairs(scores: list[pd.DataFrame]) -> pd.DataFrame:
    """Return the scores of several pairs as one table, which has its columns even without any."""
    if not scores:
        return pd.DataFrame(columns=[*PAIR_COLUMNS, *SCORE_COLUMNS])
    return pd.concat(scores, ignore_index=True)
