"""What prompting changes in the specificity of models, and how similar models are (methods 2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from leaderboard.display import cells, charts
from leaderboard.display.charts import Chart, Point
from leaderboard.display.columns import model_column, source_column
from leaderboard.display.figures import figure
from leaderboard.display.sections import Section
from leaderboard.display.tables import Column, Table
from leaderboard.models import Run
from leaderboard.probe_pages.specificity_runs import (
    MEAN,
    VANILLA,
    ScoresByGroup,
    comparable_settings,
    distinct_labels,
    if_published,
    prompting,
    settings_in_words,
)

CHANGE = "acc_at_10_fine_change"  # the paper prints no absolute figure


@dataclass(frozen=True)
class Change:
    """The differences of a prompting from vanilla prompting of the same model."""

    run: Run
    specificity: float
    accuracy: float | None


def changes(runs: Sequence[Run], scores: Mapping[int, ScoresByGroup]) -> Section | None:
    """Return the change of Acc@10 of the fine answer against the change of specificity (the paper's Table 8)."""
    vanilla = {comparable_settings(run): scores[run.pk] for run in runs if prompting(run) == VANILLA}
    others = [run for run in runs if prompting(run) != VANILLA and comparable_settings(run) in vanilla]
    rows = [change for run in others if (change := _change(run, scores[run.pk], vanilla[comparable_settings(run)]))]
    if not rows:
        return None
    title = "What prompting changes"
    columns = [
        model_column(lambda change: change.run),
        Column("prompting", "Prompting", lambda change: cells.text(settings_in_words(change.run))),
        Column("specificity", "Specificity", lambda change: cells.signed(change.specificity), align="number"),
        Column("accuracy", "Acc@10, fine answer", lambda change: cells.signed(change.accuracy), align="number"),
        source_column(lambda change: change.run),
    ]
    table = Table(name="changes", caption="Change from vanilla prompting", columns=columns, rows=rows)
    points = [_change_point(change) for change in rows if change.accuracy is not None]
    better = sum(change.specificity > 0 for change in rows)
    summary = f"Specificity is higher than with vanilla prompting in {better} of {len(rows)} cases."
    chart = charts.changes(points, "change of specificity", "change of Acc@10, fine answer")
    return Section("changes", title, table, Chart("changes", title, summary, chart))


def _change(run: Run, own: ScoresByGroup, vanilla: ScoresByGroup) -> Change | None:
    specificity = _difference(own, vanilla, "specificity")
    if specificity is None:
        return None
    printed = own.get((CHANGE, MEAN))
    return Change(run, specificity, printed.value if printed else _difference(own, vanilla, "acc_at_10_fine"))


def _difference(own: ScoresByGroup, vanilla: ScoresByGroup, metric: str) -> float | None:
    one, other = (scores.get((metric, MEAN)) for scores in (own, vanilla))
    if not one or not other or one.value is None or other.value is None:
        return None
    return one.value - other.value


def _change_point(change: Change) -> Point:
    group = ", ".join([prompting(change.run), *if_published(change.run)])
    address = change.run.get_absolute_url()
    return Point(change.run.name, change.accuracy or 0.0, x=change.specificity, group=group, href=address)


def alike(runs: Sequence[Run], scores: Mapping[int, ScoresByGroup]) -> Section | None:
    """Return the Pearson correlations of each two models' specificity over relations, under vanilla prompting."""
    profiles = {run: _profile(scores[run.pk]) for run in runs if prompting(run) == VANILLA}
    groups = list(dict.fromkeys(group for profile in profiles.values() for group in profile))
    comparable = [run for run, profile in profiles.items() if _correlates(profile, len(groups))]
    if len(comparable) < 2:
        return None
    matrix = np.corrcoef([[profiles[run][group] for group in groups] for run in comparable])
    mean = np.mean([matrix[pair] for pair in combinations(range(len(comparable)), 2)])
    mixed = len({run.provenance for run in comparable}) > 1
    labels = {run.pk: ", ".join([run.name, *(if_published(run) if mixed else [])]) for run in comparable}
    names = list(distinct_labels(labels).values())
    title = "How similar models are"
    summary = f"{len(names)} models, mean pairwise correlation {figure(mean)}."
    chart = charts.heatmap([name.rpartition("/")[-1] for name in names], matrix.tolist())
    return Section("alike", title, _correlations_table(names, matrix), Chart("alike", title, summary, chart))


def _correlations_table(names: Sequence[str], matrix: NDArray[np.float64]) -> Table[int]:
    columns: list[Column[int]] = [Column("model", "Model", lambda row: cells.text(names[row]), align="head")]
    columns += [_correlation_column(name, correlations) for name, correlations in zip(names, matrix, strict=True)]
    caption = "Correlation of specificity over relations, vanilla prompting"
    return Table(name="alike", caption=caption, columns=columns, rows=list(range(len(names))), sortable=False)


def _correlation_column(name: str, correlations: NDArray[np.float64]) -> Column[int]:
    return Column(name, name, lambda row: cells.number(float(correlations[row])), align="number")


def _correlates(profile: Mapping[str, float], groups: int) -> bool:
    """Tell whether a profile has a value on all of more than two relations, and not the same value on all."""
    return len(profile) == groups > 2 and len(set(profile.values())) > 1


def _profile(scores: ScoresByGroup) -> dict[str, float]:
    return {
        group: score.value
        for (metric, group), score in scores.items()
        if metric == "specificity" and group != MEAN and score.value is not None
    }
