"""What a study has measured: tidy scores of all models on all benchmarks, their results on disk, tables and charts.

The chart of a sweep shows scores over a training with their intervals, and a menu that selects a breakdown.
"""

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from probing.analysis.accuracy import SCORE_COLUMNS
from probing.analysis.breakdowns import OVERALL
from probing.analysis.intervals import over_seeds
from probing.analysis.steps import Changes, changes, relative_to_first
from probing.chart_template import ERROR_BAR, LIGHT, chart_template, trace_menu
from probing.errors import BadInput, suggestion
from probing.extras import graph_objects
from probing.files.folders import new_file
from probing.probes import probe_named
from probing.probes.probe import shared_tags
from probing.results.result import Result
from probing.results.rows import refuse_without_rows
from probing.revisions import position

PAIR_COLUMNS = ["model", "benchmark", "commit", "version", "probe"]
POINT_COLUMNS = ["revision", "commit", "step", "tokens"]
POINT_TYPES = {"step": "Int64", "tokens": "Int64"}  # which can be missing
TABLE, SPREADSHEET, CONFIG = "study.parquet", "study.csv", "study.yaml"
SWEEP_TABLE, CHART = "sweep.parquet", "sweep.html"
TASK = "The chart of a sweep"
MOST_GROUPS = 40  # lines of a breakdown; more cannot be told apart


class Pair(NamedTuple):
    """The names of a model and of a benchmark in a study.

    `revision`: the checkpoint of the model, empty where the study names no revisions of it.
    """

    model: str
    benchmark: str
    revision: str = ""

    def __str__(self) -> str:
        return f"{self._model_name} on {self.benchmark}"

    @property
    def folder_name(self) -> str:
        """The name of the result's folder below that of the study, with -- for each slash of the model's name.

        Behind the model stands `@<revision>` where the study names revisions; `-start-<token>` is part of its name.
        """
        return f"{self._model_name.replace('/', '--')}/{self.benchmark}"

    @property
    def _model_name(self) -> str:
        return f"{self.model}@{self.revision}" if self.revision else self.model


@dataclass(frozen=True, repr=False)
class Sweep:
    """Results of the checkpoints of one training.

    `folders`: the result folder of each revision, in the order of the training. `scores`: tidy scores of all of them,
    with the columns `revision`, `commit`, `step` and `tokens` in front. `failures`: why a revision has no result.
    `probe`: the name of the probe. `title`: the model and the benchmark.

    Examples:
        >>> import probing
        >>> capitals = {"relations": ["country_capital"], "progress": False}
        >>> swept = probing.sweep("training", "starter", revisions="all", out="curve", **capitals)
        >>> swept.scores.columns[:4].tolist()
        ['revision', 'commit', 'step', 'tokens']
        >>> sum(swept.changes("checkpoint-0", "checkpoint-500").counts().values()) == len(swept.items) / 2
        True
        >>> chart = swept.plot()
    """

    folders: Mapping[str, Path]
    scores: pd.DataFrame
    probe: str
    title: str
    failures: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        """Return what the sweep holds in numbers, because its scores would fill screens."""
        return f"<Sweep {self.title}: {_counted(self.folders, self.failures, 'revision')}>"

    @property
    def revisions(self) -> list[str]:
        return list(self.folders)

    @property
    def items(self) -> pd.DataFrame:
        """The rows of all results, with the same columns in front; they are read from disk each time."""
        results = {revision: self.result(revision) for revision in self.folders}
        tables = [_in_front(_point(name, result.record), result.items) for name, result in results.items()]
        return pd.concat(tables, ignore_index=True)

    @property
    def relative(self) -> pd.DataFrame:
        """The scores with the columns `percent`, `percent_low` and `percent_high`: relative to the first revision."""
        return relative_to_first(self.scores)

    def result(self, revision: str) -> Result:
        """Read the result of a revision."""
        if revision not in self.folders:
            raise BadInput(f"This sweep has no result of {revision!r:.80}.", f"It has: {', '.join(self.folders)}.")
        return Result.load(self.folders[revision])

    def changes(self, first: str, second: str) -> Changes:
        """Return which items were learned and forgotten between two revisions, with shares by every tag."""
        results = [self.result(revision) for revision in (first, second)]
        for result in results:
            refuse_without_rows(result.record, "A comparison")
        before, after = (result.items for result in results)
        probe = probe_named(self.probe)
        return changes(before, after, shared_tags(probe, {"before": before, "after": after}), probe.correctness)

    def plot(self, metric: str = "") -> Any:
        """Return a chart of a metric over the training, by default the probe's main one; a menu selects breakdowns."""
        metric = metric or probe_named(self.probe).main_metric
        scores = self.scores[self.scores["metric"] == metric]
        if scores.empty or OVERALL not in set(scores["dimension"]):
            metrics = self.scores.loc[self.scores["dimension"] == OVERALL, "metric"].unique()
            raise BadInput(f"There is no metric {metric!r:.80}.", suggestion(str(metric), metrics))
        return trajectory_chart(scores, metric, self.title)

    def _repr_html_(self) -> str:
        """Return what notebooks show: the main score of each revision, and why some have none."""
        is_main = self.scores["metric"] == (probe_named(self.probe).main_metric if self.probe else "")
        rows = self.scores[is_main & (self.scores["dimension"] == OVERALL)]
        columns = ["revision", "step", "metric", "value", "low", "high", "n"]
        return _as_html(rows[columns], self.failures)

    def save(self, folder: Path) -> None:
        """Write the table of all scores and the chart, a page that needs no network, in place of earlier ones."""
        with new_file(folder / SWEEP_TABLE) as path:
            self.scores.to_parquet(path, index=False)
        with new_file(folder / CHART) as path:
            self.plot().write_html(path, include_plotlyjs=True)


@dataclass(frozen=True, repr=False)
class Study:
    """Results of several models on several benchmarks.

    `folders`: the result folder of each pair, in the order in which they were named. `scores`: tidy scores of all of
    them, with the columns `model`, `benchmark`, `commit`, `version` (of the benchmark) and `probe` in front, and with
    `revision`, `step` and `tokens` where the study names revisions. `failures`: why a pair has no result.

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

    def __repr__(self) -> str:
        """Return what the study holds in numbers, because its scores would fill screens."""
        pairs = [*self.folders, *self.failures]
        models, benchmarks = (len({pair[place] for pair in pairs}) for place in (0, 1))
        sizes = f"{_number(models, 'model')} and {_number(benchmarks, 'benchmark')}"
        return f"<Study of {sizes}: {_counted(self.folders, self.failures, 'result')}>"

    @property
    def table(self) -> pd.DataFrame:
        """The overall score of each pair in the main metric of its probe, one row each."""
        main = self.scores["probe"].map(lambda probe: probe_named(probe).main_metric)
        rows = self.scores[(self.scores["metric"] == main) & (self.scores["dimension"] == OVERALL)]
        revision = [name for name in ("revision",) if name in rows]
        return rows[["model", *revision, "benchmark", "metric", "value", "low", "high", "n"]].reset_index(drop=True)

    @property
    def replicates(self) -> pd.DataFrame:
        """Mean and spread of the rows of `table` that differ in nothing but a seed in a name, one row each group."""
        table = self.table
        names = [name for name in ("model", "revision", "benchmark", "metric") if name in table]
        return over_seeds(table, names)

    def result(self, model: str, benchmark: str, revision: str = "") -> Result:
        """Read the result of a pair by its names."""
        pair = Pair(model, benchmark, revision)
        if pair not in self.folders:
            raise BadInput(f"This study has no result of {pair}.", f"It has: {'; '.join(map(str, self.folders))}.")
        return Result.load(self.folders[pair])

    def sweep(self, model: str, benchmark: str) -> Sweep:
        """Return the results of all revisions of a model on a benchmark: their chart over the training, and more."""
        of_both = [pair for pair in (*self.folders, *self.failures) if pair[:2] == (model, benchmark) and pair.revision]
        if not of_both:
            raise BadInput(f"This study has no revisions of {Pair(model, benchmark)}.", "Name some: revisions=all.")
        folders = {pair.revision: self.folders[pair] for pair in of_both if pair in self.folders}
        failures = {pair.revision: self.failures[pair] for pair in of_both if pair in self.failures}
        rows = (self.scores["model"] == model) & (self.scores["benchmark"] == benchmark)
        scores = self.scores[rows & (self.scores["revision"] != "")].reset_index(drop=True)
        probe = scores["probe"].iloc[0] if len(scores) else ""
        others = [name for name in PAIR_COLUMNS if name not in POINT_COLUMNS]
        return Sweep(folders, scores.drop(columns=others), probe, f"{model} on {benchmark}", failures)

    def save(self, folder: Path) -> None:
        """Write the table of all scores as Parquet and as CSV, in place of earlier ones."""
        with new_file(folder / TABLE) as path:
            self.scores.to_parquet(path, index=False)
        with new_file(folder / SPREADSHEET) as path:
            self.scores.to_csv(path, index=False)

    def _repr_html_(self) -> str:
        """Return what notebooks show: the table, and why pairs have no result."""
        return _as_html(self.table, self.failures)


def _counted(folders: Mapping[Any, Path], failures: Mapping[Any, str], name: str) -> str:
    words = _number(len(folders), name)
    return f"{words}, {len(failures):,} missing" if failures else words


def _number(count: int, name: str) -> str:
    return f"{count:,} {name}{'' if count == 1 else 's'}"


def _as_html(table: pd.DataFrame, failures: Mapping[Any, str]) -> str:
    reasons = "".join(f"<p>{html.escape(f'{name}: {reason}')}</p>" for name, reason in failures.items())
    return f"<div>{table.to_html(index=False, float_format='{:.4g}'.format, na_rep='', border=0)}{reasons}</div>"


def pair_scores(result: Result, pair: Pair) -> pd.DataFrame:
    """Return the scores of a pair's result with its names, its point of the training and its probe in front."""
    record = result.record
    values = {
        "model": pair.model,
        "benchmark": pair.benchmark,
        **_point(pair.revision, record),
        "version": record["benchmark"].get("version", ""),
        "probe": record["probe"],
    }
    return _in_front(values, result.scores)


def joined_pairs(tables: Sequence[pd.DataFrame], *, with_revisions: bool) -> pd.DataFrame:
    """Return the scores of several pairs as one table, which has its columns even without any.

    `with_revisions`: whether a pair names a revision; the columns about the training are left out otherwise.
    """
    names = ["model", "benchmark", *POINT_COLUMNS, "version", "probe"] if with_revisions else PAIR_COLUMNS
    columns = [*names, *SCORE_COLUMNS]
    if not tables:
        return pd.DataFrame(columns=columns)
    joined = pd.concat(tables, ignore_index=True)
    return joined.drop(columns=[name for name in POINT_COLUMNS if name not in names])


def _point(revision: str, record: Mapping[str, Any]) -> dict[str, Any]:
    step, tokens = position(revision) or (None, None)
    return {"revision": revision, "commit": record["model"].get("commit", ""), "step": step, "tokens": tokens}


def _in_front(cells: Mapping[str, Any], table: pd.DataFrame) -> pd.DataFrame:
    return pd.concat([pd.DataFrame(dict(cells), index=table.index).astype(POINT_TYPES), table], axis=1)


def trajectory_chart(scores: pd.DataFrame, metric: str, title: str) -> Any:
    """Return a chart of one metric over steps, or over the names of revisions where one of them states no step.

    `scores`: tidy scores of the metric with the columns `revision` and `step`, in the order of the training. A
    breakdown with more than 40 groups shows the first ones by name. Bars are 95 % intervals.
    """
    library = graph_objects(TASK)
    figure = library.Figure()
    has_steps = bool(scores["step"].notna().all())
    shown: list[str] = []
    dimensions = list(dict.fromkeys([OVERALL, *scores["dimension"]]))
    for dimension in dimensions:
        for trace in _traces(
            library, scores[scores["dimension"] == dimension], has_steps, visible=dimension == OVERALL
        ):
            figure.add_trace(trace)
            shown.append(dimension)
    figure.update_layout(
        title={"text": html.escape(title)},
        xaxis={
            "title": {"text": "step" if has_steps else "revision"},
            "type": "linear" if has_steps else "category",
            "fixedrange": False,
        },
        yaxis={"title": {"text": html.escape(metric)}},
        template=chart_template(LIGHT),
        showlegend=True,
        legend={"orientation": "v", "x": 1.02, "y": 1, "yanchor": "top"},
        margin={"t": 120, "b": 40},
        colorway=list(LIGHT.series),
        hovermode="x unified",
        updatemenus=[
            {**trace_menu(dimensions, shown), "y": 1.12, "yanchor": "top"},
            *([_axis_menu()] if has_steps else []),
        ],
    )
    return figure


def _traces(library: Any, scores: pd.DataFrame, has_steps: bool, visible: bool) -> Iterator[Any]:
    """Yield one line for each group of a dimension."""
    for group in sorted(scores["group"].unique())[:MOST_GROUPS]:
        line = scores[scores["group"] == group]
        values = line["value"].astype(float)
        yield library.Scatter(
            x=line["step"].astype(int) if has_steps else line["revision"].map(html.escape),
            y=values,
            name=html.escape(str(group)),
            mode="lines+markers",
            visible=visible,
            showlegend=True,
            error_y={
                **ERROR_BAR,
                "array": line["high"].astype(float) - values,
                "arrayminus": values - line["low"].astype(float),
            },
            customdata=line["revision"].map(html.escape),
            hovertemplate="%{y:.3f} (%{customdata})",
        )


def _axis_menu() -> dict[str, object]:
    """Return the menu that draws early steps further apart; step 0 has no place on a logarithmic axis."""
    kinds = {"linear steps": "linear", "logarithmic steps": "log"}
    buttons = [
        {"label": label, "method": "relayout", "args": [{"xaxis.type": kind, "xaxis.autorange": True}]}
        for label, kind in kinds.items()
    ]
    return {"buttons": buttons, "x": 1, "xanchor": "right", "y": 1.12, "yanchor": "top"}
