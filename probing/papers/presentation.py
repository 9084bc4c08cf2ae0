"""An exhibit as its paper has it: a table with printed, measured and their difference, as text, CSV and LaTeX."""

from collections.abc import Iterator, Mapping, Sequence
from math import isnan
from typing import cast

import pandas as pd

from probing.analysis.breakdowns import ALL
from probing.papers.declarations import Exhibit, Paper
from probing.papers.printed_figures import KEY

KINDS = ("printed", "measured", "difference")
CSV_COLUMNS = [*KEY, "name", "printed", "measured", "low", "high", "n", "difference", "reference"]


def paper_table(paper: Paper, exhibit: Exhibit, cells: pd.DataFrame) -> pd.DataFrame:
    """Return the table in the paper's form: texts, with up to three lines for each of its rows (`KINDS`).

    `cells`: those of a measurement. The columns are those that name a row, one that tells the line, and the paper's.
    """
    named = _named(paper, exhibit, cells)
    columns = sorted(dict.fromkeys(named["column"]), key=lambda column: column == paper.labels.get(ALL, ALL))
    lines = []
    for row, part in named.groupby("row", sort=False):
        for kind in KINDS:
            values = part[part[kind].notna()].set_index("column")[kind]
            if len(values):
                texts = {column: in_unit(exhibit.unit, values.get(column), kind) for column in columns}
                lines.append({**dict(zip(exhibit.rows, cast(tuple[str, ...], row), strict=True)), "": kind, **texts})
    return pd.DataFrame(lines, columns=[*exhibit.rows, "", *columns])


def all_figures(exhibit: Exhibit, cells: pd.DataFrame) -> pd.DataFrame:
    """Return every cell as a row with full precision, for CSV."""
    return _with_difference(cells)[CSV_COLUMNS].assign(exhibit=exhibit.number)


def as_latex(paper: Paper, exhibit: Exhibit, table: pd.DataFrame) -> str:
    """Return the table of an exhibit as LaTeX for the package booktabs, with its caption."""
    caption = f"{paper.title}, {exhibit.number}: {exhibit.caption}"
    escaped = caption.replace("%", r"\%").replace("&", r"\&").replace("_", r"\_")
    return (
        table.style.hide(axis="index")
        .format(escape="latex")
        .to_latex(caption=escaped, label=f"tab:{paper.name}-{exhibit.slug}", hrules=True)
    )


def labels(paper: Paper, exhibit: Exhibit, values: Sequence[str]) -> list[str]:
    """Return the names of groups, metrics and ways for readers."""
    ways = {way.name: way.label for way in exhibit.ways}
    return [paper.labels.get(value, ways.get(value, value)) for value in values]


def in_unit(unit: str, value: float | None, kind: str = "") -> str:
    """Return a figure as the paper writes it: in percent, as a number, or as a power of ten."""
    if value is None or isnan(value):
        return ""
    sign = "+" if kind == "difference" else ""
    if unit == "percent":
        return f"{100 * value:{sign}.2f}"
    if unit == "power":
        return f"{value:{sign}.2e}"
    return f"{value:{sign},.0f}" if value == round(value) else f"{value:{sign}.3f}"


def remarks(exhibit: Exhibit, cells: pd.DataFrame, sources: Sequence[str], sample: int | None) -> Iterator[str]:
    """Yield why measured figures can differ from printed ones where both stand, or why none are printed."""
    if cells["value"].notna().any():
        has_printed = cells["printed"].notna().any()
        if sample:
            about_all = "; the paper's figures are about all" if has_printed else ""
            yield f"Measured on a sample of {sample} for each relation{about_all}."
        if has_printed:
            yield from sources
        if exhibit.differs:
            yield exhibit.differs


def facts(values: Mapping[str, object]) -> list[str]:
    """Return what the paper states beside measurements, a line each."""
    return [f"{name}: {value}" for name, value in values.items()]


def _named(paper: Paper, exhibit: Exhibit, cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells with the names of their row, a tuple, and of their column for readers."""
    shown = _with_difference(cells).assign(model=cells["name"])
    parts = {field: labels(paper, exhibit, shown[field].tolist()) for field in {*exhibit.rows, *exhibit.columns}}
    rows = list(zip(*(parts[field] for field in exhibit.rows), strict=True))
    columns = [" ".join(values) for values in zip(*(parts[field] for field in exhibit.columns), strict=True)]
    return shown.assign(row=pd.Series(rows, index=shown.index, dtype=object), column=columns)


def _with_difference(cells: pd.DataFrame) -> pd.DataFrame:
    measured = cells["value"].astype(float)
    return cells.assign(measured=measured, difference=measured - cells["printed"].astype(float))
