"""What a sweep has measured: tidy scores of all checkpoints, their results on disk, a table and a chart."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from probing.analysis.accuracy import SCORE_COLUMNS
from probing.analysis.breakdown import OVERALL
from probing.analysis.trajectories import Changes, changes, relative_to_first
from probing.errors import BadInput
from probing.files.folders import new_file
from probing.probes import probe_named
from probing.probes.probe import shared_tags
from probing.results.kept_rows import refuse_without_rows
from probing.results.result import Result
from probing.revisions import position
from probing.sweeps.chart import trajectory_chart

POINT_COLUMNS = ["revision", "commit", "step", "tokens"]
POINT_TYPES = {"step": "Int64", "tokens": "Int64"}  # which can be missing
TABLE, CHART = "sweep.parquet", "sweep.html"


@dataclass(frozen=True)
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

    @property
    def revisions(self) -> list[str]:
        return list(self.folders)

    @property
    def items(self) -> pd.DataFrame:
        """The rows of all results, with the same columns in front; they are read from disk each time."""
        results = {revision: self.result(revision) for revision in self.folders}
        tables = [with_point(result.items, name, result.record) for name, result in results.items()]
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
            raise BadInput(f"There is no metric {metric!r:.80}.", f"Choose from: {', '.join(metrics)}.")
        return trajectory_chart(scores, metric, self.title)

    def save(self, folder: Path) -> None:
        """Write the table of all scores and the chart, a page that needs no network, in place of earlier ones."""
        with new_file(folder / TABLE) as path:
            self.scores.to_parquet(path, index=False)
        with new_file(folder / CHART) as path:
            self.plot().write_html(path, include_plotlyjs=True)


def with_point(table: pd.DataFrame, revision: str, record: Mapping[str, Any]) -> pd.DataFrame:
    """Return rows or scores of a revision's result with the columns of `POINT_COLUMNS` in front."""
    point = position(revision)
    values: dict[str, Any] = {
        "revision": revision,
        "commit": record["model"].get("commit", ""),
        "step": point.step if point else None,
        "tokens": point.tokens if point else None,
    }
    points = pd.DataFrame(values, index=table.index).astype(POINT_TYPES)
    return pd.concat([points, table], axis=1)


def joined_scores(scores: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the scores of several revisions as one table, which has its columns even without any."""
    if not scores:
        return pd.DataFrame(columns=[*POINT_COLUMNS, *SCORE_COLUMNS])
    return pd.concat(scores, ignore_index=True)
