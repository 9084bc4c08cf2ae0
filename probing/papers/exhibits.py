"""An exhibit as its paper has it: a table with printed, measured and their difference, as text, CSV, LaTeX or chart.

A chart of Plotly shows printed figures as hollow marks, and measured ones as filled marks with their intervals. Tables
of texts and lists, which papers have in their appendices, are read from the files by which this project asks.
"""

import html
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import cycle
from math import isnan, nan
from typing import Any, cast

import pandas as pd

from probing.analysis.breakdowns import ALL
from probing.benchmark import Relation
from probing.chart_template import ERROR_BAR, LIGHT, chart_template
from probing.curation.cultures import COMMON_SITE, KNOWN_PAIRS, read_culture
from probing.extras import graph_objects
from probing.formats.dlama import natural
from probing.formats.own_wordings import own_texts, paper_questions
from probing.papers.declarations import KEY, UNRESOLVED, Exhibit, Paper, sizes
from probing.papers.measures import ExhibitRuns
from probing.statements.geography_sentences import FACT_TYPES

MEASURED = ["value", "low", "high", "n"]
KINDS = ("printed", "measured", "difference")
CSV_COLUMNS = [*KEY, "name", "printed", "measured", "low", "high", "n", "difference", "reference"]
TASK = "The chart of a paper"
ROW_HEIGHT = 26  # pixels
FRAME = 120  # pixels for axes and legend


def beside(printed: pd.DataFrame, measured: pd.DataFrame) -> pd.DataFrame:
    """Join printed and measured figures: first those that the paper prints, in its order, then the others."""
    unmeasured = dict.fromkeys(MEASURED, nan)
    cells = printed.merge(measured, on=KEY, how="outer") if len(measured) else printed.assign(**unmeasured)
    order = {key: place for place, key in enumerate(dict.fromkeys([*_keys(printed), *_keys(measured)]))}
    places = [order[key] for key in _keys(cells)]
    ordered = cells.assign(place=places).sort_values("place", kind="stable").drop(columns="place")
    names = dict(zip(printed["model"], printed["name"], strict=True))
    own = ordered["model"].map(lambda model: names.get(model) or model.removeprefix(UNRESOLVED))
    return ordered.assign(name=own, reference=ordered["reference"].fillna("")).reset_index(drop=True)


def _keys(table: pd.DataFrame) -> Iterator[tuple[str, ...]]:
    return zip(*(table[name] for name in KEY), strict=True)


def paper_table(paper: Paper, exhibit: Exhibit, cells: pd.DataFrame) -> pd.DataFrame:
    """Return the table in the paper's form: texts, with up to three lines for each of its rows (`KINDS`).

    `cells`: those of a measurement. The columns are those that name a row, one that tells the line, and the paper's.
    """
    named = _named(paper, exhibit, cells)
    columns = sorted(dict.fromkeys(named["column"]), key=lambda column: column == paper.labels.get(ALL, ALL))
    table = []
    for row, part in named.groupby("row", sort=False):
        for kind in KINDS:
            values = part[part[kind].notna()].set_index("column")[kind]
            if len(values):
                texts = {column: in_unit(exhibit.unit, values.get(column), kind) for column in columns}
                table.append({**dict(zip(exhibit.rows, cast(tuple[str, ...], row), strict=True)), "": kind, **texts})
    return pd.DataFrame(table, columns=[*exhibit.rows, "", *columns])


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
    """Yield why measured figures can differ from printed ones where both stand, or why none are printed.

    Measured models without a figure, which a table can only leave out, are named as well.
    """
    left_out = cells.loc[cells["value"].isna() & cells["n"].notna(), "name"].unique()
    if len(left_out):
        yield f"Left out, as in a relation nothing counts for a figure: {', '.join(left_out)}."
    if cells["value"].notna().any():
        has_printed = cells["printed"].notna().any()
        if sample:
            about_all = "; the paper's figures are about all" if has_printed else ""
            yield f"Measured on a sample of {sample} for each relation{about_all}."
        if has_printed:
            yield from sources
        if exhibit.differs:
            yield exhibit.differs


def _named(paper: Paper, exhibit: Exhibit, cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells with the names of their row, a tuple, and of their column for readers."""
    shown = _with_difference(cells).assign(model=cells["name"])
    parts = [labels(paper, exhibit, shown[field].tolist()) for field in exhibit.rows]
    rows = pd.Series(list(zip(*parts, strict=True)), index=shown.index, dtype=object)
    return shown.assign(row=rows, column=_text(paper, exhibit, cells, exhibit.columns))


def _with_difference(cells: pd.DataFrame) -> pd.DataFrame:
    measured = cells["value"].astype(float)
    return cells.assign(measured=measured, difference=measured - cells["printed"].astype(float))


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
    if across.notna().any() and up.notna().any():
        library = graph_objects(TASK)
        figure.add_trace(library.Scatter(x=across, y=up, name=html.escape(f"{name}, {kind}"), **style))


def _colours(names: pd.Series) -> Iterator[tuple[str, str]]:
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


def templates(runs: ExhibitRuns) -> pd.DataFrame:
    """Return the templates by relation and language (DLAMA, Table F9), with those of cascades (S-TEST, Table 6)."""
    table = _texts(runs, "template", lambda relation: relation.cascades or relation.templates)
    return table if table["language"].any() else table.drop(columns="language")


def questions(runs: ExhibitRuns) -> pd.DataFrame:
    """Return the questions to chat models by predicate and language, and those of the paper (DLAMA, Table F10)."""
    table = _texts(runs, "question", lambda relation: relation.questions)
    places = zip(table["relation"], table["language"], strict=True)
    return table.assign(printed=[paper_questions().get(place, ("",))[0] for place in places])


def _texts(runs: ExhibitRuns, column: str, texts_of: Callable[[Relation], Sequence[str]]) -> pd.DataFrame:
    """Return the texts of the benchmarks, or where there are none those of this project, which stand in for them."""
    texts = {
        (relation.label, str(relation.tags.get("language", "")), text)
        for benchmark in runs.benchmarks.values()
        for relation in benchmark.relations
        for text in texts_of(relation)
    } or {(*place, text) for place, text in own_texts(f"{column}s").items()}
    rows = sorted(texts, key=lambda row: (natural(row[0]), *row[1:]))
    return pd.DataFrame(rows, columns=["relation", "language", column])


def countries(runs: ExhibitRuns) -> pd.DataFrame:
    """Return the countries of each culture with the Wikipedia sites whose articles are read (DLAMA, Table F8).

    Their names are those of a benchmark about them, in English.
    """
    names = {
        item.subject_id: item.subject
        for benchmark in runs.benchmarks.values()
        for relation in benchmark.relations
        if relation.tags.get("language") == COMMON_SITE
        for item in relation.items
    }
    rows = [
        (culture.name, names.get(country, country), ", ".join(dict.fromkeys([COMMON_SITE, *sites])))
        for culture in map(
            read_culture, dict.fromkeys(name for cultures, _ in KNOWN_PAIRS.values() for name in cultures)
        )
        for country, sites in culture.sites.items()
    ]
    return pd.DataFrame(rows, columns=["culture", "country", "sites"])


def fact_type_templates(_: ExhibitRuns) -> pd.DataFrame:
    """Return the templates of each fact type (Geography, Table 7)."""
    rows = [(kind.head, kind.name, template) for kind in FACT_TYPES.values() for template in kind.templates]
    return pd.DataFrame(rows, columns=["head", "fact type", "template"])


TEXTS: Mapping[str, Callable[[ExhibitRuns], pd.DataFrame]] = {
    "templates": templates,
    "questions": questions,
    "countries": countries,
    "fact_type_templates": fact_type_templates,
}
