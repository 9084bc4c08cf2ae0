"""The fold of a benchmark with the sizes at which other models know as much, and the models that are best of theirs."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from leaderboard.figures.kept_lists import KeptLists
from leaderboard.figures.standings import Leaderboard, LeaderboardFilter, made_of_rows
from leaderboard.models import RunRank
from leaderboard.pages.standings_table import chance_of, compared_items
from leaderboard.probes import pages_of
from leaderboard.ui import cells, labels
from leaderboard.ui.cells import Cell
from leaderboard.ui.columns import model_column
from leaderboard.ui.sections import Section, section
from leaderboard.ui.tables import Column, Table
from probing.analysis.size_equivalents import FEWEST, SizeEquivalent, size_equivalents, unbeaten, usual_error
from probing.errors import BadInput

SHOWN = 40  # models on one page of the table
SIZES_LEAD = "How large other models are that know as much, and which models are the best of their size."
BEYOND = 10  # sizes are named up to this many times the largest model's, and down to the same part of the smallest's
SIZES_NOTE = (
    "A line of scores over the logarithm of the size is fitted to all other models, and the size at which it reaches "
    "the score of the model is read off, with an interval of 95 %. A size counts all parameters, also where only some "
    "of them are used for each token. Only runs with the usual settings that were measured here count."
)


class SizedRank(NamedTuple):
    """A ranked run of a model of known size, and the sizes that go with its score by the line of the other models.

    `is_unbeaten`: it scores higher than all models of the same or a smaller size. `is_unbeaten_active`: the same by
    the parameters that compute with each token, among models that state them.
    """

    rank: RunRank
    equivalent: SizeEquivalent | None
    is_unbeaten: bool
    is_unbeaten_active: bool


_SIZED = KeptLists[list[SizedRank]](most=4)


def size_equivalents_fold(filters: LeaderboardFilter, board: Leaderboard) -> list[Section]:
    """Return the section, or nothing while too few models of known sizes are ranked or scores do not rise with them."""
    rows = made_of_rows(_SIZED, filters, board, lambda latest: _sized_ranks(latest.compared))
    error = usual_error([_size(row.rank) for row in rows], [row.equivalent for row in rows])
    if error is None:
        return []
    note = f"{SIZES_NOTE} The median model is {error:.1f} times as large or as small as its score says."
    table = _sizes_table(filters, rows, chance_of(board.everything))
    return [replace(section(table, note=note), lead=SIZES_LEAD)]


def _sized_ranks(ranks: Sequence[RunRank]) -> list[SizedRank]:
    """Return the runs of each way of asking that have enough models of known sizes, in the order of their ranks."""
    by_way: dict[str, list[RunRank]] = {}
    for rank in ranks:
        if rank.run.model.parameters:
            by_way.setdefault(rank.run.way, []).append(rank)
    return [row for alike in by_way.values() if len(alike) > FEWEST for row in _compared_in_size(alike)]


def _compared_in_size(ranks: Sequence[RunRank]) -> list[SizedRank]:
    sizes, scores = [_size(rank) for rank in ranks], [rank.value or 0.0 for rank in ranks]
    try:
        equivalents = size_equivalents(sizes, scores)
    except BadInput:  # all others have one size
        return []
    actives = [rank.run.model.active_parameters for rank in ranks]
    stated = [number for number, active in enumerate(actives) if active]
    best_stated = unbeaten([actives[number] or 0 for number in stated], [scores[number] for number in stated])
    best, best_active = unbeaten(sizes, scores), {stated[number] for number in best_stated}
    return [
        SizedRank(rank, equivalent, number in best, number in best_active)
        for number, (rank, equivalent) in enumerate(zip(ranks, equivalents, strict=True))
    ]


def _size(rank: RunRank) -> int:
    return rank.run.model.parameters or 0


def _sizes_table(filters: LeaderboardFilter, rows: Sequence[SizedRank], chance: float | None) -> Table[SizedRank]:
    def any_idle(rows: Sequence[SizedRank]) -> bool:
        return any(row.rank.run.model.idle_parameters for row in rows)

    metric = pages_of(filters.benchmark).metric_label(filters.metric)
    common = f"Common {compared_items(filters.benchmark)}"
    return Table(
        name="sizes",
        caption="Sizes that go with the scores",
        columns=[
            model_column(lambda row: row.rank.run),
            Column("parameters", "Parameters", lambda row: cells.parameters(_size(row.rank)), align="number"),
            Column(
                "active_parameters",
                "Active parameters",
                lambda row: cells.parameters(row.rank.run.model.active_parameters),
                align="number",
                worth=any_idle,
            ),
            Column(
                "value",
                metric,
                lambda row: cells.score(row.rank.value, row.rank.low, row.rank.high, chance),
                align="score",
            ),
            Column("low", "", lambda row: cells.number(row.rank.low), shown=False),
            Column("high", "", lambda row: cells.number(row.rank.high), shown=False),
            Column("chance", "", lambda row: cells.number(chance), shown=False),
            Column("n", common, lambda row: cells.number(row.rank.n), align="number"),
            *_equivalent_columns([_size(row.rank) for row in rows]),
            Column("unbeaten", "Best of its size", lambda row: _mark(row.is_unbeaten)),
            Column(
                "unbeaten_active",
                "Best of its active size",
                lambda row: _mark(row.is_unbeaten_active),
                worth=any_idle,
            ),
        ],
        rows=rows,
        heading=lambda row: labels.sentence(row.rank.run.way),
        page_size=SHOWN,
    )


def _mark(is_best: bool) -> Cell:
    return cells.text("yes" if is_best else "")


def _equivalent_columns(sizes: Sequence[int]) -> list[Column[SizedRank]]:
    """Return the columns of the sizes that go with the scores, which far beyond the models' `sizes` are not named."""
    smallest, largest = round(min(sizes) / BEYOND), max(sizes) * BEYOND

    def end(name: str) -> Callable[[SizedRank], Cell]:
        def cell(row: SizedRank) -> Cell:
            size = getattr(row.equivalent, name, None)
            if size and size > largest:
                return replace(cells.parameters(None), text=f"over {cells.parameters(largest).text}")
            if size and size < smallest:
                return replace(cells.parameters(None), text=f"under {cells.parameters(smallest).text}")
            return cells.parameters(size and round(size))

        return cell

    return [
        Column("equivalent", "Knows as much as one of", end("size"), align="number"),
        Column("equivalent_low", "from", end("low"), align="number"),
        Column("equivalent_high", "to", end("high"), align="number"),
    ]
