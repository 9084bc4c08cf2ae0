"""The standings of a benchmark: its finished runs with their figures and ranks, and what facets would leave of them.

Runs are ranked in groups of equal settings, the usual ones first (docs/methods/comparing.md). Rows of a group have
answered the same items.

A row is a dict: the `run`; its `figures`, which are rows of the board by metric and slice, and its `main` one; its
`ranks`, which are stored by metric, from paired comparisons; and its `rank`, the best and the worst place in its group,
None without one. `group` says what sets its settings apart, and `some_items` that it was asked only some of the items.
Rows of equal `place` stand together.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
from django.http import QueryDict

from leaderboard.changed_settings import asks_other_items
from leaderboard.figures.board import WHOLE_SCORE, board, ends, filtered, groups_of, rows_of
from leaderboard.figures.filters import SIZE_TITLES
from leaderboard.figures.runs import ANY_VERSION, finished
from leaderboard.figures.scores import LAST, OVERALL_SLICE, Slice, main_part, slices
from leaderboard.figures.verdicts import verdict_of_intervals
from leaderboard.models import Benchmark, Run, RunRank
from leaderboard.models.standing import rank_range
from probing.analysis.verdicts import BETTER, WORSE
from probing.kinds import KINDS

Row = dict[str, Any]
MEASURED = Run.Provenance.MEASURED.value
Interval = tuple[float, tuple[float, float]]  # a figure with the ends of its interval
# The beginnings of headings above the groups of a leaderboard, in their order.
OTHER_SETTINGS, SOME_ITEMS = "Other settings", "Some of the questions"
# The columns of the board by which readers narrow the rows, each with its title and the titles of its choices.
FACETS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "kind": ("Type", {kind: kind for kind in KINDS}),
    "size": ("Size", SIZE_TITLES),
    "provenance": ("Source", {name: title.lower() for name, title in Run.Provenance.choices}),
}


@dataclass(frozen=True)
class LeaderboardFilter:
    """The rows and columns that a reader asked for.

    `metric` ranks the runs; `other_metrics` are read with it, overall and by slice. `chosen` maps a facet's name to the
    choice. `part` is the part of the items that all rows are about, which consists of `sides`; runs that were asked
    only this part have `limits` among their settings, by name, and are no group of their own.
    """

    benchmark: Benchmark
    metric: str
    other_metrics: Sequence[str] = ()
    chosen: Mapping[str, str] = field(default_factory=dict)
    search: str = ""
    slices: Sequence[Slice] = ()
    part: Slice = OVERALL_SLICE
    sides: Sequence[Slice] = ()
    limits: Mapping[str, str] = field(default_factory=dict)


def figures_of(filters: LeaderboardFilter) -> pd.DataFrame:
    """Return the rows of the board that the standings show: overall figures and those of the chosen slices."""
    parts = {OVERALL_SLICE, filters.part, *filters.sides, *filters.slices}
    benchmarks, metrics = [filters.benchmark.pk], [filters.metric, *filters.other_metrics]
    table = board(benchmarks, metrics, {part.dimension for part in parts if part.dimension not in LAST}, WHOLE_SCORE)
    if single := [part for part in parts if part.dimension in LAST]:
        dimensions, groups = zip(*single, strict=True)
        of_groups = groups_of(benchmarks, metrics, dimensions, groups, WHOLE_SCORE)
        table = pd.concat([table, of_groups], ignore_index=True)
    shown = [Slice(*part) in parts for part in zip(table["dimension"], table["group"], strict=True)]
    return table[pd.Series(shown, table.index, dtype=bool)]


def standings(filters: LeaderboardFilter, table: pd.DataFrame, runs: Iterable[Run]) -> list[Row]:
    """Return all rows in order: group by group the ranked rows by score and the rest. One query.

    Of all items a run has a row if it has any figure, and of a part of them if it has one of that part.
    """
    figures: dict[int, dict[tuple[str, Slice], Any]] = defaultdict(dict)
    for figure in rows_of(table):
        figures[figure.run][figure.metric, Slice(figure.dimension, figure.group)] = figure
    ranks = _stored_ranks(filters.benchmark) if filters.part == _ranked_part(filters) else {}
    rows = [_row(run, filters, figures[run.pk], ranks.get(run.pk, {})) for run in runs if run.pk in figures]
    shown = [row for row in rows if row["main"] or filters.part == OVERALL_SLICE]
    _rank(shown)
    return sorted(shown, key=_default_order)


def _row(
    run: Run, filters: LeaderboardFilter, figures: Mapping[tuple[str, Slice], Any], ranks: Mapping[str, RunRank]
) -> Row:
    group = run.group_without(filters.limits)
    ranked_here = ranks if group == run.settings_group else {}  # runs that were asked only the part rank apart
    some_items = asks_other_items({name for name, _ in run.group} - filters.limits.keys(), run.benchmark.probe)
    overall = figures.get((filters.metric, OVERALL_SLICE))
    row: Row = {
        "run": run,
        "figures": figures,
        "main": figures.get((filters.metric, filters.part)),
        "spread": overall.error if overall and filters.part == OVERALL_SLICE else None,
        "ranks": ranked_here,
        "paired": ranked_here.get(filters.metric),
        "group": group,
        "some_items": some_items,
        "way": run.way,
    }
    beginning = SOME_ITEMS if some_items else OTHER_SETTINGS
    row["settings_heading"] = f"{beginning}: {group}" if group else ""
    row["place"] = (row["settings_heading"], row["way"])
    return row


def _ranked_part(filters: LeaderboardFilter) -> Slice:
    """Return the part of the questions by which runs are ranked."""
    return OVERALL_SLICE if filters.part == OVERALL_SLICE else main_part(slices(filters.benchmark, filters.metric))


def _stored_ranks(benchmark: Benchmark) -> dict[int, dict[str, RunRank]]:
    """Map each run that has any to its stored ranks by metric."""
    ranks: dict[int, dict[str, RunRank]] = defaultdict(dict)
    for rank in RunRank.objects.filter(run__in=finished(benchmark)).defer("ahead_of", "level_with"):
        ranks[rank.run_id][rank.metric] = rank
    return ranks


def _default_order(row: Row) -> tuple[Any, ...]:
    """Return the sort key of a row: by the figure on the items common to all ranked runs, or else by its own."""
    common = row["paired"].value if row["paired"] else None
    value = common if common is not None or not row["main"] else row["main"].value
    return (row["place"], row["rank"] is None, value is None, -(value or 0.0), row["run"].model.hub_id)


# Ranks: the places that a run can have in its group, from paired comparisons or else from separate intervals.


def _rank(rows: Iterable[Row]) -> None:
    """Give each row its rank in its group; figures that were not measured here have none.

    A run that is ranked by its interval alone takes no place from those that were compared pair by pair.
    """
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        row["rank"], row["rank_text"] = None, ""
        if row["paired"] and row["paired"].best:
            row["rank"], row["rank_text"] = (row["paired"].best, row["paired"].worst), row["paired"].rank_range
        if row["run"].provenance == MEASURED and row["main"] and row["main"].value is not None:
            groups[row["group"], row["way"]].append(row)
    for members in groups.values():
        references = [row for row in members if row["rank"]] or members
        for row in [row for row in members if row["paired"] is None]:
            others = [_interval(other["main"]) for other in references if other is not row]
            row["rank"] = place_by_intervals(_interval(row["main"]), others)
            row["rank_text"] = f"≈ {rank_range(*row['rank'])}"


def _interval(figure: Any) -> Interval:
    """Return a figure with the ends of its interval; one without an interval counts as exact."""
    return figure.value, ends(figure) or (figure.value, figure.value)


def place_by_intervals(own: Interval, others: Sequence[Interval]) -> tuple[int, int]:
    """Return the best and the worst place that the intervals of a figure and of others allow."""
    verdicts = Counter(verdict_of_intervals(*own, *other) for other in others)
    return 1 + verdicts[WORSE], 1 + len(others) - verdicts[BETTER]


# What a reader chooses: which rows, and how many each further choice would leave; which groups are columns.


def narrowed(rows: Sequence[Row], filters: LeaderboardFilter, table: pd.DataFrame) -> list[Row]:
    """Return the rows that pass the search and every facet."""
    passing = set(filtered(table, filters.search, filters.chosen)["run"])
    return [row for row in rows if row["run"].pk in passing]


def facet_choices(
    rows: Sequence[Row], filters: LeaderboardFilter, table: pd.DataFrame
) -> list[tuple[str, str, list[tuple[str, str, int, bool]]]]:
    """Return each facet with its title and its choices: value, title, how many rows it would leave, if it is chosen."""
    models = {row["run"].pk for row in rows}
    one_each = table[table["run"].isin(models)].drop_duplicates("run")
    facets = []
    for facet, (title, choices) in FACETS.items():
        others = {name: choice for name, choice in filters.chosen.items() if name != facet}
        left = Counter(filtered(one_each, filters.search, others)[facet])
        chosen = filters.chosen.get(facet)
        facets.append((facet, title, [(name, words, left[name], name == chosen) for name, words in choices.items()]))
    return facets


def chosen_facets(query: QueryDict) -> dict[str, str]:
    """Return the choice of each facet in a query string; a choice that does not exist is left out."""
    return {name: query.get(name, "") for name, (_, choices) in FACETS.items() if query.get(name) in choices}


def chosen_slices(query: QueryDict, slices: Sequence[Slice], default_dimensions: Sequence[str]) -> list[Slice]:
    """Return the slices that a query string asks for, or those of the default dimensions where it names none."""
    if "columns" not in query:
        return [part for part in slices if part.dimension in default_dimensions]
    names = {Slice.parse(text) for text in query.getlist("columns")}
    return [part for part in slices if part in names]


# Figures that were published about another sample, version or way of measuring than that of the measured runs.


def published_version(benchmark: Benchmark) -> Benchmark | None:
    """Return the version that has the figures which share nothing with runs of this one.

    None if there are no such figures, or if `benchmark` is that version itself, on which nothing can be measured.
    """
    if benchmark.version == ANY_VERSION:
        return None
    versions = Benchmark.objects.filter(slug=benchmark.slug, probe=benchmark.probe, version=ANY_VERSION)
    return versions.filter(printed__isnull=False).distinct().first()
