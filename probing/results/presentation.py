"""A result's scores for people: by group, as HTML for notebooks, as LaTeX for papers, and as a chart."""

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import pandas as pd

from probing.analysis.breakdown import OVERALL
from probing.chart_template import ERROR_BAR, LIGHT, chart_template
from probing.errors import BadInput
from probing.extras import graph_objects
from probing.probes import probe_named

FIGURES = ["value", "low", "high", "n"]
ROW_HEIGHT = 34  # pixels of a group in a chart


def by_group(scores: pd.DataFrame, probe: str, dimension: str, metric: str = "") -> pd.DataFrame:
    """Return the columns `value`, `low`, `high` and `n` of a metric, by the groups of a dimension.

    `metric`: the main metric of the probe unless it is named. Raises `BadInput` if there is no such score.
    """
    name = metric or probe_named(probe).main_metric
    of_metric = scores[scores["metric"] == name]
    if of_metric.empty:
        raise BadInput(f"The result has no metric {name!r}.", f"Choose from: {', '.join(scores['metric'].unique())}.")
    groups = of_metric[of_metric["dimension"] == dimension]
    if groups.empty:
        dimensions = ", ".join(of_metric["dimension"].unique())
        raise BadInput(f"The metric {name} has no dimension {dimension!r}.", f"Choose from: {dimensions}.")
    return groups.set_index("group")[FIGURES].rename_axis(dimension)


def as_html(record: Mapping[str, Any], scores: pd.DataFrame, notes: Sequence[str]) -> str:
    """Return model, benchmark, overall scores and notes as HTML, with all texts escaped."""
    heading = _heading(record)
    overall = scores.loc[scores["dimension"] == OVERALL, ["metric", *FIGURES]].set_index("metric")
    table = overall.to_html(float_format="{:.4g}".format, na_rep="", border=0)
    remarks = "".join(f"<p>{escape(note)}</p>" for note in notes)
    return f"<div><p><strong>{escape(heading)}</strong></p>{table}{remarks}</div>"


def in_a_line(record: Mapping[str, Any], scores: pd.DataFrame) -> str:
    """Return model, benchmark, probe and the overall main score, where there is one."""
    metric = probe_named(record["probe"]).main_metric
    values = _overall(scores, metric)
    return ", ".join([_heading(record), *(f"{metric} {value:.4g}" for value in values)])


def missing_main_score(probe: str, scores: pd.DataFrame) -> list[str]:
    """Return a sentence on what the main metric of the probe needs, if it has no value for the whole."""
    metric, needs = probe_named(probe).main_metric, probe_named(probe).needs
    return [] if len(_overall(scores, metric)) or not needs else [f"There is no {metric}: it needs {needs}."]


def _overall(scores: pd.DataFrame, metric: str) -> pd.Series:
    return scores.loc[(scores["dimension"] == OVERALL) & (scores["metric"] == metric), "value"].dropna()


def _heading(record: Mapping[str, Any]) -> str:
    benchmark = record["benchmark"]
    return f"{record['model']['id']} on {benchmark['slug']} {benchmark['version']} ({record['probe']})"


def as_metrics(scores: pd.DataFrame, dimensions: Sequence[str]) -> dict[str, float]:
    """Return values by `metric/dimension/group`, of some dimensions or of all; `Result.metrics` has the details.

    Where two names would be equal, the later one ends in _2.
    """
    values: dict[str, float] = {}
    for metric, dimension, group, value in scores[["metric", "dimension", "group", "value"]].itertuples(index=False):
        if pd.isna(value) or (dimensions and dimension not in dimensions):
            continue
        name, place = "/".join(map(_plain_name, (metric, dimension, group))), 2
        unique = name
        while unique in values:
            unique, place = f"{name}_{place}", place + 1
        values[unique] = float(value)
    return values


def _plain_name(text: str) -> str:
    """Return a text with _ for everything that names of MLflow's metrics must not have."""
    plain = re.sub(r"[^\w .-]", "_", text)
    return plain if plain.strip(". ") else "_"


def as_latex(table: pd.DataFrame) -> str:
    """Return a table of `by_group` as LaTeX, for the package booktabs; special characters are escaped."""
    shown = table.rename(index=_latex_escaped).rename_axis(_latex_escaped(str(table.index.name)))
    return shown.to_latex(float_format="%.3f", na_rep="", escape=False)


def _latex_escaped(text: str) -> str:
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(special.get(letter, f"\\{letter}" if letter in "&%$#_{}" else letter) for letter in text)


def as_chart(table: pd.DataFrame, metric: str) -> Any:
    """Return a table of `by_group` as a figure of Plotly: a dot with its 95 % interval for each group."""
    library = graph_objects("Drawing a chart")
    ordered = table.iloc[::-1]  # the first group on top
    bars = {
        **ERROR_BAR,
        "array": ordered["high"] - ordered["value"],
        "arrayminus": ordered["value"] - ordered["low"],
        "color": LIGHT.soft,
    }
    dots = library.Scatter(
        x=ordered["value"],
        y=list(ordered.index),
        mode="markers",
        marker={"size": 9},
        error_x=bars,
        hovertemplate="%{y}: <b>%{x:.3f}</b><extra></extra>",
    )
    layout = {
        "template": chart_template(LIGHT),
        "height": 70 + ROW_HEIGHT * len(table),
        "xaxis_title": metric,
        "yaxis": {"type": "category", "showgrid": False},
    }
    return library.Figure(dots, layout)
