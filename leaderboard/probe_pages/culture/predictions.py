"""The predictions that a model makes most often, right and wrong (the DLAMA paper's Table 3)."""

from collections.abc import Sequence
from functools import lru_cache

import pandas as pd

from leaderboard.display import cells
from leaderboard.display.sections import Section
from leaderboard.display.tables import Column, Table
from leaderboard.lists.compared_runs import records
from leaderboard.models import Run
from leaderboard.probe_pages.culture.places import Place
from leaderboard.probe_pages.culture.sides import objects_of, pair_title, predicate_cell
from leaderboard.stored import item_rows
from leaderboard.stored.item_rows import Row
from probing.analysis.culture import common_predictions

GROUP = ["culture_pair", "language", "relation", "culture"]
STORED_COLUMNS = [*GROUP, "correct", "prediction_label", "prediction_cultures"]
NOTE = (
    "The three most common predictions for each relation and culture, each with its share of all predictions there. "
    "A wrong prediction comes with the culture in which it is right."
)


def predictions(run: Run, place: Place | None) -> Section | None:
    """Return the section about the chosen place; None where the run has no stored items with cultures."""
    if place is None or not run.artefact or not set(STORED_COLUMNS) <= set(item_rows.names(run)):
        return None
    title = "Most common predictions"

    def relation(row: Row) -> cells.Cell:
        version = (row["culture_pair"], row["language"], objects_of(run), row["relation"])
        return predicate_cell(run.benchmark, version)

    group_columns = [
        Column("pair", "", lambda row: cells.text(pair_title(row["culture_pair"])), shown=False),
        Column("language", "", lambda row: cells.text(row["language"]), shown=False),
        Column("relation", "Relation", relation, align="head"),
        Column("culture", "Facts", lambda row: cells.text(row["culture"])),
    ]
    prediction_columns: list[Column[Row]] = [
        Column("right", "Right", lambda row: _prediction_list(row, row["right"]), align="wide"),
        Column("wrong", "Wrong", lambda row: _prediction_list(row, row["wrong"]), align="wide"),
    ]
    pair_language = (place.pair, place.language)
    rows = [row for row in predicted(run.pk, run.artefact) if (row["culture_pair"], row["language"]) == pair_language]
    table = Table(
        name="predictions",
        caption=title,
        columns=[*group_columns, *prediction_columns],
        rows=rows,
        page_size=10,
        export=_one_per_row(group_columns, rows),
    )
    return Section("predictions", title, table, note=f"{place.title}. {NOTE}")


def _one_per_row(group_columns: Sequence[Column[Row]], rows: Sequence[Row]) -> Table[Row]:
    """Return the table for the CSV, which has one prediction per row."""
    columns = [
        *group_columns,
        Column("prediction", "Prediction", lambda row: cells.text(row["prediction_label"])),
        Column("correct", "Right", lambda row: cells.yes_no(row["correct"])),
        Column("share", "Share", lambda row: cells.share(row["share"])),
        Column("right_in", "Right in", lambda row: cells.text(", ".join(sorted(row["prediction_cultures"])))),
    ]
    single = [prediction for row in rows for prediction in (*row["right"], *row["wrong"])]
    return Table(name="predictions", caption="Most common predictions", columns=columns, rows=single)


def _prediction_list(row: Row, predictions: Sequence[Row]) -> cells.Cell:
    def remark(prediction: Row) -> str:
        cultures = [] if prediction["correct"] else sorted(prediction["prediction_cultures"])
        return ", ".join([f"{100 * prediction['share']:.1f} %", *cultures])

    names = [(prediction["prediction_label"], remark(prediction)) for prediction in predictions]
    return cells.several(names, lang=row["language"])


@lru_cache(maxsize=32)
def predicted(run: int, folder: str) -> list[Row]:
    """Return a row for each relation and culture. It is cached, as the folder of a result never changes."""
    row = Run.objects.get(pk=run)
    stored = item_rows.rows(row, item_rows.find(row, item_rows.ItemFilter()), STORED_COLUMNS)
    common = common_predictions(pd.DataFrame(stored))
    return [
        dict(zip(GROUP, names, strict=True))
        | {"right": records(part[part.correct]), "wrong": records(part[~part.correct])}
        for names, part in common.groupby(GROUP, sort=False)
    ]
