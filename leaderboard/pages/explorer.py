"""The breakdown explorer: figures by one dimension, which the reader chooses, as a chart beside its table.

A breakdown is a table: the columns of its CSV, and a row for each group. Its dimensions and pages are links.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from django.http import HttpRequest

from leaderboard.figures.scores import DOMAIN, Group, breakdowns, dimension_order
from leaderboard.models import Run, Score
from leaderboard.probes import pages_of
from leaderboard.probes.breakdowns import group_href, group_names
from leaderboard.probes.culture.pairs import PairInLanguage
from leaderboard.tables import INTERVAL, File, Files, Row, figures_of, filled, ordered, page_of, parameter
from leaderboard.ui import charts, labels
from leaderboard.ui.charts.basics import Chart, Point
from leaderboard.ui.links import PageLink, link
from probing.analysis.accuracy import BASELINES, CHANCE, MOST_FREQUENT
from probing.analysis.breakdowns import CROSSED, join_group, split_group

NAME = "breakdown"  # of the table, and of its parameters
BY = "by"  # the parameter that names the dimension
GROUPS = 20  # that chart and table show at once
MOST_METRICS = 4  # beside the main one, for which the page has room; the CSV has all of them
FIGURES = ("group", *INTERVAL, "n")
FRACTIONS = "A question of several groups counts in equal parts in each, so that numbers of questions can be fractions."
WORDINGS = "Thick lines: 95 % intervals over questions. Thin lines: from the worst wording to the best one."
MACRO = "Each score is the macro-average over the relations that have questions in the group."


def run_breakdowns(
    run: Run, scores: Sequence[Score], pair: PairInLanguage | None = None, *, pooled: bool = False
) -> Files:
    """Return the breakdowns of a run by the names of their dimensions, that by domain first.

    `pair`: the culture pair and the language that they are about. Where a run was asked several of these (`pooled`),
    figures that pool them have no breakdown.
    """
    pages = pages_of(run.benchmark)
    metric = pages.main_metric(run.benchmark)
    found: dict[str, File] = {}
    if pair:
        for dimension, groups in breakdowns(scores, metric).items():
            for name, part, own in _of_part(dimension, groups, pair.tags):
                found[name] = _breakdown(run, metric, name, own, part)
    if not pooled:
        for dimension, groups in breakdowns(scores, metric, pages.hidden_dimensions).items():
            found.setdefault(dimension, _breakdown(run, metric, dimension, groups))
    return {name: found[name] for name in sorted(found, key=lambda name: (name != DOMAIN, dimension_order(name)))}


def _of_part(
    dimension: str, groups: Sequence[Group], tags: Mapping[str, str]
) -> Iterator[tuple[str, Mapping[str, str], list[Group]]]:
    """Yield what a dimension says of the items with these tags: the name of a breakdown, its tags, and its groups.

    The dimension of the part itself has a breakdown by each of its tags, in which the others are as chosen.
    """
    crossed = CROSSED.get(dimension, (dimension,))
    if not set(tags) <= set(crossed):
        return
    rest = [tag for tag in crossed if tag not in tags]
    values = {group.name: dict(zip(crossed, split_group(dimension, group.name), strict=True)) for group in groups}
    for chosen in [rest] if rest else [[tag] for tag in tags]:
        part = {tag: value for tag, value in tags.items() if tag not in chosen}
        own = [group for group in groups if part.items() <= values[group.name].items()]
        named = [replace(group, name=join_group(values[group.name][tag] for tag in chosen)) for group in own]
        yield "_".join(chosen), part, named


def _breakdown(
    run: Run, metric: str, dimension: str, groups: Sequence[Group], part: Mapping[str, str] | None = None
) -> File:
    """Return the columns of the CSV and a row for each group; without any value in the main metric, no such columns."""
    others = list(dict.fromkeys(name for group in groups for name in group.scores if name != metric))
    others.sort(key=BASELINES.__contains__)  # these come last
    titles = group_names(run, dimension, [group.name for group in groups])
    rows = [
        {
            "title": titles[group.name],
            "href": group_href(run, dimension, group.name, part),
            "scores": [group.main],
            "wordings": group.wordings,
            **dict.fromkeys(others),
            **{name: score.value for name, score in group.scores.items()},
            "group": group.name,
            **figures_of(group.main),
        }
        for group in groups
    ]
    return [*(FIGURES if any(group.main for group in groups) else FIGURES[:1]), *others], rows


def choices(files: Files, whole: Score | None) -> list[str]:
    """Return the dimensions that are offered: not those with a single group, which has as many items as the `whole`.

    The relations of a benchmark with fact types are these same groups.
    """
    offered = [name for name, (_, rows) in files.items() if len(rows) > 1 or whole is None or rows[0]["n"] != whole.n]
    return [name for name in offered if name != "relation" or "fact_type" not in offered]


def explorer(
    request: HttpRequest, files: Files, offered: Sequence[str], metric: str, series: Sequence[Row], *, macro: bool
) -> Row:
    """Return what templates/parts/explorer.html shows of the breakdown that the reader chose, or of the first one.

    `metric` is the title of the main one. `series`: the column, `title` and provenance (`mark`) of each figure of a
    row, whose `scores` come in the same order. `macro`: figures are means over relations.
    """
    by = next(name for name in (request.GET.get(BY), *offered) if name in offered)
    columns, rows = files[by]
    shown = page_of(ordered(rows, request, columns, NAME), request, NAME, GROUPS)
    drawn = [one for one in series if one["column"] in columns]
    for row in shown:
        row["figures"] = list(zip(drawn, row["scores"], strict=False))  # none where the main metric has no column
    left_out = {*FIGURES, MOST_FREQUENT, *(one["column"] for one in series)}
    title = f"{metric if drawn else 'Scores'} by {labels.dimension(by).lower()}"
    return {
        "name": NAME,
        "by": by,
        "title": title,
        "head": labels.dimension(by),
        "links": [_links(request, offered, by)],
        "notes": _notes(rows, macro=macro and by != "relation"),
        "page": shown,
        "series": drawn,
        "has_n": "n" in columns and bool(filled(rows, ["n"])),
        "others": [name for name in columns if name not in left_out][:MOST_METRICS],
        "chart": _chart(title, labels.within(metric), rows, list(shown), drawn),
        "file": files[by],
    }


def _links(request: HttpRequest, offered: Sequence[str], by: str) -> list[PageLink]:
    """Return a link for each dimension, which leads to its first groups in their usual order."""
    kept = {parameter("sort", NAME): None, parameter("page", NAME): None}
    return [PageLink(labels.dimension(name), link(request.GET, **kept, by=name), name == by) for name in offered]


def _notes(rows: Sequence[Row], *, macro: bool) -> list[str]:
    notes = [MACRO] if macro else []
    notes += [WORDINGS] if any(row["wordings"] for row in rows) else []
    return [*notes, *([FRACTIONS] if any((row["n"] or 0) % 1 for row in rows) else [])]


def _chart(title: str, axis: str, rows: Sequence[Row], shown: Sequence[Row], series: Sequence[Row]) -> Chart | None:
    """Draw the groups that the table shows; None where fewer than two have a figure, or where figures are no shares."""
    points = [point for row in shown for point in _points(row, series)]
    if len({point.label for point in points}) < 2 or not all(0 <= point.value <= 1 for point in points):
        return None
    chance = {row["title"]: row[CHANCE] for row in shown if row.get(CHANCE) is not None}
    if len(series) > 1:
        plot = charts.beside(points, {point.label: "" for point in points}, axis, chance=chance)
    else:
        wordings = {row["title"]: row["wordings"] for row in shown if row["wordings"]}
        plot = charts.dots(points, chance, axis, wordings)
    part = f" The chart has the {len(shown)} that the table shows." if len(shown) < len(rows) else ""
    return Chart(NAME, title, f"{title}: {_range_in_words(rows, series)}.{part}", plot)


def _points(row: Row, series: Sequence[Row]) -> list[Point]:
    return [
        Point(row["title"], score.value, score.low, score.high, group=one["title"], href=row["href"])
        for one, score in zip(series, row["scores"], strict=False)
        if score and score.value is not None
    ]


def _range_in_words(rows: Sequence[Row], series: Sequence[Row]) -> str:
    """Return the lowest and the highest figure of all groups with their names."""
    points = [point for row in rows for point in _points(row, series)]
    low, high = (end(points, key=lambda point: point.value) for end in (min, max))
    names = [", ".join([point.label, *([point.group] if len(series) > 1 else [])]) for point in (low, high)]
    return f"from {low.value:.3f} ({names[0]}) to {high.value:.3f} ({names[1]}) over {len(rows)} groups"
