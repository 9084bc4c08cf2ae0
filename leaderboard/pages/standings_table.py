"""The standings of a benchmark: their filter, their table, and the picture above it."""

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from django.http import QueryDict
from django.utils.text import get_text_list

from leaderboard.figures.benchmarks import GUESSES
from leaderboard.figures.filters import chosen_facets, models_of, near_models
from leaderboard.figures.runs import read_records
from leaderboard.figures.scores import OVERALL_SLICE, Slice, slices
from leaderboard.figures.standings import (
    HeadingGroup,
    Leaderboard,
    LeaderboardFilter,
    Standing,
    chosen_slices,
)
from leaderboard.models import Benchmark, Model, Run, RunRank
from leaderboard.probes import pages_of
from leaderboard.probes.benchmark_words import with_baseline_name
from leaderboard.probes.culture.pairs import (
    PairInLanguage,
    chosen_pair,
    gaps_chart,
    offered_pairs,
    pair_columns,
    settings_in_words,
)
from leaderboard.probes.culture.sides import GAP
from leaderboard.probes.probe_pages import ProbePages
from leaderboard.probes.wording import group_title
from leaderboard.ui import cells, charts, labels
from leaderboard.ui.cells import Cell
from leaderboard.ui.charts.basics import Chart
from leaderboard.ui.charts.scaling_chart import (
    ACTIVE,
    DATE,
    PARAMETERS,
    TOKENS,
    ScalingAxis,
    SizedScore,
    on_date_axis,
)
from leaderboard.ui.links import PageLink, link
from leaderboard.ui.tables import (
    MEASURED,
    PAGE_SIZE,
    PUBLISHED,
    Column,
    Table,
    best_and_largest,
    citation,
    interval_columns,
    model_column,
    score_cell,
    score_columns,
    settings_column,
    source_column,
)

BOTH = "Measured here and published"
RANK_HELP = "The best and the worst place within its group; all places hold at once in 95 of 100 samples of {items}."
COMMON_HELP = "On the {items} that count for all ranked runs of the group, on which their ranks are based."


def compared_items(benchmark: Benchmark) -> str:
    """Return what ranks are based on: the benchmark's items, or facts, which count once in several languages."""
    return "facts" if pages_of(benchmark).of_parts else benchmark.nouns


def standings_table(filters: LeaderboardFilter, board: Leaderboard, pair: PairInLanguage | None) -> Table[Standing]:
    """Return the table; rows are sorted and ranked within the group that stands above them.

    Baselines with the same figures share a row; the CSV has one for each.
    """
    alike = _alike([row for row in board.standings if row.is_baseline])
    whole = _table(filters, board, pair, alike)
    rows = [row for row in board.standings if not row.is_baseline or row.run.pk in alike]
    return whole if len(rows) == len(board.standings) else replace(whole, rows=rows, export=whole)


def _alike(baselines: Sequence[Standing]) -> dict[int, list[Run]]:
    """Map the first of the baselines that have the same figures everywhere to all of them, by the number of its run."""
    by_figures: dict[Hashable, list[Run]] = {}
    for row in baselines:
        shown = {
            (metric, part, cells.figure(score.value))
            for metric, by_part in row.scores.items()
            for part, score in by_part.items()
            if score.value is not None
        }
        by_figures.setdefault(frozenset(shown), []).append(row.run)
    return {runs[0].pk: runs for runs in by_figures.values()}


def _table(
    filters: LeaderboardFilter, board: Leaderboard, pair: PairInLanguage | None, alike: Mapping[int, Sequence[Run]]
) -> Table[Standing]:
    chance = chance_of(board.standings)
    pages, items = pages_of(filters.benchmark), compared_items(filters.benchmark)
    title = pages.metric_label(filters.metric)
    headings = _headings(board.standings)
    return Table(
        name="leaderboard",
        caption=f"{labels.sentence(title)} of every model{f': {pair.title}' if pair else ''}",
        columns=[
            *_model_columns(alike, items),
            _settings_column(board.standings),
            *_common_columns(board.standings, items),
            Column(
                filters.metric,
                title,
                lambda row: cells.of_run(score_cell(row.run, row.main, chance), row.run),
                "Value and 95 % interval: ± half its width, or both ends where they are not equally far.",
                align="score",
                shown=any(row.main for row in board.standings),
            ),
            *interval_columns(lambda row: row.main),
            *pair_columns(pair, title),
            *_spread_column(board.standings),
            *_count_column(pages),
            *(_secondary_column(metric, pages) for metric in pages.metrics_beside(filters.benchmark)),
            *(column for part in filters.slices for column in slice_columns(part, filters.metric)),
            *_run_columns(board.standings),
        ],
        rows=board.standings,
        main=True,
        band=_band,
        heading=lambda row: headings[row.heading_group],
        pinned="baseline",
        page_size=PAGE_SIZE,
        order=f"-{filters.metric}",
        empty=_empty(filters, board),
        prepare=read_records,
    )


def _headings(rows: Sequence[Standing]) -> dict[HeadingGroup, str]:
    """Map each group of rows to the text above it, with the number of its models and its source if it has one."""
    models = Counter(group for group, _ in dict.fromkeys((row.heading_group, row.hub_id) for row in rows))
    published = {(row.heading_group, row.run.is_published) for row in rows}
    kinds = {
        group: BOTH if (group, not is_published) in published else PUBLISHED if is_published else MEASURED
        for group, is_published in published
    }
    of_group = {row.heading_group: row for row in rows}
    return {group: _heading(row, models[group], kinds[group]) for group, row in of_group.items()}


def _heading(row: Standing, models: int, kind: str) -> str:
    """Return the text above a group, whose rows are of one `kind` or of both."""
    if row.is_baseline:
        return ""
    number = labels.number_of(models, "model")
    words = settings_in_words(row.run) if row.part == OVERALL_SLICE else row.group
    if row.listed_apart:
        return ", ".join(filter(None, [f"{PUBLISHED}: {citation(row.run)}", words, row.way, number]))
    if row.settings_heading:
        return ", ".join(filter(None, [f"{row.settings_beginning}: {words}", row.way]))
    return ", ".join(filter(None, [kind, row.way, number]))


def _empty(filters: LeaderboardFilter, board: Leaderboard) -> str:
    """Say why there are no rows: name the filters that a reader can drop, and models whose names are near."""
    names = [f"{facet.title.lower()} “{facet.choices[filters.chosen[facet.name]]}”" for facet in filters.narrows]
    if filters.search:
        names.insert(0, f"the search for “{filters.search}”")
    if not names:
        return "No model has been measured here yet."
    drop = f"No model passes {' and '.join(names)}. Drop {'it' if len(names) == 1 else 'one of them'} to see more."
    is_empty = all(row.is_baseline for row in board.standings)
    near = near_models(filters.search, models_of(filters.benchmark)) if filters.search and is_empty else []
    return f"{drop} Did you mean {get_text_list(near, 'or')}?" if near else drop


def _band(row: Standing) -> str:
    if row.is_baseline:
        return "baseline"
    return "ranked" if row.rank else "reported"


def _model_columns(alike: Mapping[int, Sequence[Run]], items: str) -> list[Column[Standing]]:
    model: Column[Standing] = model_column(lambda row: row.run)

    def cell(row: Standing) -> Cell:
        return with_baseline_name(model.cell(row), alike.get(row.run.pk, [row.run]))

    return [
        Column(
            "rank",
            "Rank",
            lambda row: _rank(row, items),
            RANK_HELP.format(items=items),
            key=_rank_key,
            align="rank",
            methods_heading="#what-does-a-rank-such-as-2-to-5-mean",
        ),
        replace(model, cell=cell),
        Column("kind", "Type", lambda row: cells.text(row.run.model.kind), folded=True),
        Column("parameters", "Parameters", lambda row: cells.parameters(row.run.model.parameters), align="number"),
        Column("active_parameters", "", lambda row: cells.parameters(row.run.model.active_parameters), shown=False),
        Column("tie_group", "", lambda row: cells.number(getattr(row.stored_rank, "tie_group", None)), shown=False),
    ]


def _settings_column(rows: Sequence[Standing]) -> Column[Standing]:
    """Return the column that tells runs of one model apart; a page has it where the text above the rows does not."""
    headings = {"", *(row.group for row in rows)}
    column: Column[Standing] = settings_column(lambda row: row.run)
    varied = any(row.part == OVERALL_SLICE and row.run.variant not in headings for row in rows)

    def worth(shown: Sequence[Standing]) -> bool:
        return varied or any(row.part == OVERALL_SLICE and column.cell(row).value not in headings for row in shown)

    return replace(column, worth=worth)


def _rank(row: Standing, items: str) -> Cell:
    if row.rank:
        return cells.text(str(row.rank))
    note = f"It shares too few {items} with the others: only {row.stored_rank.counted}" if row.stored_rank else ""
    return Cell(None, cells.NO_VALUE, note=f"{note} count for it." if note else "")


def _rank_key(row: Standing) -> tuple[int, int] | None:
    return (row.rank.best, row.rank.worst) if row.rank else None


def _spread_column(rows: Sequence[Standing]) -> list[Column[Standing]]:
    """Return the column with the standard error over templates, where any run was asked with several."""
    if not any(row.spread is not None for row in rows):
        return []
    help_text = "Standard error of the mean: how far it could move with others. The interval is over questions."
    return [
        Column(
            "sem",
            "Error over wordings",  # its whole name is wider than a desktop's page has room for
            lambda row: cells.number(row.spread),
            help_text,
            align="number",
            folded=True,
        )
    ]


def _count_column(pages: ProbePages) -> list[Column[Standing]]:
    if pages.count_column is None:
        return []
    title, help_text, _ = pages.count_column
    return [Column("n", title, lambda row: cells.items(row.main.n if row.main else None), help_text, align="number")]


def _common_columns(rows: Sequence[Standing], items: str) -> list[Column[Standing]]:
    """Return the columns with the figures on common items, where these are not all items of every ranked run.

    A page has that of the main metric; the CSV has those of all metrics, and the number of common items.
    """
    ranks = [rank for row in rows for rank in row.stored_ranks.values()]
    if all(rank.n == rank.counted for rank in ranks):
        return []
    metrics = dict.fromkeys(rank.metric for rank in ranks)
    counted = Column[Standing](
        f"{rows[0].metric}_common_n",
        f"Common {items}",
        lambda row: cells.number(row.stored_rank.n if row.stored_rank else None),
        align="number",
        shown=False,
    )
    columns = [column for metric in metrics for column in _common_figure(metric, items, shown=metric == rows[0].metric)]
    return [*columns, counted]


def _common_figure(metric: str, items: str, *, shown: bool) -> list[Column[Standing]]:
    def figure(row: Standing) -> RunRank | None:
        return row.stored_ranks.get(metric)

    def cell(row: Standing) -> Cell:
        rank = figure(row)
        return cells.score(rank.value, rank.low, rank.high) if rank and rank.value is not None else cells.number(None)

    def bound(end: str) -> Column[Standing]:
        name = f"{metric}_common_{end}"
        return Column(name, "", lambda row: cells.number(getattr(figure(row), end, None)), shown=False)

    title, help_text = f"On common {items}", COMMON_HELP.format(items=items)
    return [
        Column(f"{metric}_common", title, cell, help_text, align="score", shown=shown),
        bound("low"),
        bound("high"),
    ]


def _secondary_column(metric: str, pages: ProbePages) -> Column[Standing]:
    def cell(row: Standing) -> Cell:
        return cells.number(row.value(metric), 2)

    return Column(metric, pages.metric_label(metric), cell, align="number", folded=True)


def slice_columns(part: Slice, metric: str) -> list[Column[Standing]]:
    """Return the leaderboard's columns of one slice: the score, and for the CSV its interval."""
    dimension, group = labels.dimension(part.dimension), group_title(part.dimension, part.group, {})
    name = labels.group_column(part.dimension, part.group)

    def score(row: Standing) -> Any:
        return row.score(metric, part)

    title, help_text = labels.sentence(group), f"{dimension}: {group}"
    return score_columns(name, title, score, lambda row: score_cell(row.run, score(row)), help_text)


def _run_columns(rows: Sequence[Standing]) -> list[Column[Standing]]:
    """Return the columns about the runs; the source stands above the rows where these are listed apart by it."""
    sources = {row.run.provenance for row in rows if not (row.is_baseline or row.listed_apart)}
    return [
        source_column(lambda row: row.run, align="wide", shown=len(sources) > 1),
        Column("date", "Date", lambda row: cells.day(row.run.finished), shown=False),
        Column("group", "", lambda row: cells.text(row.run.settings_group), shown=False),
        Column("way", "", lambda row: cells.text(row.way), shown=False),
        Column("run", "", lambda row: cells.number(row.run.pk), shown=False),
        Column("commit", "", lambda row: cells.text(row.run.model.commit), shown=False),
        Column("version", "", lambda row: cells.text(row.run.benchmark.version), shown=False),
    ]


# The picture above the standings: scores against sizes, or the two cultures of a pair.


class ModelAxis(NamedTuple):
    """What scores are set against: its name within a sentence, and where a model is on it, None if that is unknown."""

    name: str
    axis: ScalingAxis
    place: Callable[[Model], float | None]


AXIS = "axis"  # the parameter that chooses one of these
AXES: Mapping[str, ModelAxis] = {
    "": ModelAxis("model size", PARAMETERS, lambda model: model.parameters),
    "active": ModelAxis("active size", ACTIVE, lambda model: model.active_parameters),
    "date": ModelAxis("date", DATE, lambda model: on_date_axis(model.hub_created) if model.hub_created else None),
    "tokens": ModelAxis("length of training", TOKENS, lambda model: model.tokens),
}


def offered_axes(board: Leaderboard, pair: PairInLanguage | None) -> list[str]:
    """Return the keys of the axes on which at least two models have a place.

    The picture of a pair of cultures has other axes. Where no model has idle parameters, the active size is the size.
    """
    models = [] if pair else [row.run.model for row in _charted(board.standings)]
    offered = [key for key, axis in AXES.items() if sum(bool(axis.place(model)) for model in models) > 1]
    return [key for key in offered if key != "active" or any(model.idle_parameters for model in models)]


def chosen_axis(query: QueryDict, offered: Sequence[str]) -> str:
    """Return the axis that a query string asks for if it is offered, else the size if it is, else the first offered."""
    wanted = [query.get(AXIS, ""), ""]
    return next((key for key in wanted if key in offered), offered[0] if offered else "")


def axis_links(query: QueryDict, offered: Sequence[str]) -> list[PageLink]:
    """Return the links that choose one of the offered axes; none without a choice."""
    chosen = chosen_axis(query, offered)
    links = [
        PageLink(labels.sentence(AXES[key].name), link(query, **{AXIS: key or None}), key == chosen) for key in offered
    ]
    return links if len(links) > 1 else []


def standings_charts(
    filters: LeaderboardFilter, board: Leaderboard, pair: PairInLanguage | None, axis: str = ""
) -> list[Chart]:
    """Return the chart, if there is anything to draw. `pair`: what the rows are about; `axis`: one of `AXES`."""
    rows = board.standings
    charted = _charted(rows)
    title = pages_of(filters.benchmark).metric_label(filters.metric)
    chart = gaps_chart(pair, charted, title) or _scatter(title, rows, charted, AXES[axis])
    return [chart] if chart else []


def _charted(rows: Sequence[Standing]) -> list[Standing]:
    """Return the rows that have places in the picture.

    These are runs of one group, and none that were asked only some of the items, as figures of different settings share
    no axis.
    """
    groups = [row.group for row in rows if not (row.is_baseline or row.some_items)]
    return [row for row in rows if groups and row.group == groups[0] and not row.some_items]


def _scatter(title: str, rows: Sequence[Standing], charted: Sequence[Standing], axis: ModelAxis) -> Chart | None:
    """Return the chart of scores against sizes, or what else the axis has, if that is known of any model."""
    scored = [row for row in charted if row.main and row.main.value is not None and not row.is_baseline]
    placed = [row for row in scored if axis.place(row.run.model)]
    if not placed:
        return None
    models, scores = labels.counted([row.run for row in placed]), _sized_scores(placed, axis)
    summary = f"{title} by {axis.name}, {models}. {best_and_largest(scores, axis.axis)}"
    if left_out := len({row.hub_id for row in scored} - {row.hub_id for row in placed}):
        summary += f" Without a known {axis.name}, and so left out: {labels.number_of(left_out, 'model')}."
    if any(row.run.is_published for row in placed):
        summary += " Hollow markers are published figures."
    figure = charts.scaling_curve(scores, chance_of(rows), labels.within(title), axis.axis)
    return Chart("scatter", f"{title} by {axis.name}", summary, figure)


def chance_of(rows: Sequence[Standing]) -> float | None:
    """Return what guessing reaches, where a baseline says so."""
    by_id = {row.hub_id: row.main.value for row in rows if row.main}
    return next((by_id[name] for name in GUESSES if by_id.get(name) is not None), None)


def _sized_scores(rows: Sequence[Standing], axis: ModelAxis) -> list[SizedScore]:
    return [
        SizedScore(
            row.hub_id.rpartition("/")[2],
            row.main.value,
            row.main.low,
            row.main.high,
            place,
            row.run.model.family,
            not row.run.is_published,
            row.run.get_absolute_url(),
            row.run.model.kind,
        )
        for row in rows
        if row.main and row.main.value is not None and (place := axis.place(row.run.model))
    ]


# The columns that a leaderboard offers and the filter that a query string asks for, for the page and the API.


def offered_slices(benchmark: Benchmark) -> list[Slice]:
    """Return the slices that can be columns of the benchmark's leaderboard."""
    pages = pages_of(benchmark)
    return slices(benchmark, pages.main_metric(benchmark), pages.fine_dimensions)


def pair_of(query: QueryDict, benchmark: Benchmark, offered: list[Slice]) -> PairInLanguage | None:
    """Return the part of the items that the rows are about, where a reader chooses one."""
    return chosen_pair(query, offered_pairs(offered))


def read_filter(query: QueryDict, benchmark: Benchmark, offered: list[Slice]) -> LeaderboardFilter:
    """Return what the query string asks for; what does not exist is left out."""
    pages, pair = pages_of(benchmark), pair_of(query, benchmark, offered)
    defaults = pages.default_dimensions if pair is None else ()
    return LeaderboardFilter(
        benchmark,
        pages.ranking_metric(benchmark),
        [*pages.metrics_beside(benchmark), *([GAP] if pair else [])],
        chosen=chosen_facets(query),
        search=query.get("search", "").strip(),
        slices=chosen_slices(query, offered, defaults),
        rank_published=query.get("published") == "ranked",
        part=pair.part if pair else OVERALL_SLICE,
        sides=pair.sides if pair else (),
        limits=pair.limits if pair else {},
    )
