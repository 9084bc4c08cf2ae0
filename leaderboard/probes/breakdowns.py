"""The breakdowns that every probe has: one section per dimension, with a chart of its groups."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from urllib.parse import urlencode

from django.urls import reverse

from leaderboard.figures import item_rows
from leaderboard.figures.scores import OVERALL_SLICE, Group, group_url
from leaderboard.models import Run, Score
from leaderboard.probes.probe_pages import ProbePages
from leaderboard.probes.wording import group_title, read_relations, relation_names, wording, wording_names
from leaderboard.ui import cells, charts, labels
from leaderboard.ui.charts.basics import Chart
from leaderboard.ui.sections import Section
from leaderboard.ui.tables import Column, Table, interval_columns, score_points, summary
from probing.analysis.accuracy import BASELINES
from probing.analysis.breakdowns import BY_CULTURE, CROSSED, split_group
from probing.analysis.option_scores import VERSIONED

FRACTIONS = "A question of several groups counts in equal parts in each, so that numbers of questions can be fractions."
WORDINGS = "Thick lines: 95 % intervals over questions. Thin lines: from the worst wording to the best one."
MOST_CHARTED = 20  # groups of a chart; a longer list has a bar in each row instead
MOST_METRICS = 6  # beside the main one, for which a page has room; the CSV has all of them
PAGE_SIZE = 40


def dimension_section(run: Run, pages: ProbePages, dimension: str, groups: Sequence[Group]) -> Section:
    """Return the section of one dimension; its groups come in the order in which the table has them.

    Relations, and other long lists, are rows with the value and its intervals on a line; all others have a chart.
    """
    title = f"By {labels.dimension(dimension).lower()}"
    macro = run.benchmark.correctness.macro and dimension != "relation"
    notes = ["Each score is the macro-average over the relations that have questions in the group."] if macro else []
    if any(group.wordings for group in groups):
        notes.append(WORDINGS)
    if any(group.main and group.main.n % 1 for group in groups):
        notes.append(FRACTIONS)
    names = group_names(run, dimension, groups)
    in_rows = dimension == "relation" or len(groups) > MOST_CHARTED
    chart = None if in_rows else _groups_chart(run, pages, dimension, groups, names)
    table = _groups_table(run, pages, dimension, groups, names)
    return Section(dimension, title, _short(table) if in_rows else table, chart, " ".join(notes))


def has_all_items(groups: Sequence[Group], scores: Sequence[Score]) -> bool:
    """Tell whether the only group of a breakdown has as many items as the run, and so its figure as well."""
    main = groups[0].main
    if len(groups) > 1 or main is None:
        return False
    return any(
        (score.dimension, score.metric, score.n) == (OVERALL_SLICE.dimension, main.metric, main.n) for score in scores
    )


def _short(table: Table[Group]) -> Table[Group]:
    """Return a long table whose page has the main metric only, where it has one; the CSV has all of them."""
    if not any(column.name == "value" for column in table.columns):
        return table
    names = ("group", "value", "n")
    return replace(table, columns=[replace(part, shown=part.shown and part.name in names) for part in table.columns])


def group_names(run: Run, dimension: str, groups: Sequence[Group]) -> dict[str, str]:
    """Return what a page calls each group; wordings are called by their sentences."""
    if dimension == "template":
        sentences = wording_names(read_relations(run.benchmark))
        return {group.name: sentences.get(group.name) or wording(group.name) for group in groups}
    names = relation_names(run)
    return {group.name: group_title(dimension, group.name, names) for group in groups}


def answer_space_titles(run: Run, names: Iterable[str]) -> dict[str, str]:
    """Map answer spaces to titles: relations, or on culture pairs a relation of one pair in one language."""
    relations = relation_names(run)
    dimension = VERSIONED if set(BY_CULTURE[VERSIONED]) <= set(item_rows.names(run)) else "relation"
    return {name: group_title(dimension, name, relations) for name in names}


def titled_cell(name: str, title: str, href: str = "") -> cells.Cell:
    """Return a cell with a title in words; its tooltip and the CSV have the name that is stored."""
    return replace(cells.text(name, href, "" if title == name else name), text=title)


def hover_label(name: str, title: str) -> str:
    """Return a title with the stored name behind it, for the hover of a point."""
    return title if title == name else f"{title} ({name})"


def group_href(run: Run, dimension: str, group: str) -> str:
    """Return the address of a group: that of the relation, or that of the run's items in it; empty without either."""
    page = group_url(run.benchmark, dimension, group)
    if page or dimension == OVERALL_SLICE.dimension or not run.artefact:
        return page
    tags = dict(zip(CROSSED.get(dimension, (dimension,)), split_group(dimension, group), strict=True))
    return f"{reverse('items', args=[run.pk])}?{urlencode(tags)}"


def _groups_table(
    run: Run, pages: ProbePages, dimension: str, groups: Sequence[Group], names: Mapping[str, str]
) -> Table[Group]:
    """Return a table with a row per group: the main metric with its interval, then every other metric.

    The main metric is left out, of the caption as well, where no group has it.
    """
    main = pages.main_metric(run.benchmark)
    shown = pages.metric_label(main) if any(group.main for group in groups) else "Scores"
    others = list(dict.fromkeys(metric for group in groups for metric in group.scores if metric != main))
    others.sort(key=BASELINES.__contains__)  # these come last
    return Table(
        name=dimension,
        caption=f"{shown} by {labels.dimension(dimension).lower()}",
        columns=[
            *_group_columns(run, pages, dimension, groups, names),
            *(_metric_column(name, pages.metric_label(name), n < MOST_METRICS) for n, name in enumerate(others)),
        ],
        rows=groups,
        page_size=PAGE_SIZE,
    )


def _group_columns(
    run: Run, pages: ProbePages, dimension: str, groups: Sequence[Group], names: Mapping[str, str]
) -> list[Column[Group]]:
    def name(group: Group) -> cells.Cell:
        return titled_cell(group.name, names[group.name], group_href(run, dimension, group.name))

    align = "head wide" if dimension == "template" else "head"
    head = Column("group", labels.dimension(dimension), name, align=align)
    if not any(group.main for group in groups):
        return [head]
    title = pages.metric_label(pages.main_metric(run.benchmark))
    return [
        head,
        Column("value", title, lambda group: _score_cell(run, group), align="score"),
        *interval_columns(lambda group: group.main),
        Column(
            "n",
            run.benchmark.nouns.capitalize(),
            _items_cell,
            align="number",
            shown=any(group.main and group.main.n for group in groups),
        ),
    ]


def _score_cell(run: Run, group: Group) -> cells.Cell:
    """Show the score with a tick at chance, its interval over items and, thin, the one over wordings."""
    chance = group.scores.get("chance")
    cell = cells.of_score(group.main, chance.value if chance else None)
    if run.is_published:
        return cells.of_run(cell, run)
    if cell.bar is None or group.wordings is None:
        return cell
    least, most = (100 * end for end in group.wordings)
    return replace(cell, bar=replace(cell.bar, least=least, most=most))


def _items_cell(group: Group) -> cells.Cell:
    cell = cells.items(group.main.n or None if group.main else None)
    return replace(cell, note=FRACTIONS) if group.main and group.main.n % 1 else cell


def _metric_column(metric: str, title: str, shown: bool) -> Column[Group]:
    def cell(group: Group) -> cells.Cell:
        return cells.number(group.scores[metric].value if metric in group.scores else None)

    return Column(metric, title, cell, align="number", shown=shown)


def _groups_chart(
    run: Run, pages: ProbePages, dimension: str, groups: Sequence[Group], names: Mapping[str, str]
) -> Chart | None:
    """Return a chart of the main metric; None where it has a value in fewer than two groups."""
    main = pages.metric_label(pages.main_metric(run.benchmark))
    addresses = {names[group.name]: group_href(run, dimension, group.name) for group in groups}
    points = score_points(((names[group.name], group.main) for group in groups), addresses.__getitem__)
    if len(points) < 2:
        return None
    by_chance = score_points((names[group.name], group.scores.get("chance")) for group in groups)
    chance = {point.label: point.value for point in by_chance}
    wordings = {names[group.name]: group.wordings for group in groups if group.wordings}
    title = f"{main} by {labels.dimension(dimension).lower()}"
    figure = charts.dots(points, chance, labels.within(main), wordings)
    return Chart(dimension, title, summary(title, points), figure)
