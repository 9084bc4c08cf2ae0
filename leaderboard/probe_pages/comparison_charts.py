"""The charts of a comparison that every probe has: values and differences by group, and relation by relation."""

from collections import Counter
from collections.abc import Sequence

from leaderboard.display import cells, charts, labels
from leaderboard.display.charts import Chart, Point
from leaderboard.probe_pages.breakdowns import group_href, hover_label
from leaderboard.probe_pages.comparison_tables import ComparedRun, GroupValues, is_certain
from leaderboard.probe_pages.comparison_verdicts import best_of
from leaderboard.probe_pages.questions_in_words import Names, group_title
from leaderboard.stored.item_rows import Row

MOST_GROUPS = 40  # of a chart; the tables have all
SCATTERED_RUNS = 4  # more than that many runs cannot be told apart in a cloud of dots


def comparison_charts(
    runs: Sequence[ComparedRun],
    values: Sequence[GroupValues],
    differences: Sequence[Row],
    metric: str,
    names: Names,
) -> list[Chart]:
    """Return the charts that a comparison of this many runs can have. `metric` is its title within a sentence.

    Their points lead to the group's page, or else to the questions on which the runs disagree.
    """
    groups = charted(values)
    figures = [_values_chart(runs, groups, metric, names)]
    if len(runs) == 2:
        charted_groups = {(group.dimension, group.group) for group in groups}
        shown = [row for row in differences if (row["dimension"], row["group"]) in charted_groups]
        figures.append(_differences_chart(runs, shown, names))
    if len(runs) <= SCATTERED_RUNS:
        figures.append(_relations_chart(runs, differences, metric, names))
    return figures


def charted(values: Sequence[GroupValues]) -> list[GroupValues]:
    """Return the groups that a chart shows: overall, and whole dimensions while there is room for them.

    Relations are shown only where there is no tag to divide items by.
    """
    has_tags = any(group.dimension not in ("overall", "relation") for group in values)
    by_dimension: dict[str, list[GroupValues]] = {}
    for group in values:
        if not (has_tags and group.dimension == "relation"):
            by_dimension.setdefault(group.dimension, []).append(group)
    chosen: list[GroupValues] = []
    for groups in by_dimension.values():
        if len(chosen) + len(groups) <= MOST_GROUPS:
            chosen += groups
    return chosen


def _titles(groups: Sequence[tuple[str, str]], names: Names) -> dict[str, str]:
    """Map labels of groups, which no two of them share, to their titles; a label also has the stored name."""
    times = Counter(group for _, group in groups)
    titles = {}
    for dimension, group in groups:
        title = group_title(dimension, group, names)
        label = hover_label(group, title)
        titles[label if times[group] == 1 else f"{label} ({labels.dimension(dimension).lower()})"] = title
    return titles


def _values_chart(runs: Sequence[ComparedRun], groups: Sequence[GroupValues], metric: str, names: Names) -> Chart:
    titles = _titles([(group.dimension, group.group) for group in groups], names)
    heads = {label: labels.dimension(group.dimension) for label, group in zip(titles, groups, strict=True)}
    points = [
        Point(label, *group.values[place], group=run.name, href=_href(run, group.dimension, group.group))
        for place, run in enumerate(runs)
        for label, group in zip(titles, groups, strict=True)
    ]
    summary = f"Overall, {best_of(runs)}. Lines are 95 % intervals."
    title = labels.sentence(f"{metric} by group")
    return Chart("values", title, summary, charts.beside(points, heads, metric, titles))


def _href(run: ComparedRun, dimension: str, group: str) -> str:
    """Return the address of a group, or of the run where the group is all of its items."""
    return group_href(run.run, dimension, group) or run.run.get_absolute_url()


def _differences_chart(runs: Sequence[ComparedRun], rows: Sequence[Row], names: Names) -> Chart:
    titles = _titles([(row["dimension"], row["group"]) for row in rows], names)
    heads = {label: labels.dimension(row["dimension"]) for label, row in zip(titles, rows, strict=True)}
    points = [
        Point(
            *(label, row["difference"], row["low"], row["high"]),
            group="certain" if is_certain(row) else "",
            href=_href(runs[1], row["dimension"], row["group"]),
        )
        for label, row in zip(titles, rows, strict=True)
    ]
    first, second = (run.name for run in runs)
    certain, overall = sum(map(is_certain, rows)), cells.signed(rows[0]["difference"]).text
    summary = (
        f"Overall, {second} differs from {first} by {overall}. Filled dots are significant after Holm's correction: "
        f"{certain} of {len(rows)}."
    )
    return Chart(
        "groups", "Difference by group", summary, charts.forest(points, heads, f"{second} minus {first}", titles)
    )


def _relations_chart(runs: Sequence[ComparedRun], differences: Sequence[Row], metric: str, names: Names) -> Chart:
    by_key = {run.key: run for run in runs}
    rows = [row for row in differences if row["dimension"] == "relation"]
    points = [
        Point(
            *(group_title("relation", row["group"], names), row["second"]),
            x=row["first"],
            group=by_key[row["result"]].name,
            href=_href(by_key[row["result"]], "relation", row["group"]),
        )
        for row in rows
    ]
    other = runs[1].name if len(runs) == 2 else "the others"
    figure = charts.square(points, f"{metric} of {runs[0].name}", f"{metric} of {other}")
    return Chart("relations", "Relation by relation", " ".join(_better(runs, rows)), figure)


def _better(runs: Sequence[ComparedRun], rows: Sequence[Row]) -> list[str]:
    better: dict[str, list[bool]] = {run.key: [] for run in runs[1:]}
    for row in rows:
        better[row["result"]].append(row["second"] > row["first"])
    return [
        f"{run.name} is better than {runs[0].name} on {sum(better[run.key])} of {len(better[run.key])} relations."
        for run in runs[1:]
    ]
