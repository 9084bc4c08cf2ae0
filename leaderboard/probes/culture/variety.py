"""The variety of the answers to a benchmark's predicates, beside the best P@1 (the DLAMA paper's Table 2)."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import pandas as pd

from leaderboard.figures import benchmarks
from leaderboard.models import Benchmark, Run
from leaderboard.probes.culture.pairs import PairInLanguage
from leaderboard.probes.culture.sides import Sides, languages_cell, objects_of, pair_title, predicate_cell
from leaderboard.ui import cells
from leaderboard.ui.sections import Section, section
from leaderboard.ui.tables import Column, Table
from probing.analysis.breakdowns import ALL
from probing.analysis.culture_metrics import ENTROPY_COLUMNS, entropies, totals, west_last
from probing.errors import ProbingError

NOTE = (
    "An entropy of 0 means that one object is right for all items, so a model need not know the subject. "
    "The best P@1 is the best of the models that were measured here."
)
LEAD = "How easy the right answers of each relation are to guess, beside the best that a model reached."
BestScores = Mapping[tuple[str, str, str, str, str], float]  # pair, language, objects, relation, culture


class Variety(NamedTuple):
    """A relation, or all of them, in the languages in which its items are the same.

    `sides`: culture, number of items and entropy in bits, the West last.
    """

    pair: str
    objects: str
    relation: str
    sides: tuple[tuple[str, int, float], ...]
    languages: list[str]


def variety_section(benchmark: Benchmark, rows: Sequence[Sides], pair: PairInLanguage | None) -> Section | None:
    """Return the section with items, entropies and the best P@1 of both cultures; None without the files.

    It is about the relations of the chosen pair, or of all pairs where none is chosen.
    """
    varieties, notes = variety(benchmark.pk) if benchmark.path else ([], ())
    if pair is not None:
        varieties = [row for row in varieties if row.pair == pair.name and pair.language in row.languages]
    if not varieties:
        return None
    best = _best_scores(rows)

    def relation(row: Variety) -> cells.Cell:
        return predicate_cell(benchmark, (row.pair, row.languages[0], row.objects, row.relation))

    columns = [
        *_differing_columns(varieties),
        Column("relation", "Relation", relation, align="head"),
        *_side_columns("first", 0, varieties, best),
        *_side_columns("second", 1, varieties, best),
    ]
    table = Table("entropies", "How varied the answers are", columns, varieties, page_size=60)
    return replace(section(table, note=" ".join([NOTE, *notes])), lead=LEAD)


def _differing_columns(rows: Sequence[Variety]) -> list[Column[Variety]]:
    """Return what tells items of several pairs and languages apart; a page has the columns in which rows differ."""
    columns: list[Column[Variety]] = [
        Column("pair", "Pair", lambda row: cells.text(pair_title(row.pair)), align="kind", folded=True),
        Column("language", "Language", lambda row: languages_cell(row.languages), folded=True),
        Column("objects", "Objects", lambda row: cells.text(row.objects), folded=True),
    ]
    return [replace(column, shown=len({column.cell(row).value for row in rows}) > 1) for column in columns]


def _side_columns(name: str, side: int, rows: Sequence[Variety], best: BestScores) -> list[Column[Variety]]:
    """Return number of items, entropy and best P@1 of one side."""
    title = _only({row.sides[side][0] for row in rows}, ("First culture", "West")[side])

    def best_of(row: Variety) -> float | None:
        relation, culture = row.relation.replace(ALL, ""), row.sides[side][0]
        values = (best.get((row.pair, language, row.objects, relation, culture)) for language in row.languages)
        return max((value for value in values if value is not None), default=None)

    return [
        Column(
            f"{name}_items",
            f"{title}, questions",
            lambda row: cells.number(row.sides[side][1]),
            align="number",
            folded=True,
        ),
        Column(
            f"{name}_entropy",
            f"{title}, entropy in bits",
            lambda row: cells.number(row.sides[side][2], 1),
            align="number",
        ),
        Column(f"{name}_best", f"{title}, best P@1", lambda row: cells.number(best_of(row)), align="number"),
    ]


def _only(names: Set[str], otherwise: str) -> str:
    """Return the one name if all rows have the same."""
    return next(iter(names)) if len(names) == 1 else otherwise


def _best_scores(rows: Sequence[Sides]) -> BestScores:
    """Map pair, language, objects, relation and culture to the best P@1 measured here."""
    best: dict[tuple[str, str, str, str, str], float] = {}
    for row in rows:
        for culture, score in row.cultures.items():
            key = (row.pair, row.language, objects_of(row.run), row.relation, culture)
            if row.run.provenance == Run.Provenance.MEASURED and score.value is not None:
                best[key] = max(best.get(key, 0.0), score.value)
    return best


@lru_cache(maxsize=8)
def variety(benchmark: int) -> tuple[list[Variety], tuple[str, ...]]:
    """Return a row per relation, with all relations together last, and the benchmark's notes on what was left out.

    It is cached, as a version of a benchmark never changes.
    """
    try:
        content = benchmarks.read(Benchmark.objects.get(pk=benchmark))
    except ProbingError:
        return [], ()
    relations = entropies(content)
    rows: dict[tuple[object, ...], Variety] = {}
    table = pd.concat([relations, totals(relations)])
    for names, part in table.groupby(ENTROPY_COLUMNS[:4], sort=False):
        pair, language, objects, relation = map(str, names)
        both = zip(part.culture, part["items"], part.entropy, strict=True)
        sides = tuple(sorted(both, key=lambda side: west_last(side[0])))
        if len(sides) == 2:
            row = rows.setdefault((pair, objects, relation, sides), Variety(pair, objects, relation, sides, []))
            row.languages.append(language)
    return list(rows.values()), content.notes
