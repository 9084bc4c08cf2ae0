"""The chart of a sweep: scores over a training with their intervals, and a menu that selects a breakdown."""

import html
from collections.abc import Iterator
from typing import Any

import pandas as pd

from probing.analysis.breakdown import OVERALL
from probing.chart_template import LIGHT, chart_template, trace_menu
from probing.extras import graph_objects

TASK = "The chart of a sweep"
MOST_GROUPS = 40  # lines of a breakdown; more cannot be told apart


def trajectory_chart(scores: pd.DataFrame, metric: str, title: str) -> Any:
    """Return a chart of one metric over steps, or over the names of revisions where one of them states no step.

    `scores`: tidy scores of the metric with the columns `revision` and `step`, in the order of the training. A
    breakdown with more than 40 groups shows the first ones by name. Bars are 95 % intervals.
    """
    library = graph_objects(TASK)
    figure = library.Figure()
    has_steps = bool(scores["step"].notna().all())
    shown: list[str] = []
    dimensions = list(dict.fromkeys([OVERALL, *scores["dimension"]]))
    for dimension in dimensions:
        for trace in _traces(
            library, scores[scores["dimension"] == dimension], has_steps, visible=dimension == OVERALL
        ):
            figure.add_trace(trace)
            shown.append(dimension)
    figure.update_layout(
        title={"text": html.escape(title)},
        xaxis={
            "title": {"text": "step" if has_steps else "revision"},
            "type": "linear" if has_steps else "category",
            "fixedrange": False,
        },
        yaxis={"title": {"text": html.escape(metric)}},
        template=chart_template(LIGHT),
        showlegend=True,
        legend={"orientation": "v", "x": 1.02, "y": 1, "yanchor": "top"},
        margin={"t": 120, "b": 40},
        colorway=list(LIGHT.series),
        hovermode="x unified",
        updatemenus=[
            {**trace_menu(dimensions, shown), "y": 1.12, "yanchor": "top"},
            *([_axis_menu()] if has_steps else []),
        ],
    )
    return figure


def _traces(library: Any, scores: pd.DataFrame, has_steps: bool, visible: bool) -> Iterator[Any]:
    """Yield one line for each group of a dimension."""
    for group in sorted(scores["group"].unique())[:MOST_GROUPS]:
        line = scores[scores["group"] == group]
        values = line["value"].astype(float)
        yield library.Scatter(
            x=line["step"].astype(int) if has_steps else line["revision"].map(html.escape),
            y=values,
            name=html.escape(str(group)),
            mode="lines+markers",
            visible=visible,
            showlegend=True,
            error_y={
                "type": "data",
                "symmetric": False,
                "array": line["high"].astype(float) - values,
                "arrayminus": values - line["low"].astype(float),
                "thickness": 1,
            },
            customdata=line["revision"].map(html.escape),
            hovertemplate="%{y:.3f} (%{customdata})",
        )


def _axis_menu() -> dict[str, object]:
    """Return the menu that draws early steps further apart; step 0 has no place on a logarithmic axis."""
    kinds = {"linear steps": "linear", "logarithmic steps": "log"}
    buttons = [
        {"label": label, "method": "relayout", "args": [{"xaxis.type": kind, "xaxis.autorange": True}]}
        for label, kind in kinds.items()
    ]
    return {"buttons": buttons, "x": 1, "xanchor": "right", "y": 1.12, "yanchor": "top"}
