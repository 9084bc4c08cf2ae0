"""Who knows most: the best figure of a benchmark among all models or those below a size, and which models are level.

Variants of a model, which are the same network trained or stored in another way, are told by their names.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from leaderboard.figures.board import board, ends, reaches, rows_of, with_value
from leaderboard.figures.overview import BenchmarkColumn, Figure, ModelKey, ModelRow, Provenance
from leaderboard.figures.scores import DOMAIN

SIZE_CLASSES = {"1 B": 10**9, "4 B": 4 * 10**9, "10 B": 10**10, "40 B": 4 * 10**10}


class Leader(NamedTuple):
    """The highest of several figures. `level`: the other rows that cannot be told from it, the highest first.

    `next`: the second highest, where nothing says how sure the highest is. `models`: how many have a figure.
    """

    row: ModelRow
    figure: Figure
    level: Sequence[ModelRow]
    models: int
    next: tuple[Figure, ModelRow] | None = None


def fullest(columns: Sequence[BenchmarkColumn]) -> BenchmarkColumn | None:
    """Return the column with the most figures about the same items, None where no column has any."""
    best = max(columns, key=lambda column: len(column.comparable), default=None)
    return best if best and best.comparable else None


Ranked = Sequence[tuple[Figure, ModelRow]]


def ranked(rows: Sequence[ModelRow], column: BenchmarkColumn) -> Ranked:
    """Return the rows with their figures in a column, the highest first; none where these are no shares.

    Of figures that are no shares, more would not always be better. Those about other items are left out.
    """
    comparable = [(figure, row) for row in rows if (figure := column.comparable.get(row.key))]
    if not all(0 <= figure.value <= 1 for figure, _ in comparable):
        return []
    return sorted(comparable, key=lambda pair: -pair[0].value)


def leader(figures: Ranked, below: int | None = None, measured: bool | None = None) -> Leader | None:
    """Return the best of models with fewer than `below` parameters and with figures of one provenance, if any."""
    chosen = [
        (figure, row)
        for figure, row in figures
        if (measured is None or figure.is_measured == measured)
        and (below is None or (row.parameters is not None and row.parameters < below))
    ]
    if not chosen:
        return None
    (best, of), *others = chosen
    level = [row for figure, row in others if reaches(figure, best)]
    return Leader(of, best, level, len(chosen), others[0] if others and ends(best) is None else None)


# Variants: models that differ from another one by what was done with its weights after its training.


# Parts of a name that say so. "Base" counts at the end only, where it does not state a size as in bert-base-cased.
VARIANT = re.compile(
    r"[-_.](?:instruct|chat|it|sft|dpo|gguf|awq|gptq|bnb|fp8|i?q\d(?:_\w+)*|int[48]|[48]bit)(?=[-_.+]|$)|-base$",
    re.IGNORECASE,
)
SIMILAR = 1.1  # how many times the parameters of the one another variant has at most


def folded(rows: Sequence[ModelRow]) -> dict[ModelKey, list[ModelRow]]:
    """Map the first row of each model to the rows of its other variants, in their order.

    A variant has a row of its own where it has a figure on a benchmark on which that row has none.
    """
    firsts: dict[str, list[ModelRow]] = {}
    variants: dict[ModelKey, list[ModelRow]] = {}
    for row in rows:
        name = common_name(row.hub_id)
        alike = (
            first
            for first in firsts.get(name, ())
            if is_of_similar_size(first.parameters, row.parameters) and row.figures.keys() <= first.figures.keys()
        )
        first = next(alike, None)
        if first is None:
            firsts.setdefault(name, []).append(row)
            variants[row.key] = []
        else:
            variants[first.key].append(row)
    return variants


@lru_cache(maxsize=2**12)
def common_name(hub_id: str) -> str:
    """Return what the ids of all variants of a model have in common, in small letters."""
    return VARIANT.sub("", hub_id.partition("+")[0]).casefold()


def is_of_similar_size(one: int | None, other: int | None) -> bool:
    """Tell whether two numbers of parameters may be those of one network; an unknown one may."""
    return not one or not other or max(one, other) <= SIMILAR * min(one, other)


# The figures of a column by group, such as those of each domain.


MOST_GROUPS = 12  # columns; a benchmark with more groups shows those that most models have


@dataclass(frozen=True)
class Groups:
    """The groups of a dimension with the figures of each run. `ranges`: the lowest and the highest of each group."""

    dimension: str
    names: Sequence[str]
    ranges: Mapping[str, tuple[float, float]]
    by_run: Mapping[int, Mapping[str, Figure]]


def column_groups(column: BenchmarkColumn, dimensions: Sequence[str]) -> Groups:
    """Return the groups of the first of the domains and these dimensions in which a model has figures."""
    dimensions = (DOMAIN, *dimensions)
    scores = with_value(board([column.version.pk], [column.metric], dimensions))
    figures: dict[str, dict[int, dict[str, Figure]]] = {}
    for row in rows_of(scores[scores["provenance"] != Provenance.BASELINE.value]):
        figures.setdefault(row.dimension, {}).setdefault(row.run, {})[row.group] = row
    names = {dimension: _most_frequent(by_run) for dimension, by_run in figures.items()}
    shown = next((name for name in dimensions if len(names.get(name, ())) > 1), "")
    by_run = figures.get(shown, {})
    return Groups(shown, names.get(shown, []), _ranges(by_run), by_run)


def _ranges(by_run: Mapping[int, Mapping[str, Figure]]) -> dict[str, tuple[float, float]]:
    values: dict[str, list[float]] = {}
    for figures in by_run.values():
        for group, figure in figures.items():
            values.setdefault(group, []).append(figure.value)
    return {group: (min(of_group), max(of_group)) for group, of_group in values.items()}


def _most_frequent(by_run: Mapping[int, Mapping[str, Figure]]) -> list[str]:
    """Return the groups that most runs have, in alphabetical order."""
    counts: dict[str, int] = {}
    for figures in by_run.values():
        for group in figures:
            counts[group] = counts.get(group, 0) + 1
    most = sorted(counts, key=lambda group: (-counts[group], group))[:MOST_GROUPS]
    return sorted(most)
