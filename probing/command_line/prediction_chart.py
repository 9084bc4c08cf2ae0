"""The chart of the command `predictions`: shares of answers by the language of the prompts (DLAMA, Figure 1)."""

import html
from typing import Any

import pandas as pd

from probing.chart_template import LIGHT, chart_template, trace_menu
from probing.extras import graph_objects

TASK = "The chart of predictions"
OTHERS = "all other answers"
BAR_HEIGHT = 34  # pixels; there are two bars for each language
FRAME = 220  # pixels for the menu above the bars, and the axis and the legend below


def prediction_chart(shares: pd.DataFrame, most: int) -> Any:
    """Return a chart of stacked bars, with a menu of the relations where there are several.

    `shares`: the table of `prediction_shares`. Each language has a bar for what the model answers, and below it one for
    what is right. The answers that are given most often in all languages have colours, `most` of them at the most.
    """
    library = graph_objects(TASK)
    figure = library.Figure()
    relations = list(dict.fromkeys(shares["relation"]))
    of_trace: list[str] = []
    for relation in relations:
        for name, values in _stacked(shares[shares["relation"] == relation], most):
            colour = {"color": LIGHT.line} if name == OTHERS else {}
            figure.add_trace(
                library.Bar(
                    y=values.index,
                    x=values.to_numpy(),
                    name=html.escape(name),
                    orientation="h",
                    visible=relation == relations[0],
                    marker=colour,
                    hovertemplate="%{y}: %{x:.1%}",
                )
            )
            of_trace.append(relation)
    most_bars = 2 * shares.groupby("relation")["language"].nunique().max()
    figure.update_layout(
        barmode="stack",
        height=int(FRAME + BAR_HEIGHT * most_bars),
        template=chart_template(LIGHT),
        colorway=list(LIGHT.series),
        showlegend=True,
        legend={"orientation": "h", "y": -0.2, "traceorder": "normal"},
        margin={"t": 70},
        xaxis={"title": {"text": "share of the questions"}, "tickformat": ".0%", "range": [0, 1]},
        yaxis={"autorange": "reversed"},
        updatemenus=[{**trace_menu(relations, of_trace), "y": 1, "yanchor": "bottom"}] if len(relations) > 1 else [],
    )
    return figure


def _stacked(shares: pd.DataFrame, most: int) -> list[tuple[str, pd.Series]]:
    """Return the answers of one relation, each with its share in every bar; the rest of all bars comes last."""
    totals = shares.groupby("answer", sort=False)["predictions"].sum().sort_values(ascending=False, kind="stable")
    named = list(totals.index[: min(most, len(LIGHT.series))])
    languages = list(dict.fromkeys(shares["language"]))
    bars = [bar for language in languages for bar in (_bar(language), _bar(language, "right"))]
    table = pd.DataFrame(0.0, index=bars, columns=[*named, OTHERS])
    for language, answer, share, right in shares[["language", "answer", "share", "right_share"]].itertuples(
        index=False
    ):
        column = answer if answer in named else OTHERS
        table.loc[_bar(language), column] += share
        table.loc[_bar(language, "right"), column] += right
    return [(name, table[name]) for name in table.columns if table[name].any()]


def _bar(language: str, kind: str = "predicted") -> str:
    return html.escape(" ".join(filter(None, [language, kind])))
