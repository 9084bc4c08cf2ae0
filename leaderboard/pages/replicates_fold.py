"""The fold of a benchmark's page with replicates: runs that differ in nothing but a seed, in one row."""

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from leaderboard.figures.comparisons import records
from leaderboard.figures.item_rows import Row
from leaderboard.figures.standings import Standing
from leaderboard.ui import cells, labels
from leaderboard.ui.sections import Section, section
from leaderboard.ui.tables import Column, Table
from probing.analysis.replicates import over_seeds

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
    table = over_seeds(pd.DataFrame(rows, columns=[*NAMES, "value"]), NAMES)
    return [replace(section(_table(records(table))), lead=LEAD)] if len(table) else []


def _table(rows: Sequence[Row]) -> Table[Row]:
    def figure(name: str, title: str) -> Column[Row]:
        return Column(name, title, lambda row: cells.number(row[name]), align="number")

    columns: list[Column[Row]] = [
        Column("model", "Model", lambda row: cells.text(row["model"]), align="head"),
        Column("settings", "Settings", lambda row: cells.text(labels.sentence(row["settings"]))),
        Column("runs", "Runs", lambda row: cells.number(row["runs"]), align="number"),
        *(figure(name, title) for name, title in TITLES.items()),
    ]
    return Table("replicates", "Replicates", columns, rows)
