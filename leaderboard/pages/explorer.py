"""The breakdown explorer: figures by one dimension, which the reader chooses, as a chart beside its table.

A breakdown is a table: the columns of its CSV, and a row for each group. Its dimensions and pages are links.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from django.http import HttpRequest

from leaderboard.figures.comparisons import short_names
from leaderboard.figures.scores import DOMAIN, Group, breakdowns, dimension_order
from leaderboard.models import Run, Score
from leaderboard.probes import pages_of
from leaderboard.probes.breakdowns import group_href, group_names
from leaderboard.probes.culture.pairs import PairInLanguage
from leaderboard.tables import (
    INTERVAL,
    File,
    Files,
    Row,
    figures_of,
    filled,
    ordered,
    page_of,
    parameter,
    score_columns,
    values_of,
)
from leaderboard.ui import charts, labels, spelled
from leaderboard.ui.charts.basics import Chart, Point
from leaderboard.ui.links import PageLink, link
from probing.analysis.accuracy import BASELINES, CHANCE, MAJORITY, MOST_FREQUENT
from probing.analysis.breakdowns import CROSSED, join_group, split_group

NAME = "breakdown"  # of the table, and of its parameters
BY = "by"  # the parameter that names the dimension
GROUPS = 20  # that chart and table show at once
MODELS = 6  # that have a colour
MOST_METRICS = 2  # beside the main one, for which the page has room; the CSV has all of them
LARGE = 1000  # from which on figures such as perplexities have one decimal
FIGURES = ("group", *INTERVAL, "n")
FRACTIONS = "A question of several groups counts in equal parts in each, so that numbers of questions can be fractions."
WORDINGS = "Thick lines: 95 % intervals over questions. Thin lines: from the worst wording to the best one."
SINGLE_RELATIONS = ("relation", "fact_type")  # dimensions whose groups are one relation each
MACRO = "Each score is the macro-average over the relations that have questions in the group."


def run_breakdowns(
    run: Run, scores: Sequence[Score], pair: PairInLanguage | None = None, *, pooled: bool = False
) -> Files:
    """Return the breakdowns of a run by the names of their dimensions, that by domain first.

    `pair`: the culture pair and the language that they are about. Where a run was asked several of these (`pooled`),
    figures that pool them have no breakdown.
    """
    pages = pages_of(run.benchmark)
    metric = run.benchmark.main_metric
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


def models_breakdowns(runs: Sequence[Run], pair: PairInLanguage | None, *, pooled: bool) -> Files:
    """Return the breakdowns of several runs of a benchmark by dimension, with the figures of each run. One query."""
    metric = runs[0].benchmark.main_metric
    scores: dict[int, list[Score]] = {run.pk: [] for run in runs}
    for score in Score.objects.filter(run__in=scores, metric__in=(metric, CHANCE)).order_by("pk"):
        scores[score.run_id].append(score)
    tables = {run.pk: run_breakdowns(run, scores[run.pk], pair, pooled=pooled) for run in runs}
    dimensions = dict.fromkeys(name for of_run in tables.values() for name in of_run)
    return {
        name: _of_models({run: of_run.get(name, ((), ())) for run, of_run in tables.items()}) for name in dimensions
    }


def _of_models(tables: Mapping[int, File]) -> File:
    """Put the figures of runs in the groups of one dimension beside each other, in the order of the first run."""
    by_group: dict[str, dict[int, Row]] = {}
    for run, (_, rows) in tables.items():
        for row in rows:
            by_group.setdefault(row["group"], {})[run] = row
    rows = []
    for group, of_runs in by_group.items():
        scores = {run: of_runs[run]["scores"][0] if run in of_runs else None for run in tables}
        first = next(iter(of_runs.values()))
        figures = values_of({f"run_{run}": score for run, score in scores.items()})
        names = {"group": group, "title": first["title"], "href": "", "n": None, CHANCE: first.get(CHANCE)}
        rows.append({**names, "scores": list(scores.values()), "wordings": None, **figures})
    return ["group", *score_columns([(f"run_{run}", "") for run in tables]), CHANCE], rows


def models_explorer(
    request: HttpRequest, runs: Sequence[Run], offered: Sequence[PairInLanguage], pair: PairInLanguage | None
) -> Row:
    """Return the breakdown of a benchmark's first models that the reader chose; nothing without several groups.

    `offered`: the culture pairs and languages of the benchmark, of which `pair` is the chosen one.
    """
    measured = [run for run in runs if run.provenance == Run.Provenance.MEASURED][:MODELS]
    if not measured:
        return {}
    files = models_breakdowns(measured, pair, pooled=len(offered) > 1)
    dimensions = [name for name in choices(files, None) if len(files[name][1]) > 1]
    if not dimensions:
        return {}
    benchmark, names = measured[0].benchmark, short_names(measured)
    pages = pages_of(benchmark)
    title = pages.metric_label(benchmark.main_metric)
    series = [
        {"column": f"run_{run.pk}", "title": name, "href": run.get_absolute_url()}
        for run, name in zip(measured, names, strict=True)
    ]
    return explorer(request, files, dimensions, title, series, macro=benchmark.correctness.macro)


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

    `metric` is the title of the main one. `series`: the column, `title` and page of each figure of a row, whose
    `scores` come in the same order. `macro`: figures are means over relations.
    """
    by = next(name for name in (request.GET.get(BY, ""), *offered) if name in offered)
    columns, rows = files[by]
    shown = page_of(ordered(rows, request, columns, NAME), request, NAME, GROUPS)
    drawn = [one for one in series if one["column"] in columns]
    for row in shown:
        row["figures"] = list(zip(drawn, row["scores"], strict=False))  # none where the main metric has no column
    left_out = {*FIGURES, MOST_FREQUENT, *(one["column"] for one in series)}
    of_series = tuple(f"{one['column']}_" for one in drawn)
    figures = [name for name in columns if name not in left_out and not name.startswith(of_series)]
    with_values = filled(list(shown), figures)
    said = _said_elsewhere(rows)
    others = [name for name in figures if name in with_values and name not in said]
    shown_beside = sorted(others, key=lambda name: name not in (CHANCE, MAJORITY))[:MOST_METRICS]
    are_large = any((row.get(name) or 0) >= LARGE for row in shown for name in shown_beside)
    title = f"{metric if drawn else 'Scores'} by {labels.dimension(by).lower()}"
    return {
        "name": NAME,
        "by": by,
        "is_open": BY in request.GET or any(key.startswith(f"{NAME}-") for key in request.GET),
        "title": title,
        "head": labels.dimension(by),
        "links": [_links(request, offered, by)],
        "notes": _notes(rows, macro=macro and by not in SINGLE_RELATIONS),
        "page": shown,
        "series": drawn,
        "has_n": "n" in columns and bool(filled(rows, ["n"])),
        "digits": 1 if are_large else 3,
        "others": [name for name in others if name in shown_beside],
        "chart": _chart(title, labels.within(metric), rows, list(shown), drawn),
        "file": files[by],
    }


def _said_elsewhere(rows: Sequence[Row]) -> set[str]:
    """Return the baselines that need no column: the same in all of several groups, or those of chance once more."""
    values = {name: [spelled.figure(row.get(name) or 0) for row in rows] for name in (CHANCE, MAJORITY)}
    same = {name for name, of_groups in values.items() if len(rows) > 1 and len(set(of_groups)) == 1}
    return same | ({MAJORITY} if values[MAJORITY] == values[CHANCE] else set())


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
    part = " The chart has those that the table shows." if len(shown) < len(rows) else ""
    return Chart(NAME, title, f"{title}: {_range_in_words(rows, series)}.{part}", plot)


def _points(row: Row, series: Sequence[Row]) -> list[Point]:
    return [
        Point(row["title"], score.value, score.low, score.high, group=one["title"], href=row["href"] or one["href"])
        for one, score in zip(series, row["scores"], strict=False)
        if score and score.value is not None
    ]


def _range_in_words(rows: Sequence[Row], series: Sequence[Row]) -> str:
    """Return the lowest and the highest figure of all groups with their names."""
    points = [point for row in rows for point in _points(row, series)]
    low, high = (end(points, key=lambda point: point.value) for end in (min, max))
    if f"{low.value:.3f}" == f"{high.value:.3f}":
        return f"{low.value:.3f} in all groups that have a figure"
    names = [", ".join([point.label, *([point.group] if len(series) > 1 else [])]) for point in (low, high)]
    return f"from {low.value:.3f} ({names[0]}) to {high.value:.3f} ({names[1]}) over {len(rows)} groups"
