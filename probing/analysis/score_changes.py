"""What differs between two tables of tidy scores of the same rows: new metrics and groups, and changed values."""

from collections.abc import Iterable

import pandas as pd

SCORE_KEY = ["metric", "dimension", "group"]
NAMED = 5  # groups that a sentence names
SLACK = 1e-9  # differences up to this size are rounding


def score_changes(before: pd.DataFrame, after: pd.DataFrame) -> list[str]:
    """Return a sentence for each kind of difference; none where the tables hold the same scores in any order."""
    both = before.merge(after, how="outer", on=SCORE_KEY, suffixes=("_before", ""), indicator="side")
    added, removed = (both[both["side"] == side] for side in ("right_only", "left_only"))
    return [
        *_named("New metrics", added, set(before["metric"])),
        *_groups("New groups", added, before),
        *_named("Metrics that are gone", removed, set(after["metric"])),
        *_groups("Groups that are gone", removed, after),
        *_changed(both[both["side"] == "both"], [name for name in after.columns if name not in SCORE_KEY]),
    ]


def _named(title: str, scores: pd.DataFrame, named_before: set[str]) -> list[str]:
    metrics = [metric for metric in dict.fromkeys(scores["metric"]) if metric not in named_before]
    return [f"{title}: {', '.join(metrics)}."] if metrics else []


def _groups(title: str, scores: pd.DataFrame, others: pd.DataFrame) -> list[str]:
    """Return a sentence for each dimension that has groups which are not in the other table."""
    other_groups = set(zip(others["dimension"], others["group"], strict=True))
    sentences = []
    for dimension, part in scores.groupby("dimension", sort=False):
        groups = [group for group in dict.fromkeys(part["group"]) if (dimension, group) not in other_groups]
        if groups:
            sentences.append(f"{title} of {dimension}: {_enumerated(groups)}.")
    return sentences


def _enumerated(names: Iterable[str]) -> str:
    names = list(names)
    more = [f"and {len(names) - NAMED} more"] if len(names) > NAMED else []
    return ", ".join([*names[:NAMED], *more])


def _changed(both: pd.DataFrame, columns: Iterable[str]) -> list[str]:
    """Return a sentence on the scores that differ in any number, with the largest change of a value."""
    differs = pd.Series(False, index=both.index)
    for name in columns:
        former, present = (both[column].astype(float) for column in (f"{name}_before", name))
        differs |= (former.isna() != present.isna()) | ((present - former).abs() > SLACK)
    if not differs.any():
        return []
    change = (both["value"].astype(float) - both["value_before"].astype(float)).abs().fillna(0)
    largest = both.iloc[int(change.to_numpy().argmax())]
    place = f"{largest['metric']}, {largest['dimension']} {largest['group']}"
    values = f"{largest['value_before']:.4f} before, {largest['value']:.4f} now"
    example = f"; the largest change of a value is in {place}: {values}" if change.max() > SLACK else ""
    return [f"Changed: {differs.sum():,} of {len(both):,} scores{example}."]
