"""The fold of a run on cultures: which answers it gives, merged as readers wish, and how near they are to right ones.

The answers by language are those of DLAMA's Figure 1, their nearness is that of the colours of its Table 3.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

import pandas as pd
from django.http import QueryDict

from leaderboard.figures import benchmarks, item_rows
from leaderboard.figures.comparisons import records
from leaderboard.figures.item_rows import Row
from leaderboard.models import Run
from leaderboard.probes.culture.pairs import PairInLanguage
from leaderboard.probes.culture.sides import objects_of, predicate_cell
from leaderboard.ui import cells, labels
from leaderboard.ui.cells import Cell
from leaderboard.ui.sections import Fold, Section, TextForm, section
from leaderboard.ui.tables import Column, Table
from probing.analysis.culture_metrics import NEARNESS, nearness, prediction_shares
from probing.errors import ProbingError
from probing.formats.dlama import parse_merged

NAME = "merge"  # of the fold, and of the parameter with the answers that count as one
TITLE = "Which answers it gives, and how near they are"
LEAD = (
    "The most common answers by relation and language, and whether wrong ones are in the right country or next to it."
)
WORDS = {
    "label": "Answers that count as one",
    "hint": "In each line stands a name with a list of labels or ids of Wikidata; P@1 is then computed again.",
    "example": 'Islam = ["Q432", "Muslim"]',
    "button": "Score with these merged",
    "methods": "culture/#predictions-and-entropy",
}
MOST = 5  # answers for each relation and language
COLUMNS = ["relation", "index", "prediction", "language"]
PAIR = "culture_pair"
SHARES = {
    "share": ("Given", "The share of this answer among all that the model gives."),
    "correct_share": ("Rightly", "The part of that share which is right."),
    "right_share": ("Right", "The share of this answer among all right ones."),
}
NEARNESS_NOTE = (
    "Countries and their neighbours are those that the facts of this benchmark state; relations without answers of a "
    "known country are left out."
)


def answers_fold(run: Run, query: QueryDict, pair: PairInLanguage | None) -> Fold | None:
    """Return the fold on the chosen pair, in all languages; None where the files or single predictions are not here."""
    if not run.benchmark.path or not set(COLUMNS) <= set(item_rows.names(run)):
        return None
    form, chosen = TextForm.of(query, NAME, **WORDS), pair.name if pair else ""
    try:
        given, near = answers_given(run.pk, run.artefact, chosen), distances(run.pk, run.artefact, chosen)
    except ProbingError:  # the files of the benchmark have changed
        return None
    sections: list[Section] = []
    if form.text:
        try:
            merged = answers_given(run.pk, run.artefact, chosen, form.text)
            sections, given = [_merged_section(run, chosen, given, merged)], merged
        except ProbingError as error:
            form = replace(form, error=error)
    most = given.groupby(["relation", "language"], sort=False).head(MOST)
    sections.append(section(_answers_table(run, chosen, records(most))))
    if len(near):
        sections.append(section(_nearness_table(run, chosen, records(near)), note=NEARNESS_NOTE))
    return Fold(NAME, TITLE, LEAD, sections, form)


@lru_cache(maxsize=32)
def answers_given(run: int, folder: str, pair: str, merged: str = "") -> pd.DataFrame:
    """Return the shares of a run's answers (`prediction_shares`), those of the text being merged.

    It is cached, as the folder of a result never changes.
    """
    names: Mapping[str, str] = parse_merged(merged, "The list")
    row = Run.objects.select_related("benchmark").get(pk=run)
    return prediction_shares(_rows(row, pair), benchmarks.read(row.benchmark), names)


@lru_cache(maxsize=32)
def distances(run: int, folder: str, pair: str) -> pd.DataFrame:
    """Return how near a run's answers are to right ones (`nearness`); cached like `answers_given`."""
    row = Run.objects.select_related("benchmark").get(pk=run)
    return nearness(_rows(row, pair), benchmarks.read(row.benchmark))


def _rows(run: Run, pair: str) -> pd.DataFrame:
    rows = item_rows.frame(run, [*COLUMNS, PAIR])
    return rows[rows[PAIR] == pair] if pair else rows


def _answers_table(run: Run, pair: str, rows: list[Row]) -> Table[Row]:
    def share(name: str) -> Column[Row]:
        title, help_text = SHARES[name]
        return Column(name, title, lambda row: cells.share(row[name]), help_text, align="score")

    columns: list[Column[Row]] = [
        *_group_columns(run, pair),
        Column("answer", "Answer", lambda row: cells.text(row["answer"])),
        *map(share, SHARES),
    ]
    caption = f"The {MOST} most common answers by relation and language"
    return Table("answers", caption, columns, rows, sortable=False, page_size=15)


def _group_columns(run: Run, pair: str) -> list[Column[Row]]:
    def relation(row: Row) -> Cell:
        return predicate_cell(run.benchmark, (pair, row["language"], objects_of(run), row["relation"]))

    def language(row: Row) -> Cell:
        return replace(cells.text(row["language"]), text=labels.language(row["language"]))

    return [Column("relation", "Relation", relation, align="head"), Column("language", "Language", language)]


def _merged_section(run: Run, pair: str, given: pd.DataFrame, merged: pd.DataFrame) -> Section:
    """Return P@1 by relation and language as it is, and with answers that count as one."""
    keys = ["relation", "language"]
    both = {
        name: table.groupby(keys, sort=False)["correct_share"].sum()
        for name, table in (("p_at_1", given), ("p_at_1_merged", merged))
    }
    columns = [
        *_group_columns(run, pair),
        Column("p_at_1", "P@1", lambda row: cells.share(row["p_at_1"]), align="score"),
        Column("p_at_1_merged", "P@1, merged", lambda row: cells.share(row["p_at_1_merged"]), align="score"),
    ]
    rows = records(pd.DataFrame(both).reset_index())
    return section(Table("merged", "P@1 with answers that count as one", columns, rows, page_size=15))


def _nearness_table(run: Run, pair: str, rows: list[Row]) -> Table[Row]:
    def share(name: str) -> Column[Row]:
        title = labels.sentence(name)
        return Column(name.replace(" ", "_"), title, lambda row: cells.share(row[name]), align="score")

    columns = [
        *_group_columns(run, pair),
        *map(share, NEARNESS),
        Column("predictions", "Answers", lambda row: cells.number(row["predictions"]), align="number"),
    ]
    return Table("nearness", "How near answers are to right ones", columns, rows, page_size=15)
