"""A result: one row per item and template, tidy scores, and the record of how they were made.

For people its scores are shown by group, as HTML in notebooks, as LaTeX for papers, and as a chart.
"""

import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from probing.analysis.accuracy import CHANCE, ITEM_COLUMNS, MAJORITY, SCORE_COLUMNS, tie_warnings
from probing.analysis.breakdowns import OVERALL
from probing.analysis.culture_metrics import PAIR_IN_LANGUAGE
from probing.analysis.option_scores import PER_OPTION, by_space
from probing.analysis.paired_tests import RESULT_NAMES
from probing.benchmark import ROW_KEY
from probing.dot_charts import dot_figure, write_dots
from probing.errors import BadInput, suggestion
from probing.files.folders import missing_path, new_folder, replaced_folder
from probing.probes import probe_named
from probing.probes.probe import finding
from probing.results.checkpoint import partial_folder
from probing.results.compared import PairedDifferences, refuse_other_benchmarks
from probing.results.rows import (
    ITEMS,
    NO_ROWS,
    OPTIONS,
    OptionRanges,
    keeps_rows,
    labels_of,
    ranges_from_json,
    refuse_without_rows,
    write_rows,
)
from probing.results.token_scores import TOKENS_FILE, join_tokens
from probing.results.unknown_names import unknown_names_in_words

SCORES = "scores.csv"
RECORD = "run.json"
# The columns or keys that each file must have, whatever the probe. Columns of scores that were added later are empty in
# older results.
NEEDED = {
    ITEMS: ROW_KEY,
    SCORES: ITEM_COLUMNS,  # results of older versions have no clustered intervals
    RECORD: ["model", "benchmark", "probe", "settings"],
}
FIGURES = ["value", "low", "high", "n"]
WITHOUT_MODEL = {"guessing": CHANCE, "always the commonest answer": MAJORITY}


@dataclass(frozen=True)
class Result:
    """What a run found: its rows, its scores, and how they were made.

    `items`: the rows of the probe; `scores`: tidy scores; `record`: what run.json holds; docs/result-files.md explains
    all columns. `options`: the options of the items, which `option_labels` returns.
    `rows`: the rows, or the file that has them, which is read when `items` are first used.

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

    rows: pd.DataFrame | Path
    scores: pd.DataFrame
    record: dict[str, Any]
    options: OptionRanges = field(default_factory=dict)

    @cached_property
    def items(self) -> pd.DataFrame:
        """The rows of the probe: one for each item and template. Raises `BadInput` where their file cannot be read."""
        if not isinstance(self.rows, Path):
            return self.rows
        with _readable(self.rows):
            return pd.read_parquet(self.rows)

    @property
    def items_without_options(self) -> pd.DataFrame:
        """The rows without the columns that hold a value for each option, which take most of the memory."""
        if not isinstance(self.rows, Path):
            return self.items.drop(columns=[*PER_OPTION], errors="ignore")
        with _readable(self.rows):
            columns = [name for name in pq.read_schema(self.rows).names if name not in PER_OPTION]
            return pd.read_parquet(self.rows, columns=columns)

    def option_labels(self, relation: str, index: int | None = None) -> tuple[str, ...]:
        """Return the labels of a relation's options, in the order of the column `scores`.

        `index`: that of the item, where the items of a relation have different options. Raises `BadInput`.
        """
        return labels_of(self.options, relation, index)

    def with_labels(self, options: pd.DataFrame) -> pd.DataFrame:
        """Return a table of `answer_bias` of these rows with the labels of all options.

        The rows alone tell the labels of those only that are right or predicted in one of them, so of few in a sample.
        """
        if not self.options:
            return options
        first = {space: part.iloc[0] for space, part in by_space(self.items[self.items["relation"].isin(self.options)])}
        labels = {space: self.option_labels(row["relation"], int(row["index"])) for space, row in first.items()}
        keys = zip(options["relation"], options["option"], strict=True)
        return options.assign(label=[labels[space][option] for space, option in keys])

    @property
    def notes(self) -> list[str]:
        """Remarks for readers: which items were asked, what happened on the way, and whether scores say anything."""
        notes = [*self.record.get("benchmark_notes", []), *self.record.get("batch", {}).get("notes", [])]
        notes += unknown_names_in_words(self.record)
        if not keeps_rows(self.record):
            notes.append(NO_ROWS)
        needs = probe_named(self.record["probe"]).needs
        if needs and not len(self._main_values):
            notes.append(f"There is no {self._main_metric}: it needs {needs}.")
        return [*notes, *tie_warnings(self.scores)]

    @property
    def findings(self) -> list[str]:
        """What the model does, in a sentence, beside what is reached without it; one for each pair of cultures.

        Where the run has no main metric, it says what this needs, if that is known.
        """
        probe, name = probe_named(self.record["probe"]), self.record["model"]["id"].rpartition("/")[2]
        scores = self.scores.dropna(subset=["value"])
        pairs = scores[scores["dimension"] == PAIR_IN_LANGUAGE]
        has_several = pairs["group"].nunique() > 1  # which are never pooled
        parts = pairs if has_several else scores[scores["dimension"] == OVERALL]
        sentences = []
        for group, own in parts.groupby("group", sort=False):
            figures = {row["metric"]: row for row in own.to_dict("records")}
            if main := figures.get(probe.main_metric):
                reached = {way: figures[metric]["value"] for way, metric in WITHOUT_MODEL.items() if metric in figures}
                sentence = finding(probe.finds, main["value"], (main["low"], main["high"]), main["n"], reached)
                sentences.append(f"{name}{f' ({group})' if has_several else ''} {sentence}.")
        if sentences or not probe.needs:
            return sentences
        return [f"There is no {probe.main_metric} of {name}: it needs {probe.needs}."]

    def by(self, dimension: str = OVERALL, metric: str = "") -> pd.DataFrame:
        """Return a metric, by default the main one of the probe, by the groups of a dimension such as "domain".

        The columns are `value`, `low`, `high` and `n`. Raises `BadInput` if there is no such score.
        """
        name = metric or self._main_metric
        of_metric = self.scores[self.scores["metric"] == name]
        if of_metric.empty:
            step = suggestion(name, self.scores["metric"].unique())
            raise BadInput(f"The result has no metric {name!r}.", step)
        groups = of_metric[of_metric["dimension"] == dimension]
        if groups.empty:
            step = suggestion(dimension, of_metric["dimension"].unique())
            raise BadInput(f"The metric {name} has no dimension {dimension!r}.", step)
        return groups.set_index("group")[FIGURES].rename_axis(dimension)

    def compare(self, *others: "Result") -> PairedDifferences:
        """Return the paired differences between this result and others on the same benchmark: what `compare` prints.

        A data frame, whose columns docs/methods/comparing.md explains. Raises `BadInput` if the results cannot be
        compared.

        Examples:
            >>> import probing
            >>> first, second = probing.Result.load("results"), probing.Result.load("other-results")
            >>> overall = first.compare(second).query("dimension == 'overall'").iloc[0]
            >>> float(overall["difference"]) == float(overall["second"] - overall["first"])
            True
        """
        for other in others:
            if not isinstance(other, Result):
                raise BadInput(f"{other!r:.80} is no result.", "Read a folder with probing.Result.load(folder).")
        if len(others) not in range(1, len(RESULT_NAMES)):
            step = f"Give one to {len(RESULT_NAMES) - 1}."
            raise BadInput(f"A result cannot be compared with {len(others)} others.", step)
        results = dict(zip(RESULT_NAMES, (self, *others), strict=False))
        refuse_other_benchmarks({f"the {name} result": result.record for name, result in results.items()})
        for result in results.values():
            refuse_without_rows(result.record, "A comparison")
        rows = {name: result.items for name, result in results.items()}
        return PairedDifferences.of(rows, {name: result.record for name, result in results.items()})

    def metrics(self, *dimensions: str) -> dict[str, float]:
        """Return the scores as numbers by name, for loggers such as Weights & Biases and MLflow.

        The names are `metric/dimension/group`, such as "accuracy/overall/all" and "accuracy/domain/Arts"; letters,
        digits, spaces and `_.-` are kept, as MLflow takes no others. Scores without a value are left out.
        Where two names would be equal, the later one ends in _2. `dimensions`: only these, such as "overall"; by
        default all.
        """
        values: dict[str, float] = {}
        columns = ["metric", "dimension", "group", "value"]
        for metric, dimension, group, value in self.scores[columns].itertuples(index=False):
            if pd.isna(value) or (dimensions and dimension not in dimensions):
                continue
            name, number = "/".join(map(_plain_name, (metric, dimension, group))), 2
            unique = name
            while unique in values:
                unique, number = f"{name}_{number}", number + 1
            values[unique] = float(value)
        return values

    def plot(self, dimension: str = OVERALL, metric: str = "", file: str | Path | None = None) -> Any:
        """Return a chart of Plotly with what `by` returns; needs the extra `plot`.

        It has a dot with its 95 % interval for each group. `file`: write it there as well, as a page (.html) or as a
        picture (.png, .svg, .pdf), which needs no browser; a picture is returned as a figure of matplotlib.
        """
        table, label = self.by(dimension, metric), metric or self._main_metric
        if file is not None:
            return write_dots(table, label, self._heading, Path(file))
        return dot_figure(table, label)

    def to_latex(self, dimension: str = OVERALL, metric: str = "") -> str:
        """Return what `by` returns as a LaTeX table, for the package booktabs, with special characters escaped."""
        table = self.by(dimension, metric)
        shown = table.rename(index=_latex_escaped).rename_axis(_latex_escaped(dimension))
        return shown.to_latex(float_format="%.3f", na_rep="", escape=False)

    def __repr__(self) -> str:
        """Return model, benchmark and the main score in a line, because rows and record would fill screens."""
        figures = [f"{self._main_metric} {value:.4g}" for value in self._main_values]
        return f"<Result {', '.join([self._heading, *figures])}>"

    def _repr_html_(self) -> str:
        """Return what notebooks show: model, benchmark, overall scores and notes, with all texts escaped."""
        overall = self.scores.loc[self.scores["dimension"] == OVERALL, ["metric", *FIGURES]].set_index("metric")
        table = overall.to_html(float_format="{:.4g}".format, na_rep="", border=0)
        remarks = "".join(f"<p>{escape(note)}</p>" for note in self.notes)
        return f"<div><p><strong>{escape(self._heading)}</strong></p>{table}{remarks}</div>"

    @property
    def _heading(self) -> str:
        benchmark = self.record["benchmark"]
        return f"{self.record['model']['id']} on {benchmark['slug']} {benchmark['version']} ({self.record['probe']})"

    @property
    def _main_metric(self) -> str:
        return probe_named(self.record["probe"]).main_metric

    @property
    def _main_values(self) -> pd.Series:
        """The main metric for the whole: one value, or none."""
        is_main = (self.scores["dimension"] == OVERALL) & (self.scores["metric"] == self._main_metric)
        return self.scores.loc[is_main, "value"].dropna()

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
        if file := self._complete_file():
            shutil.copyfile(file, folder / ITEMS)
        else:
            schema = pa.Schema.from_pandas(self.items, preserve_index=False)
            write_rows(folder / ITEMS, [self.items], schema, self.options)
        write_scores(folder, self.scores, self.record)

    def _complete_file(self) -> Path | None:
        """Return the file that has these rows and labels; None for rows in memory, which may have been changed."""
        if not isinstance(self.rows, Path) or "items" in vars(self):
            return None
        with _readable(self.rows):
            return self.rows if _stored_options(pq.read_schema(self.rows)) == self.options else None

    @classmethod
    def load(cls, folder: str | Path) -> "Result":
        """Read a result folder; raise `BadInput` where it is none or cannot be read."""
        folder = Path(folder)
        if not (folder.exists() or partial_folder(folder).is_dir()):
            raise BadInput(*missing_path(folder, "folder"))
        for name in (ITEMS, SCORES, RECORD):
            if not (folder / name).is_file():
                raise BadInput(f"{folder} is not a result: {name} is missing.", _next_step(folder))
        with _readable(folder):
            record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
            scores = pd.read_csv(
                folder / SCORES,
                dtype={"group": str},
                keep_default_na=False,
                na_values={name: [""] for name in ("value", "low", "high", "cluster_low", "cluster_high")},
            )
            columns = pq.read_schema(folder / ITEMS)
            options = _stored_options(columns)
            for name, content in {ITEMS: columns.names, SCORES: scores, RECORD: record}.items():
                if missing := [needed for needed in NEEDED[name] if needed not in content]:
                    raise ValueError(f"{name} has no {missing[0]!r}")
            return cls((folder / ITEMS).absolute(), scores.reindex(columns=SCORE_COLUMNS), record, options)


def _next_step(folder: Path) -> str:
    """Return what to do with a folder that is no result: one of an interrupted run, of a study or sweep, or another."""
    if (partial := partial_folder(folder)).is_dir():
        return f"Its run was interrupted; the same command goes on from {partial}."
    results = sorted(path.parent for pattern in (f"*/{RECORD}", f"*/*/{RECORD}") for path in folder.glob(pattern))
    return f"Give one of the results in it, such as {results[0]}." if results else "Give the folder of a finished run."


def write_scores(folder: Path, scores: pd.DataFrame, record: Mapping[str, Any]) -> None:
    """Write all files of a result but that of its rows."""
    scores.to_csv(folder / SCORES, index=False)
    (folder / RECORD).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def _stored_options(schema: pa.Schema) -> OptionRanges:
    """Return the options that a file of rows has beside its columns; none in a file of an older version."""
    return ranges_from_json((schema.metadata or {}).get(OPTIONS, b"{}"))


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except (ValueError, TypeError, pa.ArrowException, OSError) as error:
        raise BadInput(f"{path} cannot be read ({error}).", "Restore it from a copy or run again.") from error


def _plain_name(text: str) -> str:
    """Return a text with _ for everything that names of MLflow's metrics must not have."""
    plain = re.sub(r"[^\w .-]", "_", text)
    return plain if plain.strip(". ") else "_"


def _latex_escaped(text: str) -> str:
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(special.get(letter, f"\\{letter}" if letter in "&%$#_{}" else letter) for letter in text)
