"""The look of charts, which the library and the site share: fonts, colours, grid and margins as Plotly's template."""

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Palette:
    """Colours and the font of charts, as strings that Plotly or the page understands.

    `ink`: text. `soft`: less important text. `line`: grid and axes. `accent` and `muted`: data. `paper`: what is behind
    the chart. `raised`: what is behind a hover. `font`: families of fonts. `series`:
    the colours of several lines, if a chart has any.
    """

    ink: str
    soft: str
    line: str
    accent: str
    muted: str
    paper: str
    raised: str
    font: str
    series: tuple[str, ...] = ()


# Those of the site's light theme, as charts of the library are mostly seen on white: in notebooks and papers.
LIGHT = Palette(
    ink="#1b1d20",
    soft="#565a61",
    line="#e5e2d9",
    accent="#0b6470",
    muted="#8d9198",
    paper="#ffffff",
    raised="#ffffff",
    font='"Inter", "Segoe UI", "Helvetica Neue", "Liberation Sans", Arial, sans-serif',
    series=("#0b6470", "#c4500f", "#398bf6", "#541e0f", "#5f319c", "#8c6f51", "#191c46", "#898ac2"),
)
ERROR_BAR = {"type": "data", "symmetric": False, "thickness": 1.5, "width": 0}


def chart_template(palette: Palette) -> dict[str, Any]:
    """Return the template of a chart's layout in these colours."""
    axis = {
        "gridcolor": palette.line,
        "zeroline": False,
        "linecolor": palette.line,
        "ticks": "",
        "automargin": True,
        "fixedrange": True,
        "title": {"font": {"size": 12, "color": palette.soft}, "standoff": 10},
    }
    return {
        "layout": {
            "font": {"family": palette.font, "size": 13, "color": palette.ink},
            "paper_bgcolor": palette.paper,
            "plot_bgcolor": palette.paper,
            "margin": {"l": 8, "r": 16, "t": 8, "b": 8},
            "xaxis": axis,
            "yaxis": axis,
            "hovermode": "closest",
            "hoverlabel": {"bgcolor": palette.raised, "bordercolor": palette.line, "font": {"color": palette.ink}},
            "showlegend": False,
            "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "xanchor": "left"},
            "colorway": [palette.accent, palette.muted],
        }
    }


def trace_menu(groups: Sequence[str], of_trace: Sequence[str]) -> dict[str, Any]:
    """Return a menu that shows the traces of one group; `of_trace` has the group of each trace of the chart."""
    buttons = [
        {
            "label": html.escape(group),
            "method": "update",
            "args": [{"visible": [name == group for name in of_trace]}],
        }
        for group in groups
    ]
    return {"buttons": buttons, "x": 0, "xanchor": "left"}
