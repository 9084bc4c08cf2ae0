"""The tables of the overview: all models and benchmarks, and one topic by the figures of its fullest benchmark."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from django.urls import reverse

from leaderboard.figures.leaders import Groups, folded
from leaderboard.figures.overview import (
    BenchmarkColumn,
    Figure,
    ModelKey,
    ModelRow,
    OpenRun,
    Provenance,
    citations,
    open_runs,
    published_apart,
)
from leaderboard.figures.runs import ANY_VERSION
from leaderboard.figures.scores import OVERALL_SLICE
from leaderboard.models.run import run_url
from leaderboard.probes.culture.pairs import EVERYTHING
from leaderboard.probes.wording import group_title
from leaderboard.ui import cells, labels
from leaderboard.ui.cells import Bar, Cell, Raw
from leaderboard.ui.links import model_address
from leaderboard.ui.tables import PAGE_SIZE, Column, Table, source

BEST = "among the best of its column"
OTHER_ITEMS = "about other questions than the rest of this column"
WAITING = "waiting"
OTHER_METRIC = "in another metric or with other settings than this column"
OTHER_PARTS = "about other pairs of cultures or in other languages than this column"
MEASURED, PUBLISHED = "●", "○"
NO_MODEL = "No model passes these filters."
SHADES = 6  # of the figures of groups; overview.css has a colour for each


@dataclass
class Details:
    """What cells show beside the figures.

    `is_dense` tells that intervals stand behind figures. `bars_of`: the benchmark that alone has bars, if not all have.
    The rest is read for the rows of a page: `sources`, what the figure of a run is cited from, `published`, how many
    published figures a model has on a benchmark, by slug and id, and `open_runs`, those of models where they have no
    figure.
    """

    is_dense: bool = False
    bars_of: str = ""
    sources: Mapping[int, str] = field(default_factory=dict)
    published: Mapping[tuple[str, str], int] = field(default_factory=dict)
    open_runs: Mapping[ModelKey, Mapping[str, OpenRun]] = field(default_factory=dict)

    def read(self, page: Sequence[ModelRow]) -> None:
        """Read what the cells of a page need; four queries at most."""
        cited = {figure.run for row in page for figure in row.figures.values() if not figure.is_measured}
        self.sources = {run.pk: source(run).text for run in citations(cited)}
        self.published = {} if self.is_dense else published_apart(page)
        self.open_runs = open_runs(page)

    def slugs(self, page: Sequence[ModelRow]) -> set[str]:
        """Return the benchmarks on which any row of the page that was read has something to show."""
        return {slug for row in page for slug in (*row.figures, *row.published_apart, *self.open_runs.get(row.key, ()))}


class Grouped(NamedTuple):
    """A column with the figures of its models by group, such as by domain."""

    column: BenchmarkColumn
    groups: Groups


def overview_table(rows: Sequence[ModelRow], columns: Sequence[BenchmarkColumn], details: Details) -> Table[ModelRow]:
    """Return the table of all models and benchmarks."""
    those_with_a_figure = f"Of {len(columns)} benchmarks, those with a figure."
    first, *others = [_model_column(rows), *_facts_columns()]
    coverage = Column("coverage", "Benchmarks", _coverage_cell, those_with_a_figure, align="number")
    return Table(
        name="overview",
        caption="Models and benchmarks",
        columns=[
            first,
            others[0],
            coverage,
            *others[1:],
            *(part for column in columns for part in _benchmark_columns(column, details)),
        ],
        rows=rows,
        main=True,
        page_size=PAGE_SIZE,
        empty=NO_MODEL,
    )


def topic_table(
    rows: Sequence[ModelRow],
    columns: Sequence[BenchmarkColumn],
    main: Grouped,
    details: Details,
) -> Table[ModelRow]:
    """Return the table of one topic, with the best models of its `main` column first and the groups of that column.

    The variants of a model stand in its row; the CSV has a row for each.
    """
    variants = folded(rows)
    figures = [part for column in columns for part in _benchmark_columns(column, details)]

    def beside(row: ModelRow) -> tuple[tuple[str, str], ...]:
        return tuple((full_name(other), _variant(other, main.column, columns)) for other in variants.get(row.key, ()))

    whole = Table(
        name="overview",
        caption=f"Models on {main.column.measure.topic.lower()}",
        columns=[_model_column(rows, beside), *_facts_columns(), *figures, *_group_columns(main)],
        rows=rows,
        main=True,
        page_size=PAGE_SIZE,
        order=f"-{main.column.slug}",
        empty=NO_MODEL,
    )
    return replace(whole, rows=[row for row in rows if row.key in variants], export=whole)


def _model_column(
    rows: Sequence[ModelRow], beside: Callable[[ModelRow], tuple[tuple[str, str], ...]] = lambda row: ()
) -> Column[ModelRow]:
    """Return the column with the names of models, and what is said of their other variants."""
    names = Counter(name for _, name in {(row.hub_id, row.hub_id.rpartition("/")[2]) for row in rows})
    short = {row.hub_id: names[row.hub_id.rpartition("/")[2]] for row in rows}

    def cell(row: ModelRow) -> Cell:
        return replace(_model_cell(row, short), several=beside(row))

    return Column("model", "Model", cell, align="head")


def _facts_columns() -> list[Column[ModelRow]]:
    """Return the column with the size of a model, and those that only the CSV has."""
    return [
        Column("parameters", "Size", lambda row: cells.parameters(row.parameters), "Parameters.", align="number"),
        Column("hub_id", "", lambda row: cells.text(row.hub_id), shown=False),
        Column("kind", "Type", lambda row: cells.text(row.kind), shown=False),
        Column("family", "Family", lambda row: cells.text(row.family), shown=False),
    ]


def _variant(row: ModelRow, main: BenchmarkColumn, columns: Sequence[BenchmarkColumn]) -> str:
    """Return what the row of a model says of one of its variants: all its figures, that of the main column first."""
    of_main = row.figures.get(main.slug)
    beside = [
        f"{_figure_text(row.figures[column.slug])} on {column.measure.title}"
        for column in columns
        if column is not main and column.slug in row.figures
    ]
    return ", ".join([_figure_text(of_main) if of_main else f"not on {main.measure.title}", *beside])


def _figure_text(figure: Figure) -> str:
    mark = MEASURED if figure.is_measured else PUBLISHED
    return f"{mark} {cells.figure_with_uncertainty(figure.value, figure.low, figure.high)}"


def _group_columns(main: Grouped) -> list[Column[ModelRow]]:
    """Return a column for each group, with shades from its lowest to its highest figure, and intervals for the CSV."""
    return [part for group in main.groups.names for part in _group_column(main, group)]


def _group_column(main: Grouped, group: str) -> list[Column[ModelRow]]:
    dimension, slug = main.groups.dimension, main.column.slug

    def figure(row: ModelRow) -> Figure | None:
        stored = row.figures.get(slug)
        return main.groups.by_run.get(stored.run, {}).get(group) if stored else None

    lowest, highest = main.groups.ranges[group]

    def cell(row: ModelRow) -> Cell:
        stored = figure(row)
        if stored is None:
            return Cell(None, "")
        shade = round(SHADES * (stored.value - lowest) / (highest - lowest)) if highest > lowest else 0
        note = cells.interval_note(stored.low, stored.high)
        return Cell(stored.value, f"{stored.value:.2f}", note=note, kind=f"heat-{shade}")

    def key(row: ModelRow) -> float | None:
        stored = figure(row)
        return stored.value if stored else None

    def end(name: str) -> Column[ModelRow]:
        return Column(f"{column}_{name}", "", lambda row: cells.number(getattr(figure(row), name, None)), shown=False)

    column = labels.group_column(dimension, group)
    title = labels.sentence(group_title(dimension, group, {}))
    return [Column(column, title, cell, key=key, align="heat number"), end("low"), end("high")]


def full_name(row: ModelRow) -> str:
    """Return the id of a model with what sets its weights apart from those of the hub."""
    return f"{row.hub_id} ({row.key.weights})" if row.key.weights else row.hub_id


def _model_cell(row: ModelRow, short: Mapping[str, int]) -> Cell:
    """Return a model's cell, with what sets its weights apart from those of the hub.

    The page hides the owner of a model whose own name no other row has. A model that only a paper names has no page.
    """
    owner = row.hub_id.rpartition("/")[0]
    full = full_name(row)
    hidden = f"{owner}/" if short[row.hub_id] == 1 else ""
    address = model_address(row.hub_id)
    return Cell(
        full,
        full,
        address,
        "" if address else "as named in its paper",
        pieces=(hidden, row.hub_id.removeprefix(hidden), row.key.weights),
    )


def _coverage_cell(row: ModelRow) -> Cell:
    return Cell(row.coverage, str(row.coverage), note=f"{row.measured} measured here", kind="number")


def _benchmark_columns(column: BenchmarkColumn, details: Details) -> list[Column[ModelRow]]:
    """Return the column of a benchmark, which a dense page has where there is a figure, and those of the CSV."""
    slug, plan = column.slug, column.version.plan

    def figure(row: ModelRow) -> Figure | None:
        return row.figures.get(slug)

    def cell(row: ModelRow) -> Cell:
        stored = figure(row)
        return _figure_cell(column, stored, plan, details) if stored else _cell_without_figure(column, row, details)

    def key(row: ModelRow) -> float | None:
        stored = figure(row)
        return stored.value if stored and not column.is_about_other_items(stored) else None

    def also(name: str, value: Callable[[Figure], Raw]) -> Column[ModelRow]:
        return Column(f"{slug}_{name}", "", lambda row: _raw(figure(row), value), shown=False)

    shown = bool(column.figures) or not details.is_dense
    return [
        Column(slug, column.measure.title, cell, key=key, align="score", shown=shown),
        also("low", lambda stored: stored.low),
        also("high", lambda stored: stored.high),
        *([also("standard_error", lambda stored: stored.error)] if details.is_dense else []),
        also("n", lambda stored: stored.n or None),
        also("metric", lambda stored: stored.metric),
        Column(f"{slug}_provenance", "", lambda row: _provenance_cell(row, slug), shown=False),
        also("version", lambda stored: ANY_VERSION if column.is_about_other_items(stored) else column.version.version),
        also("run", lambda stored: stored.run),
        Column(
            f"{slug}_published",
            "",
            lambda row: _raw(column.published.get(row.key), lambda stored: stored.value),
            shown=False,
        ),
    ]


def _provenance_cell(row: ModelRow, slug: str) -> Cell:
    """Tell whose the figure is; a model whose published figures stand apart has a provenance and no figure."""
    stored = row.figures.get(slug)
    raw = stored.provenance if stored else Provenance.PUBLISHED.value if slug in row.published_apart else None
    return Cell(raw, raw or "")


def _raw(figure: Figure | None, value: Callable[[Figure], Raw]) -> Cell:
    raw = value(figure) if figure else None
    return Cell(raw, "" if raw is None else str(raw))


def _figure_cell(column: BenchmarkColumn, figure: Figure, plan: str, details: Details) -> Cell:
    """Return the cell of a figure; its tooltip has the interval, the number of items, the source and the settings."""
    score = cells.score(figure.value, figure.low, figure.high)
    is_best, published = column.is_among_the_best(figure), column.published.get(ModelKey(figure.hub_id, figure.weights))
    error = figure.error
    has_bar = details.bars_of in ("", column.slug)
    stated = score.uncertainty or (f"SE {error:.3f}" if error else "")
    facts = [
        score.note,
        f"{figure.n:,.0f} questions" if figure.n else "",
        f"measured here, {plan}" if figure.is_measured else details.sources.get(figure.run, figure.provenance),
        f"standard error over wordings {error:.3f}" if error and not score.note else "",
        f"{PUBLISHED} published: {published.value:.3f}" if published else "",
        OTHER_ITEMS if column.is_about_other_items(figure) else "",
        BEST if is_best else "",
    ]
    return Cell(
        figure.value,
        score.text,
        run_url(figure.run),
        " · ".join(filter(None, facts)),
        _bar(figure.value, column.chance) if has_bar and score.bar and column.chance is not None else None,
        f"{'measured' if figure.is_measured else 'published'}{' best' * is_best}",
        uncertainty=stated if details.is_dense else "",
    )


def _bar(value: float, chance: float) -> Bar:
    """Return a bar from chance to 1; that of a model which is no better than chance has no length."""
    return Bar(100 * max(0.0, value - chance) / (1 - chance) if chance < 1 else 0.0)


def _apart_cell(column: BenchmarkColumn, row: ModelRow, details: Details) -> Cell:
    """Return the cell of published figures that share no column with others: their number, which leads to them."""
    address = reverse("benchmark", args=[column.slug])
    number = details.published.get((column.slug, row.hub_id), 0)
    text = labels.number_of(number, "figure") if number else "figures"
    if column.measure.part != OVERALL_SLICE:
        return Cell(None, text, f"{address}?part={EVERYTHING}", f"published, {OTHER_PARTS}", kind="apart published")
    anchor = "" if column.measure.versions[0].version == ANY_VERSION else "#section-published"
    return Cell(None, text, f"{address}{anchor}", f"published, {OTHER_METRIC}", kind="apart published")


def _cell_without_figure(column: BenchmarkColumn, row: ModelRow, details: Details) -> Cell:
    """Return the cell of an open run, or the one that leads to published figures which share no column with others."""
    run = details.open_runs.get(row.key, {}).get(column.slug)
    if run is None:
        if column.slug not in row.published_apart:
            return Cell(None, "")
        return _apart_cell(column, row, details)
    text = f"{run.percent} %" if run.percent else WAITING
    return Cell(None, text, run_url(run.run), f"{run.state}, no result yet", kind="open")
