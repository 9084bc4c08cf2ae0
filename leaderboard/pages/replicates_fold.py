"""The folds with replicates, in one row: runs of a benchmark, and steps of trainings, that differ only in a seed."""

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from leaderboard.figures.comparisons import records
from leaderboard.figures.item_rows import Row
from leaderboard.figures.standings import Standing
from leaderboard.figures.training import StepScore
from leaderboard.ui import cells, labels
from leaderboard.ui.sections import Section, section
from leaderboard.ui.tables import Column, Table
from probing.analysis.intervals import over_seeds

LEAD = "Mean and spread of models and runs that differ in nothing but a seed."
NAMES = ("model", "settings", "provenance")  # what tells runs apart, in words
TITLES = {"mean": "Mean", "sd": "Standard deviation", "lowest": "Lowest", "highest": "Highest"}


def replicates_fold(standings: Sequence[Standing]) -> list[Section]:
    """Return the section, or nothing where no two rows differ in a seed alone. Baselines and publications have none."""
    rows = [
        (row.hub_id, row.group, row.run.provenance, row.main.value)
        for row in standings
        if row.main and not row.is_baseline and not row.run.is_published
    ]
    settings = Column[Row]("settings", "Settings", lambda row: cells.text(labels.sentence(row["settings"])))
    return _fold(rows, NAMES, settings)


def step_replicates_fold(points: Sequence[StepScore]) -> list[Section]:
    """Return the section with a row for each step of trainings that differ in a seed alone, or nothing."""
    rows = [(point.run.model.hub_id, str(point.step), point.value) for point in points]
    step = Column[Row]("step", "Step", lambda row: cells.number(int(row["step"])), align="number")
    return _fold(rows, ("model", "step"), step)


def _fold(rows: Sequence[tuple[object, ...]], names: Sequence[str], second: Column[Row]) -> list[Section]:
    table = over_seeds(pd.DataFrame(rows, columns=[*names, "value"]), names)
    return [replace(section(_table(records(table), second)), lead=LEAD)] if len(table) else []


def _table(rows: Sequence[Row], second: Column[Row]) -> Table[Row]:
    def figure(name: str, title: str) -> Column[Row]:
        return Column(name, title, lambda row: cells.number(row[name]), align="number")

    columns: list[Column[Row]] = [
        Column("model", "Model", lambda row: cells.text(row["model"]), align="head"),
        second,
        Column("runs", "Runs", lambda row: cells.number(row["runs"]), align="number"),
        *(figure(name, title) for name, title in TITLES.items()),
    ]
    return Table("replicates", "Replicates", columns, rows)
