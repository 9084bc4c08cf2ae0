"""Knowledge over a training: scores relative to the first point, the items learned and forgotten, and the noise."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from probing.analysis.breakdowns import OVERALL, members
from probing.analysis.intervals import wilson
from probing.analysis.paired_tests import CORRECT, SCORE_KEY, SLACK, Correctness, common_rows
from probing.analysis.ranks import relation_numbers
from probing.analysis.verdicts import paired
from probing.errors import BadInput

CHANGES = ("learned", "forgotten", "kept", "unknown")  # what can become of an item between two points
RELATIVE_COLUMNS = ["percent", "percent_low", "percent_high"]
BOUNDS = {"value": "percent", "low": "percent_low", "high": "percent_high"}

LAST = 5  # checkpoints at the end of a curve whose scatter is its noise
FEWEST_LAST = 3  # of which one is left when a straight line is laid through them


class Changes(NamedTuple):
    """What became of the items that two results share.

    `items`: one row per item with `relation`, `index`, `subject` where the rows name it, `before` and `after` (the
    share of its templates that is answered rightly), and `change`, one of `CHANGES`.
    `shares`: for each dimension, group and change the number of `items` (fractional where an item belongs to several
    groups), their `share` of the `n` items of the group, and its 95 % interval `low`, `high`.
    `percent`, `percent_low`, `percent_high`: the second figure relative to the first in percent, with its paired 95 %
    interval; NaN where the first is 0.
    """

    items: pd.DataFrame
    shares: pd.DataFrame
    percent: float
    percent_low: float
    percent_high: float

    def counts(self) -> dict[str, int]:
        """Return the number of items of each change."""
        numbers = self.items["change"].value_counts()
        return {change: int(numbers.get(change, 0)) for change in CHANGES}


def relative_to_first(scores: pd.DataFrame, point: str = "revision") -> pd.DataFrame:
    """Return tidy scores of several points with three more columns: the values in percent of the first point's.

    `scores`: tidy scores with a column `point` that names the point of each; the first row's is the first point.
    `percent` is 100 * value / first value (LM-PUB-QUIZ, Table 2; methods 1.6). `percent_low` and `percent_high` are the
    bounds of the value's own interval, divided in the same way, which takes the first value as exact; they are NaN at
    the first point. All three are NaN where the first point has no such score or one of 0.
    """
    if scores.empty:
        return scores.reindex(columns=[*scores.columns, *RELATIVE_COLUMNS])
    is_first = scores[point] == scores[point].iloc[0]
    first = _values(scores[is_first], SCORE_KEY)
    divisor = np.array([first.get(key, np.nan) for key in _keys(scores, SCORE_KEY)])
    divisor = np.where(divisor == 0, np.nan, divisor)
    relative = scores.assign(**{name: 100 * scores[column].astype(float) / divisor for column, name in BOUNDS.items()})
    relative.loc[is_first, ["percent_low", "percent_high"]] = np.nan
    return relative


def _values(scores: pd.DataFrame, key: Sequence[str]) -> dict[tuple[Any, ...], float]:
    """Return the values of scores by some of their columns. For tables of this size an index takes longer."""
    return dict(zip(_keys(scores, key), scores["value"].astype(float), strict=True))


def _keys(scores: pd.DataFrame, key: Sequence[str]) -> list[tuple[Any, ...]]:
    return list(zip(*(scores[column].tolist() for column in key), strict=True))


def changes(
    before_rows: pd.DataFrame,
    after_rows: pd.DataFrame,
    dimensions: Sequence[str] = (),
    correctness: Correctness = CORRECT,
) -> Changes:
    """Return which items were learned and forgotten between two results, of those that both have answered.

    An item is *learned* if more of its templates are answered rightly than before, *forgotten* if fewer are, *kept* if
    as many as before are and at least one, and *unknown* if none is in either result. Shares have Wilson's interval.
    The interval of the percentage is that of the paired comparison.
    `dimensions`: tags by whose groups the shares are broken down, beside the relation.
    Raises `BadInput` if the results share no items or have no right answers.
    """
    shared = common_rows({"before": before_rows, "after": after_rows}, correctness.column)
    rows = shared["before"].assign(**{name: table[correctness.column] for name, table in shared.items()})
    items = _items(rows)
    shares = pd.concat([_shares(rows, items, dimension) for dimension in [OVERALL, "relation", *dimensions]])
    return Changes(items, shares.reset_index(drop=True), *_percent(items, correctness.macro))


def _items(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one row per item: its key, the shares of its templates that are right, and what became of it."""
    firsts = {"subject": ("subject", "first")} if "subject" in rows else {}
    by_item = rows.groupby(["relation", "index"], sort=False)
    items = by_item.agg(**firsts, before=("before", "mean"), after=("after", "mean")).reset_index()
    change = items["after"] - items["before"]
    conditions = [change > SLACK, change < -SLACK, items["before"] > 0]
    return items.assign(change=np.select(conditions, CHANGES[:-1], CHANGES[-1]))


def _shares(rows: pd.DataFrame, items: pd.DataFrame, dimension: str) -> pd.DataFrame:
    """Return the number and share of the items of each change in each group of a dimension."""
    table = members(rows, dimension)
    keys = rows[["relation", "index"]].iloc[table["row"]].reset_index(drop=True)
    table = table.assign(change=keys.merge(items, on=["relation", "index"], how="left")["change"])
    sums = table.pivot_table(index="group", columns="change", values="weight", aggfunc="sum", fill_value=0, sort=False)
    sums = sums.reindex(columns=list(CHANGES), fill_value=0.0).round(9)
    rows_of_groups = []
    for group, numbers in sums.iterrows():
        n = float(numbers.sum())
        for change, number in numbers.items():
            share = min(1.0, float(number) / n)
            rows_of_groups.append((dimension, group, change, n, float(number), share, *wilson(share, n)))
    columns = ["dimension", "group", "change", "n", "items", "share", "low", "high"]
    return pd.DataFrame(rows_of_groups, columns=columns)


def _percent(items: pd.DataFrame, macro: bool) -> tuple[float, float, float]:
    """Return the second figure in percent of the first, and the bounds of its interval.

    The second figure differs from so many percent of the first by 0, and by no more than the error of this difference.
    """
    parts = relation_numbers(pd.Index(items["relation"]), macro)
    first, second = (float(items.groupby(parts)[side].mean().mean()) for side in ("before", "after"))
    if first == 0:
        return np.nan, np.nan, np.nan
    ratio = second / first
    pair = paired(np.stack([items["after"], ratio * items["before"]], axis=1), parts)
    low, high = (100 * (ratio + ends[0, 1] / first) for ends in pair.bounds)
    return 100 * ratio, max(0.0, float(low)), float(high)


def gauge(values: Sequence[float], last: int = LAST) -> dict[str, float]:
    """Return what a figure can show over a training: `signal`, `noise`, `signal_to_noise` and `smallest_difference`.

    `values`: the figure at each checkpoint, in order. `noise` is the standard deviation of the `last` ones around the
    straight line through them, with last - 2 degrees of freedom; `signal` is how far their mean is from the first
    value. Two checkpoints of this training whose figures differ by less than the `smallest_difference`, 1.96 * sqrt(2)
    * noise, cannot be told apart (docs/training.md). Raises `BadInput` where there are too few values.
    """
    if last < FEWEST_LAST:
        raise BadInput(f"The noise of {last} checkpoints cannot be told.", f"Give last={FEWEST_LAST} or more.")
    if len(values) <= last:
        raise BadInput(
            f"There are {len(values)} measurements, and the noise is that of the last {last}.",
            f"Measure more often, or give a smaller number (last={FEWEST_LAST} at least).",
        )
    end, places = np.asarray(values[-last:], float), np.arange(last)
    scatter = end - np.polyval(np.polyfit(places, end, 1), places)
    noise = float(np.sqrt((scatter**2).sum() / (last - 2)))
    signal = abs(float(end.mean()) - float(values[0]))
    ratio = signal / noise if noise else np.inf
    smallest = float(1.96 * np.sqrt(2) * noise)
    return {"signal": signal, "noise": noise, "signal_to_noise": ratio, "smallest_difference": smallest}
