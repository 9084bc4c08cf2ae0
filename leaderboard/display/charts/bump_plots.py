"""Bump plots: the order of several models under each of several rules, with a line for each model."""

from collections.abc import Mapping, Sequence

from leaderboard.display.charts.figures import ACCENT, MUTED, ROW_HEIGHT, Plot, Trace, figure, new_trace


def bumps(orders: Mapping[str, Sequence[str]], addresses: Mapping[str, str] | None = None) -> Plot:
    """Plot the place of each label under each rule, given the labels in their order by each rule, the best first.

    The first rule names the rows. The lines of labels whose place moves are in the accent colour.
    `addresses`: by label, where its points lead.
    """
    rules = list(orders)
    labels = list(next(iter(orders.values()), ()))
    hrefs = addresses or {}
    traces = [
        _trace(label, rules, [orders[rule].index(label) + 1 for rule in rules], hrefs.get(label, ""))
        for label in labels
    ]
    rows = {"tickmode": "array", "tickvals": list(range(1, len(labels) + 1)), "ticktext": labels}
    return figure(
        traces,
        70 + ROW_HEIGHT * len(labels),
        xaxis={"type": "category", "side": "top", "showgrid": False},
        yaxis={**rows, "range": [len(labels) + 0.7, 0.3], "showgrid": False},
    )


def _trace(label: str, rules: Sequence[str], ranks: Sequence[int], address: str) -> Trace:
    colour = ACCENT if len(set(ranks)) > 1 else MUTED
    return new_trace(
        "scatter",
        x=list(rules),
        y=list(ranks),
        mode="lines+markers",
        line={"color": colour, "width": 1.5},
        marker={"size": 9, "color": colour},
        cliponaxis=False,
        name=label,
        customdata=[address] * len(ranks),
        hovertemplate="%{x}, " + label.replace("%", "") + ": <b>%{y}</b><extra></extra>",
    )
