"""Exhibits as charts of Plotly: printed figures as hollow marks, measured ones as filled marks with their intervals."""

import html
from collections.abc import Callable, Iterator, Mapping
from itertools import cycle
from typing import Any

import pandas as pd

from probing.chart_template import ERROR_BAR, LIGHT, chart_template
from probing.extras import graph_objects
from probing.papers.declarations import Exhibit, Paper
from probing.papers.presentation import labels
from probing.papers.printed_figures import sizes

TASK = "The chart of a paper"
ROW_HEIGHT = 26  # pixels
FRAME = 120  # pixels for axes and legend


def dots(paper: Paper, exhibit: Exhibit, cells: pd.DataFrame) -> Any:
    """Return a chart with a row for each group of the exhibit and a colour for each model, or what tells its rows."""
    places, series = (_text(paper, exhibit, cells, fields) for fields in (exhibit.columns, exhibit.rows))
    return _marks(exhibit, cells, places, series)


def lines(paper: Paper, exhibit: Exhibit, cells: pd.DataFrame) -> Any:
    """Return a chart over the states of a training, a line for each column of the exhibit."""
    return _curves(paper, exhibit, cells.assign(across=cells["name"]), {"type": "category"})


def plane(paper: Paper, exhibit: Exhibit, cells: pd.DataFrame) -> Any:
    """Return a plane whose axes are the exhibit's two metrics, with a mark for each model and way."""
    figure = graph_objects(TASK).Figure()
    across, up = exhibit.scores
    for name, colour in _colours(_text(paper, exhibit, cells, ("way",))):
        own = cells[_text(paper, exhibit, cells, ("way",)) == name]
        for kind, column, style in (("printed", "printed", _hollow(colour)), ("measured", "value", _filled(colour))):
            points = own.pivot(index="name", columns="metric", values=column).dropna().reindex(columns=[across, up])
            labelled = {"mode": "markers+text", "text": [*points.index], "textposition": "top center", **style}
            _add(figure, name, points[across], points[up], labelled, kind)
    axes = [{**_axis(exhibit), "title": {"text": text}} for text in labels(paper, exhibit, [across, up])]
    return _laid_out(figure, xaxis=axes[0], yaxis=axes[1])


def sizes_in_rows(paper: Paper, exhibit: Exhibit, cells: pd.DataFrame) -> Any:
    """Return a chart of each column of the exhibit over the parameters of models, for those whose size is known."""
    sized = cells.assign(across=cells["model"].map(sizes())).dropna(subset="across").sort_values("across")
    return _curves(paper, exhibit, sized, {"type": "log", "title": {"text": "parameters"}})


def boxes(paper: Paper, exhibit: Exhibit, cells: pd.DataFrame) -> Any:
    """Return a box over the repetitions for each model."""
    library = graph_objects(TASK)
    figure = library.Figure()
    for name, colour in _colours(cells["name"]):
        own = cells[cells["name"] == name]
        for kind, values, fill in (("printed", own["printed"], LIGHT.paper), ("measured", own["value"], colour)):
            if values.notna().any():
                own_name = html.escape(f"{name}, {kind}")
                box = {"name": own_name, "boxpoints": "all", "line": {"color": colour}, "fillcolor": fill}
                figure.add_trace(library.Box(y=values.dropna().astype(float), **box))
    return _laid_out(figure, xaxis={"type": "category"}, yaxis=_axis(exhibit))


def parts(paper: Paper, exhibit: Exhibit, cells: pd.DataFrame) -> Any:
    """Return a bar for each group of the exhibit: its first metric, of which the second is the part that is right."""
    library = graph_objects(TASK)
    whole, part = exhibit.scores
    bars = _text(paper, exhibit, cells, exhibit.rows)
    wide = cells.assign(bar=bars).pivot(index="bar", columns="metric", values="value").reindex(bars.unique())
    figure = library.Figure()
    for name, values, colour in (("right", wide[part], LIGHT.accent), ("wrong", wide[whole] - wide[part], LIGHT.muted)):
        figure.add_trace(
            library.Bar(y=wide.index.map(html.escape), x=values, orientation="h", name=name, marker={"color": colour})
        )
    rows = {"type": "category", "autorange": "reversed"}
    return _laid_out(figure, barmode="stack", height=FRAME + ROW_HEIGHT * len(wide), xaxis=_axis(exhibit), yaxis=rows)


def _curves(paper: Paper, exhibit: Exhibit, cells: pd.DataFrame, axis: Mapping[str, Any]) -> Any:
    """Return a chart of each column of the exhibit over what the cells have in `across`."""
    figure = graph_objects(TASK).Figure()
    columns = _text(paper, exhibit, cells, exhibit.columns)
    for name, colour in _colours(columns):
        own = cells[columns == name]
        _add(figure, name, own["across"], own["printed"], {"mode": "lines+markers", **_hollow(colour)}, "printed")
        measured = {"mode": "lines+markers", **_filled(colour), "error_y": _bars(own, colour)}
        _add(figure, name, own["across"], own["value"], measured, "measured")
    return _laid_out(figure, xaxis=axis, yaxis=_axis(exhibit))


def _marks(exhibit: Exhibit, cells: pd.DataFrame, places: pd.Series, series: pd.Series) -> Any:
    figure = graph_objects(TASK).Figure()
    for name, colour in _colours(series):
        own, at = cells[series == name], places[series == name].map(html.escape)
        _add(figure, name, own["printed"], at, {"mode": "markers", **_hollow(colour)}, "printed")
        measured = {"mode": "markers", **_filled(colour), "error_x": _bars(own, colour)}
        _add(figure, name, own["value"], at, measured, "measured")
    height = FRAME + ROW_HEIGHT * (places.nunique() + series.nunique())
    rows = {"type": "category", "autorange": "reversed"}
    return _laid_out(figure, height=height, xaxis=_axis(exhibit), yaxis=rows)


def _add(figure: Any, name: str, across: pd.Series, up: pd.Series, style: Mapping[str, Any], kind: str) -> None:
    """Add marks to a figure, unless all of them lack a value."""
    if across.notna().any() and up.notna().any():
        library = graph_objects(TASK)
        figure.add_trace(library.Scatter(x=across, y=up, name=html.escape(f"{name}, {kind}"), **style))


def _colours(names: pd.Series) -> Iterator[tuple[str, str]]:
    """Yield each name once, with its colour."""
    return zip(dict.fromkeys(names), cycle(LIGHT.series), strict=False)


def _hollow(colour: str) -> dict[str, Any]:
    return {"marker": {"symbol": "circle-open", "size": 10, "color": colour, "line": {"width": 2}}}


def _filled(colour: str) -> dict[str, Any]:
    return {"marker": {"symbol": "circle", "size": 9, "color": colour}}


def _axis(exhibit: Exhibit) -> dict[str, Any]:
    return {"percent": {"tickformat": ".0%"}, "power": {"type": "log"}}.get(exhibit.unit, {})


def _laid_out(figure: Any, **layout: Any) -> Any:
    return figure.update_layout(template=chart_template(LIGHT), showlegend=True, **layout)


def _bars(cells: pd.DataFrame, colour: str) -> dict[str, Any]:
    values = cells["value"].astype(float)
    ends = {"array": cells["high"].astype(float) - values, "arrayminus": values - cells["low"].astype(float)}
    return {**ERROR_BAR, **ends, "color": colour}


def _text(paper: Paper, exhibit: Exhibit, cells: pd.DataFrame, fields: tuple[str, ...]) -> pd.Series:
    """Return the names for readers of what the fields of each cell say."""
    shown = cells.assign(model=cells["name"])
    parts = [labels(paper, exhibit, shown[field].tolist()) for field in fields]
    return pd.Series([" ".join(filter(None, values)) for values in zip(*parts, strict=True)], index=cells.index)


CHARTS: Mapping[str, Callable[[Paper, Exhibit, pd.DataFrame], Any]] = {
    "dots": dots,
    "lines": lines,
    "plane": plane,
    "sizes": sizes_in_rows,
    "boxes": boxes,
    "parts": parts,
}
