"""Charts of figures with their 95 % intervals, a dot for each group: figures of Plotly, and pictures as files.

Plotly draws pictures by a browser that it downloads or finds, so files are drawn by matplotlib, which needs neither a
browser nor a network.
"""

from collections.abc import Mapping
from html import escape
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd

from probing.chart_template import ERROR_BAR, LIGHT, chart_template
from probing.errors import BadInput
from probing.extras import extra_package, graph_objects
from probing.files.folders import new_file

TASK = "Drawing a chart"
ROW_HEIGHT, FRAME_HEIGHT = 34, 70  # pixels of a group, and of axes and margins
PAGE = ".html"
# Kinds of pictures, each with the metadata by which the same chart gives the same bytes.
UNDATED: Mapping[str, Mapping[str, None]] = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
WIDTH, DOTS_PER_INCH = 7.0, 150  # of a picture; the width in inches


def dot_figure(table: pd.DataFrame, label: str) -> Any:
    """Return a figure of Plotly; `table` has the columns value, low and high and a row for each group, by name."""
    ordered = table.iloc[::-1]  # the first group on top
    bars = {
        **ERROR_BAR,
        "array": ordered["high"] - ordered["value"],
        "arrayminus": ordered["value"] - ordered["low"],
        "color": LIGHT.soft,
    }
    library = graph_objects(TASK)
    dots = library.Scatter(
        x=ordered["value"],
        y=[escape(str(group)) for group in ordered.index],
        mode="markers",
        marker={"size": 9},
        error_x=bars,
        hovertemplate="%{y}: <b>%{x:.3f}</b><extra></extra>",
    )
    layout = {
        "template": chart_template(LIGHT),
        "height": FRAME_HEIGHT + ROW_HEIGHT * len(table),
        "xaxis_title": escape(label).replace("\n", "<br>"),
        "xaxis_zeroline": _are_differences(table),
        "yaxis": {"type": "category", "showgrid": False},
    }
    return library.Figure(dots, layout)


def write_dots(table: pd.DataFrame, label: str, title: str, path: Path) -> Any:
    """Write the chart to a file: a page that needs no network (.html), or a picture (.png, .svg, .pdf); return it.

    It is a figure of Plotly for a page, and one of matplotlib for a picture.

    Raises `BadInput` for a file with another ending, and `MissingPackage` without the extra `plot`.
    """
    ending = path.suffix.lower()
    kinds = [PAGE, *(f".{kind}" for kind in UNDATED)]
    if ending not in kinds:
        raise BadInput(f"{path} is no picture.", f"Name a file that ends in {', '.join(kinds)}.")
    if ending == PAGE:
        figure = dot_figure(table, label).update_layout(title={"text": escape(title)}, margin={"t": 60})
        with new_file(path) as new:
            figure.write_html(new, include_plotlyjs=True)
        return figure
    library, kind = extra_package("matplotlib", "plot", TASK), ending.removeprefix(".")
    with new_file(path) as new, library.rc_context({"svg.hashsalt": "clozeboard"}):  # else its ids are random
        picture = _drawn(table, label, title)
        picture.savefig(new, format=kind, dpi=DOTS_PER_INCH, metadata=UNDATED[kind])
    return picture


def _drawn(table: pd.DataFrame, label: str, title: str) -> Any:
    """Return matplotlib's figure in the colours of the other charts."""
    library = import_module("matplotlib.figure")
    height = (FRAME_HEIGHT + ROW_HEIGHT * (len(table) + 1)) / 100
    picture = library.Figure(figsize=(WIDTH, height), layout="constrained", facecolor=LIGHT.paper)
    axes = picture.subplots()
    places = range(len(table))
    ends = [table["value"] - table["low"], table["high"] - table["value"]]
    axes.errorbar(table["value"], places, xerr=ends, fmt="o", color=LIGHT.accent, ecolor=LIGHT.soft, elinewidth=1.5)
    # Dollar signs in names would be read as formulas.
    axes.set_yticks(places, [str(group).replace("$", r"\$") for group in table.index], color=LIGHT.ink)
    axes.set_ylim(len(table) - 0.4, -0.6)
    axes.set_xlabel(label.replace("$", r"\$"), color=LIGHT.soft)
    axes.locator_params(axis="x", nbins=5)
    picture.suptitle(title.replace("$", r"\$"), x=0.02, ha="left", fontsize=11, color=LIGHT.ink, wrap=True)
    if _are_differences(table):
        axes.axvline(0, color=LIGHT.muted, linewidth=1)
    axes.grid(axis="x", color=LIGHT.line)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, labelcolor=LIGHT.ink)
    axes.spines[:].set_visible(False)
    return picture


def _are_differences(table: pd.DataFrame) -> bool:
    """Tell whether the figures can be negative, so that a chart needs a line at 0."""
    return bool((table["low"] < 0).any())
