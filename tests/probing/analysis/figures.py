"""A figure of tidy scores."""

import pandas as pd


def value(scores: pd.DataFrame, metric: str, dimension: str = "overall", group: str = "all") -> float:
    matching = scores[(scores.metric == metric) & (scores.dimension == dimension) & (scores.group == group)]
    assert len(matching) == 1
    return float(matching["value"].iloc[0])
