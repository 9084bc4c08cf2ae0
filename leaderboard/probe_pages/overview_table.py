"""The table of the overview: models as rows, benchmarks as columns, and further columns in its CSV."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from django.urls import reverse

from leaderboard.display import cells
from leaderboard.display.cells import Bar, Cell, Raw
from leaderboard.display.tables import PAGE_SIZE, Column, Table
from leaderboard.lists.families import family_of
from leaderboard.lists.overview import Provenance
from leaderboard.lists.overview_rows import BenchmarkColumn, Figure, ModelRow
from leaderboard.lists.runs import ANY_VERSION
from leaderboard.lists.scores import OVERALL
from leaderboard.models.run import run_url
from leaderboard.probe_pages.culture.places import EVERYTHING

HIGHEST = "highest of its column"
OTHER_ITEMS = "about other questions than the rest of this column"
WAITING = "waiting"
APART = "see ○"  # stands for published figures that share no column with others
OTHER_METRIC = "in another metric or with other settings than this column"
OTHER_PARTS = "about other pairs of cultures or in other languages than this column"
UNRESOLVED = "published"  # stands in place of the owner of a model that its paper does not identify


def overview_table(
    rows: Sequence[ModelRow],
    columns: Sequence[BenchmarkColumn],
    shown: Sequence[BenchmarkColumn],
    sources: Mapping[int, str],
) -> Table[ModelRow]:
    """Return the table of all rows; only the CSV has the columns that are not `shown`."""
    names = Counter(name for _, name in {(row.hub_id, row.hub_id.rpartition("/")[2]) for row in rows})
    short = {row.hub_id: names[row.hub_id.rpartition("/")[2]] for row in rows}
    tests = f"Of {len(columns)} benchmarks, those with a figure."
    return Table(
        name="overview",
        caption="Models and benchmarks",
        columns=[
            Column("model", "Model", lambda row: _model_cell(row, short), align="head"),
            Column("parameters", "Size", lambda row: cells.parameters(row.parameters), "Parameters.", align="number"),
            Column("coverage", "Tests", _coverage_cell, tests, align="number"),
            Column("hub_id", "", lambda row: cells.text(row.hub_id), shown=False),
            Column("kind", "Type", lambda row: cells.text(row.kind), shown=False),
            Column("family", "Family", lambda row: cells.text(family_of(row.hub_id)), shown=False),
            *(part for column in columns for part in _benchmark_columns(column, sources, column in shown)),
        ],
        rows=rows,
        main=True,
        page_size=PAGE_SIZE,
        empty="No model passes these filters.",
    )


def _model_cell(row: ModelRow, short: Mapping[str, int]) -> Cell:
    """Return a model's cell, with what sets its weights apart from those of the hub.

    The page hides the owner of a model whose own name no other row has. A model that only a paper names has no page.
    """
    owner, _, name = row.hub_id.rpartition("/")
    full = f"{row.hub_id} ({row.key.weights})" if row.key.weights else row.hub_id
    hidden = f"{owner}/" if short[row.hub_id] == 1 else ""
    named_only = owner == UNRESOLVED
    return Cell(
        full,
        full,
        "" if named_only else reverse("model", args=[owner, name]),
        "as named in its paper" if named_only else "",
        pieces=(hidden, row.hub_id.removeprefix(hidden), row.key.weights),
    )


def _coverage_cell(row: ModelRow) -> Cell:
    return Cell(row.coverage, str(row.coverage), note=f"{row.measured} measured here", kind="number")


def _benchmark_columns(column: BenchmarkColumn, sources: Mapping[int, str], shown: bool) -> list[Column[ModelRow]]:
    """Return the column of a benchmark, and those that only the CSV has."""
    slug, plan, highest = column.slug, column.version.plan, column.highest

    def figure(row: ModelRow) -> Figure | None:
        return row.figures.get(slug)

    def cell(row: ModelRow) -> Cell:
        stored = figure(row)
        return _figure_cell(column, stored, plan, sources, highest) if stored else _cell_without_figure(column, row)

    def key(row: ModelRow) -> float | None:
        stored = figure(row)
        return stored.value if stored and not column.is_about_other_items(stored) else None

    def also(name: str, value: Callable[[Figure], Raw]) -> Column[ModelRow]:
        return Column(f"{slug}_{name}", "", lambda row: _raw(figure(row), value), shown=False)

    return [
        Column(slug, column.measure.title, cell, key=key, align="score", shown=shown),
        also("low", lambda stored: stored.low),
        also("high", lambda stored: stored.high),
        also("n", lambda stored: stored.n or None),
        also("metric", lambda stored: stored.metric),
        Column(f"{slug}_provenance", "", lambda row: _provenance_cell(row, slug), shown=False),
        also("version", lambda stored: ANY_VERSION if column.is_about_other_items(stored) else column.version.version),
        also("run", lambda stored: stored.run),
    ]


def _provenance_cell(row: ModelRow, slug: str) -> Cell:
    """Tell whose the figure is; a model whose published figures stand apart has a provenance and no figure."""
    stored = row.figures.get(slug)
    raw = stored.provenance if stored else Provenance.PUBLISHED.value if slug in row.published_apart else None
    return Cell(raw, raw or "")


def _raw(figure: Figure | None, value: Callable[[Figure], Raw]) -> Cell:
    raw = value(figure) if figure else None
    return Cell(raw, "" if raw is None else str(raw))


def _figure_cell(
    column: BenchmarkColumn, figure: Figure, plan: str, sources: Mapping[int, str], highest: float | None
) -> Cell:
    """Return the cell of a figure; its tooltip has the interval, the number of items, the source and the settings.

    `highest`: the highest figure of the column, which the page shows in bold; None where none is.
    """
    score = cells.score(figure.value, figure.low, figure.high)
    is_highest = figure.value == highest and not column.is_about_other_items(figure)
    facts = [
        score.note,
        f"{figure.n:,.0f} questions" if figure.n else "",
        f"measured here, {plan}" if figure.is_measured else sources.get(figure.run, figure.provenance),
        OTHER_ITEMS if column.is_about_other_items(figure) else "",
        HIGHEST if is_highest else "",
    ]
    return Cell(
        figure.value,
        score.text,
        run_url(figure.run),
        " · ".join(filter(None, facts)),
        _bar(figure.value, column.chance) if score.bar else None,
        f"{'measured' if figure.is_measured else 'published'}{' highest' * is_highest}",
    )


def _bar(value: float, chance: float | None) -> Bar:
    """Return a bar from chance to 1; a model that is no better than chance has none of it."""
    floor = chance or 0.0
    return Bar(100 * max(0.0, value - floor) / (1 - floor) if floor < 1 else 0.0)


def _apart_cell(column: BenchmarkColumn) -> Cell:
    """Return the cell of published figures that share no column with others; it leads to them."""
    address = reverse("benchmark", args=[column.slug])
    if column.measure.part != OVERALL:
        return Cell(None, APART, f"{address}?part={EVERYTHING}", f"published, {OTHER_PARTS}", kind="apart")
    anchor = "" if column.measure.versions[0].version == ANY_VERSION else "#section-published"
    return Cell(None, APART, f"{address}{anchor}", f"published, {OTHER_METRIC}", kind="apart")


def _cell_without_figure(column: BenchmarkColumn, row: ModelRow) -> Cell:
    """Return the cell of an open run, or the one that leads to published figures which share no column with others."""
    run = row.open_runs.get(column.slug)
    if run is None:
        if column.slug not in row.published_apart:
            return Cell(None, "")
        return _apart_cell(column)
    text = f"{run.percent} %" if run.percent else WAITING
    return Cell(None, text, run_url(run.run), f"{run.state}, no result yet", kind="open")
