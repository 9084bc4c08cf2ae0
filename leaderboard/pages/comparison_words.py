"""What a comparison found: its runs and their figures by group, the verdict in words, and the charts."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from django.utils.text import get_text_list

from leaderboard.figures.comparisons import Comparison, short_names
from leaderboard.figures.item_rows import Row
from leaderboard.figures.scores import dimension_order
from leaderboard.models import Run, Score
from leaderboard.probes.breakdowns import group_href, hover_label
from leaderboard.probes.wording import Names, group_title
from leaderboard.ui import charts, labels, spelled
from leaderboard.ui.charts.basics import Chart, Point
from leaderboard.ui.charts.dot_plots import CERTAIN
from probing.analysis.answer_changes import difference_in_words
from probing.analysis.paired_tests import RESULT_NAMES
from probing.analysis.verdicts import ALIKE, BETTER, WORSE

Side = dict[str, Any]  # a compared run: what the comparison calls it, a short name, and its overall figure


def compared_runs(runs: Sequence[Run], differences: Sequence[Row]) -> list[Side]:
    """Return the runs with their overall figures and differences from the first run, which has none itself."""
    overall = [row for row in differences if row["dimension"] == "overall"]
    figures, changes = [_figure(overall[0], "first"), *(_figure(row, "second") for row in overall)], [None, *overall]
    return [
        {"key": key, "name": name, "stored": run, "figure": figure, "against_first": change}
        for key, name, run, figure, change in zip(RESULT_NAMES, short_names(runs), runs, figures, changes, strict=False)
    ]


def group_figures(differences: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the figures of all runs, in their order, by group: overall, then tags, then relations."""
    by_group: dict[tuple[str, str], list[Row]] = {}
    for row in differences:
        by_group.setdefault((row["dimension"], row["group"]), []).append(row)
    groups = [
        {
            "dimension": dimension,
            "group": group,
            "n": rows[0]["n"],
            "figures": [_figure(rows[0], "first"), *(_figure(row, "second") for row in rows)],
        }
        for (dimension, group), rows in by_group.items()
    ]
    return sorted(groups, key=lambda row: (row["dimension"] != "overall", dimension_order(row["dimension"])))


def _figure(row: Row, side: str) -> Score:
    """Return the figure of one side of a difference, as a score that is not stored."""
    return Score(value=row[side], low=row[f"{side}_low"], high=row[f"{side}_high"])


def is_certain(row: Row) -> bool:
    """Tell whether the two runs of a difference can be told apart."""
    return bool(row["verdict"] != ALIKE)


# The verdict in one sentence.


VERDICTS = {BETTER: "clearly better than", WORSE: "clearly worse than", ALIKE: "not clearly different from"}


def verdict(runs: Sequence[Side], comparison: Comparison, ahead: str) -> str:
    """Return the sentence with which a comparison begins; `ahead` is how the probe says it of two runs."""
    if len(runs) > 2:
        return " ".join([f"{best_of(runs)}.", *_against_first(runs)])
    first, second = (run["name"] for run in runs)
    return f"{difference_in_words(second, comparison.differences[0], ahead, comparison.smallest, first)}."


def _against_first(runs: Sequence[Side]) -> list[str]:
    """Return which runs are better or worse than the first one, and which differ too little to tell."""
    names: dict[str, list[str]] = {found: [] for found in VERDICTS}
    for run in runs[1:]:
        if (row := run["against_first"]) is not None:
            names[row["verdict"]].append(run["name"])
    return [
        f"{get_text_list(alike, 'and')} {'is' if len(alike) == 1 else 'are'} {VERDICTS[found]} {runs[0]['name']}."
        for found, alike in names.items()
        if alike
    ]


def best_of(runs: Sequence[Side]) -> str:
    """Return which run has the highest figure; runs that share it are named together."""
    highest = max(run["figure"].value for run in runs)
    best = [run["name"] for run in runs if run["figure"].value == highest]
    if len(best) > 1:
        return f"{' and '.join(best)} share the highest figure, {highest:.3f}"
    return f"{best[0]} has the highest figure of {len(runs)}, {highest:.3f}"


# The charts of a comparison that every probe has: values and differences by group, and relation by relation.


MOST_GROUPS = 40  # of a chart; the tables have all
SCATTERED_RUNS = 4  # more than that many runs cannot be told apart in a cloud of dots


def comparison_charts(
    runs: Sequence[Side],
    values: Sequence[Row],
    differences: Sequence[Row],
    metric: str,
    names: Names,
) -> list[Chart]:
    """Return the charts that a comparison of this many runs can have. `metric` is its title within a sentence.

    Their points lead to the group's page, or else to the questions on which the runs disagree.
    """
    figures = []
    if len(runs) == 2:
        charted_groups = {(group["dimension"], group["group"]) for group in charted(values)}
        shown = [row for row in differences if (row["dimension"], row["group"]) in charted_groups]
        figures.append(_differences_chart(runs, shown, names))
    if len(runs) <= SCATTERED_RUNS:
        figures.append(_relations_chart(runs, differences, metric, names))
    if len(runs) > 2:
        figures.append(_values_chart(runs, values, metric, names))
    return figures


def charted(values: Sequence[Row]) -> list[Row]:
    """Return the groups that a chart shows: overall, and whole dimensions while there is room for them.

    Relations are shown only where there is no tag to divide items by, and no dimension whose one group has all items.
    """
    whole = values[0]["n"]
    groups_of = Counter(group["dimension"] for group in values)
    values = [
        group
        for group in values
        if group["dimension"] == "overall" or groups_of[group["dimension"]] > 1 or group["n"] != whole
    ]
    has_tags = any(group["dimension"] not in ("overall", "relation") for group in values)
    by_dimension: dict[str, list[Row]] = {}
    for group in values:
        if not (has_tags and group["dimension"] == "relation"):
            by_dimension.setdefault(group["dimension"], []).append(group)
    chosen: list[Row] = []
    for groups in by_dimension.values():
        if len(chosen) + len(groups) <= MOST_GROUPS:
            chosen += groups
    return chosen


def _values_chart(runs: Sequence[Side], values: Sequence[Row], metric: str, names: Names) -> Chart:
    """Return the chart with the scores of all runs by group."""
    groups = charted(values)
    titles = _titles([(group["dimension"], group["group"]) for group in groups], names)
    heads = {label: labels.dimension(group["dimension"]) for label, group in zip(titles, groups, strict=True)}
    points = [
        Point(
            *(label, figure.value, figure.low, figure.high),
            group=run["name"],
            href=_href(run, group["dimension"], group["group"]),
        )
        for run, figures in zip(runs, zip(*(group["figures"] for group in groups), strict=True), strict=True)
        for label, group, figure in zip(titles, groups, figures, strict=True)
    ]
    summary = f"Overall, {best_of(runs)}. Lines are 95 % intervals."
    title = labels.sentence(f"{metric} by group")
    return Chart("values", title, summary, charts.beside(points, heads, metric, titles))


def _titles(groups: Sequence[tuple[str, str]], names: Names) -> dict[str, str]:
    """Map labels of groups, which no two of them share, to their titles; a label also has the stored name."""
    times = Counter(group for _, group in groups)
    titles = {}
    for dimension, group in groups:
        title = group_title(dimension, group, names)
        label = hover_label(group, title)
        titles[label if times[group] == 1 else f"{label} ({labels.dimension(dimension).lower()})"] = title
    return titles


def _href(run: Side, dimension: str, group: str) -> str:
    """Return the address of a group, or of the run where the group is all of its items."""
    return group_href(run["stored"], dimension, group) or run["stored"].get_absolute_url()


def _differences_chart(runs: Sequence[Side], rows: Sequence[Row], names: Names) -> Chart:
    titles = _titles([(row["dimension"], row["group"]) for row in rows], names)
    heads = {label: labels.dimension(row["dimension"]) for label, row in zip(titles, rows, strict=True)}
    points = [
        Point(
            *(label, row["difference"], row["low"], row["high"]),
            href=_href(runs[1], row["dimension"], row["group"]),
        )
        for label, row in zip(titles, rows, strict=True)
    ]
    first, second = (run["name"] for run in runs)
    certain = [label for label, row in zip(titles, rows, strict=True) if is_certain(row)]
    overall = spelled.signed(rows[0]["difference"])
    summary = (
        f"Overall, {second} differs from {first} by {overall}. {CERTAIN} marks differences that are significant after "
        f"Holm's correction: {len(certain)} of {len(rows)}."
    )
    figure = charts.forest(points, heads, f"{second} minus {first}", titles, certain)
    return Chart("groups", "Difference by group", summary, figure)


def _relations_chart(runs: Sequence[Side], differences: Sequence[Row], metric: str, names: Names) -> Chart:
    by_key = {run["key"]: run for run in runs}
    rows = [row for row in differences if row["dimension"] == "relation"]
    points = [
        Point(
            *(group_title("relation", row["group"], names), row["second"]),
            x=row["first"],
            group=by_key[row["result"]]["name"],
            href=_href(by_key[row["result"]], "relation", row["group"]),
        )
        for row in rows
    ]
    other = runs[1]["name"] if len(runs) == 2 else "the others"
    figure = charts.square(points, f"{metric} of {runs[0]['name']}", f"{metric} of {other}")
    return Chart("relations", "Relation by relation", " ".join(_better(runs, rows)), figure)


def _better(runs: Sequence[Side], rows: Sequence[Row]) -> list[str]:
    differences: dict[str, list[float]] = {run["key"]: [] for run in runs[1:]}
    for row in rows:
        differences[row["result"]].append(row["second"] - row["first"])
    return [
        f"{run['name']} is ahead of {runs[0]['name']} {labels.ahead_in(differences[run['key']], 'relation')}."
        for run in runs[1:]
    ]
