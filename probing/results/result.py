"""A result: one row per item and template, tidy scores, and the record of how they were made."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from probing.analysis.accuracy import ITEM_COLUMNS, SCORE_COLUMNS
from probing.analysis.breakdown import OVERALL
from probing.analysis.comparison import RESULT_NAMES
from probing.analysis.ties import tie_warnings
from probing.benchmark import ROW_KEY, Benchmark
from probing.catalog import open_benchmark
from probing.errors import BadInput, Incomplete
from probing.files.folders import new_folder, replaced_folder
from probing.probes import probe_named
from probing.probes.parts import narrowed, parts
from probing.results.column_descriptions import item_column
from probing.results.comparison import Comparison
from probing.results.kept_rows import NO_ROWS, keeps_rows, refuse_without_rows
from probing.results.option_labels import (
    NO_LABELS,
    OptionRanges,
    labels_of,
    option_ranges,
    ranges_as_json,
    ranges_from_json,
    refuse_other_labels,
)
from probing.results.presentation import as_chart, as_html, as_latex, as_metrics, by_group
from probing.results.skipped_items import left_out, without
from probing.results.tokens import TOKENS_FILE, join_tokens
from probing.settings import Settings

ITEMS = "items.parquet"
SCORES = "scores.csv"
RECORD = "run.json"
OPTIONS = b"clozeboard.options"  # the key of the options in the metadata of items.parquet
GROUP_ROWS = 8192  # rows of a row group of the items: to read some rows, a reader reads only their groups
# The columns or keys that each file must have, whatever the probe. Columns of scores that were added later are empty in
# older results.
NEEDED = {
    ITEMS: ROW_KEY,
    SCORES: ITEM_COLUMNS,  # results of older versions have no clustered intervals
    RECORD: ["model", "benchmark", "probe", "settings"],
}


@dataclass(frozen=True)
class Result:
    """What a run found: its rows, its scores, and how they were made.

    `items`: the rows of the probe; `scores`: tidy scores; `record`: what run.json holds; docs/result-files.md explains
    all columns. `options`: the options of the items, which `option_labels` returns.

    Examples:
        >>> import probing
        >>> result = probing.Result.load("results")
        >>> result.by("domain").columns.tolist()
        ['value', 'low', 'high', 'n']
        >>> result.option_labels("river_continent")
        ('Africa', 'Asia', 'Europe', 'North America', 'South America')
        >>> result.record["probe"]
        'multiple_choice'
    """

    items: pd.DataFrame
    scores: pd.DataFrame
    record: dict[str, Any]
    options: OptionRanges = field(default_factory=dict)

    def option_labels(self, relation: str, index: int | None = None) -> tuple[str, ...]:
        """Return the labels of a relation's options, in the order of the column `scores`.

        `index`: that of the item, where the items of a relation have different options. Raises `BadInput`.
        """
        return labels_of(self.options, relation, index)

    @property
    def notes(self) -> list[str]:
        """Remarks for readers: which items were asked, what happened on the way, and whether scores say anything."""
        notes = [*self.record.get("benchmark_notes", []), *self.record.get("batch", {}).get("notes", [])]
        if not keeps_rows(self.record):
            notes.append(NO_ROWS)
        if not self.options and "scores" in self.items and self.items["scores"].map(len).gt(1).any():
            notes.append(NO_LABELS)
        return [*notes, *tie_warnings(self.scores)]

    def by(self, dimension: str = OVERALL, metric: str = "") -> pd.DataFrame:
        """Return a metric, by default the main one of the probe, by the groups of a dimension such as "domain".

        The columns are `value`, `low`, `high` and `n`. Raises `BadInput` if there is no such score.
        """
        return by_group(self.scores, self.record["probe"], dimension, metric)

    def compare(self, *others: "Result") -> Comparison:
        """Return the paired differences between this result and others on the same benchmark: what `compare` prints.

        A data frame, whose columns docs/methods.md explains. Raises `BadInput` if the results cannot be compared.

        Examples:
            >>> import probing
            >>> first, second = probing.Result.load("results"), probing.Result.load("other-results")
            >>> overall = first.compare(second).query("dimension == 'overall'").iloc[0]
            >>> float(overall["difference"]) == float(overall["second"] - overall["first"])
            True
        """
        results = dict(zip(RESULT_NAMES, (self, *others), strict=False))
        digests = {result.record["benchmark"]["digest"] for result in results.values()}
        if len(others) not in range(1, len(RESULT_NAMES)) or len(digests) > 1:
            raise BadInput(
                "These results cannot be compared.",
                f"Give one to {len(RESULT_NAMES) - 1} others on the same version of the benchmark.",
            )
        for result in results.values():
            refuse_without_rows(result.record, "A comparison")
        rows = {name: result.items for name, result in results.items()}
        return Comparison.of(rows, {name: result.record for name, result in results.items()})

    def metrics(self, *dimensions: str) -> dict[str, float]:
        """Return the scores as numbers by name, for loggers such as Weights & Biases and MLflow.

        The names are `metric/dimension/group`, such as "accuracy/overall/all" and "accuracy/domain/Arts"; letters,
        digits, spaces and `_.-` are kept, as MLflow takes no others. Scores without a value are left out.
        `dimensions`: only these, such as "overall"; by default all.
        """
        return as_metrics(self.scores, dimensions)

    def plot(self, dimension: str = OVERALL, metric: str = "") -> Any:
        """Return a chart of Plotly with what `by` returns; needs `pip install "clozeboard[plot]"`."""
        return as_chart(self.by(dimension, metric), metric or probe_named(self.record["probe"]).main_metric)

    def to_latex(self, dimension: str = OVERALL, metric: str = "") -> str:
        """Return what `by` returns as a LaTeX table, which needs the package booktabs."""
        return as_latex(self.by(dimension, metric))

    def _repr_html_(self) -> str:
        """Return what notebooks show."""
        return as_html(self.record, self.scores, self.notes)

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
        table = pa.Table.from_pandas(self.items, preserve_index=False)
        columns = [column.with_metadata({"description": item_column(column.name)}) for column in table.schema]
        metadata = {**table.schema.metadata, OPTIONS: ranges_as_json(self.options).encode()}
        pq.write_table(table.cast(pa.schema(columns, metadata)), folder / ITEMS, row_group_size=GROUP_ROWS)
        self.scores.to_csv(folder / SCORES, index=False)
        (folder / RECORD).write_text(json.dumps(self.record, indent=1) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: str | Path, benchmark: str | Path | Benchmark | None = None) -> "Result":
        """Read a result folder.

        `benchmark`: the one that was asked (slug, folder or loaded). The labels of options are taken from it where the
        result was written before they were stored. Raises `BadInput` if it asks something else.
        """
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
            options = ranges_from_json((pq.read_schema(folder / ITEMS).metadata or {}).get(OPTIONS, b"{}"))
            for name, content in {ITEMS: items, SCORES: scores, RECORD: record}.items():
                if missing := [needed for needed in NEEDED[name] if needed not in content]:
                    raise ValueError(f"{name} has no {missing[0]!r}")
            result = cls(items, scores.reindex(columns=SCORE_COLUMNS), record, options)
        except (ValueError, TypeError, pa.ArrowException) as error:
            raise BadInput(f"{folder} cannot be read ({error}).", "Restore it from a copy or run again.") from error
        if benchmark is None or options or not keeps_rows(record):
            return result
        return result._with_labels(benchmark)

    def _with_labels(self, benchmark: str | Path | Benchmark) -> "Result":
        benchmark = benchmark if isinstance(benchmark, Benchmark) else open_benchmark(benchmark)
        settings = Settings.from_json(self.record["settings"])
        options = option_ranges(benchmark, settings)
        try:
            check_complete(self.items, benchmark, settings, self.record)
        except Incomplete as error:
            raise BadInput(f"{benchmark.slug} {benchmark.version} does not fit: {error.message}", _OTHER) from error
        refuse_other_labels(self.items, options)
        return replace(self, options=options)


def join(frames: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Return the rows of all parts, in the order given."""
    tables = list(frames)
    return pd.concat([table for table in tables if len(table)] or tables[:1], ignore_index=True)


def check_complete(rows: pd.DataFrame, benchmark: Benchmark, settings: Settings, record: Mapping[str, Any]) -> None:
    """Raise `Incomplete` unless each item of each part has exactly one row, with finite scores.

    `record`: what run.json holds; items that it names as too long for the model have no row. Rows of a probe that does
    not score options have no scores.
    """
    expected = _expected(benchmark, settings, record)
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


_OTHER = "Give the benchmark that was asked."
_AGAIN = "Run it again: complete parts are not repeated."


def _expected(benchmark: Benchmark, settings: Settings, record: Mapping[str, Any]) -> dict[tuple[str, int, int], int]:
    """Return how many scores each row must have."""
    chosen = narrowed(benchmark, settings)
    return {
        (relation.label, part.template, item.index): len(relation.options_of(item))
        for part in parts(benchmark, settings)
        for relation in [without(chosen[part.relation], left_out(record, part))]
        for item in relation.items
    }


def _row(key: tuple[str, int, int]) -> str:
    return f"relation {key[0]}, template {key[1]}, item {key[2]}"
