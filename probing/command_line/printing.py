"""Tables and scores as text on the terminal, and as CSV."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from probing.files.folders import new_file

if TYPE_CHECKING:  # pandas takes longer to import than the help takes to print
    import pandas as pd


def print_lines(title: str, lines: Sequence[str]) -> None:
    if lines:
        print("", title, *lines, sep="\n")


def print_by_dimension(table: "pd.DataFrame") -> None:
    for dimension, rows in table.groupby("dimension", sort=False):
        print(f"\n{dimension}")
        print_table(rows.drop(columns="dimension"))


def print_scores(scores: "pd.DataFrame") -> None:
    """Print tidy scores by dimension; several metrics without intervals stand side by side, in one row per group."""
    for dimension, rows in scores.groupby("dimension", sort=False):
        print(f"\n{dimension}")
        if rows["metric"].nunique() > 1 < rows["group"].nunique() and rows[["low", "high"]].isna().all(axis=None):
            print_table(_side_by_side(rows))
        else:
            print_table(rows.drop(columns="dimension"))


def _side_by_side(rows: "pd.DataFrame") -> "pd.DataFrame":
    values = rows.pivot(index=["group", "n"], columns="metric", values="value")
    groups = rows[["group", "n"]].drop_duplicates()
    return values.loc[list(groups.itertuples(index=False)), rows["metric"].unique()].reset_index()


def print_table(rows: "pd.DataFrame") -> None:
    print(rows.to_string(index=False, na_rep="", float_format=lambda value: f"{value:.4g}"))


def write_csv(table: "pd.DataFrame", path: Path | None) -> None:
    """Write a table to a new file, or nothing where none is named."""
    if path:
        with new_file(path) as new:
            table.to_csv(new, index=False)
