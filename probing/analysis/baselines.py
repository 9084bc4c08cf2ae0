"""Baselines that know how often answers are right, but read no question; they stand beside `chance`.

`majority_answer` always gives the answer that is right most often in the relation. `most_frequent_answer` gives, of a
relation's options, the one whose label is the right answer most often in the whole benchmark. Of several equally
frequent options the first is taken.

Where any word may stand at a blank, `chance` and `majority_answer` name as many of the relation's answers as there are
words of a model that count.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from probing.analysis.accuracy import SCORE_COLUMNS, mean
from probing.analysis.answer_spaces import by_space, option_counts
from probing.analysis.breakdown import OVERALL

MAJORITY, MOST_FREQUENT = "majority_answer", "most_frequent_answer"
BASELINES = (MAJORITY, MOST_FREQUENT)
CHANCE = "chance"


def baseline_scores(rows: pd.DataFrame, dimensions: Sequence[str]) -> pd.DataFrame:
    """Return the accuracy of both baselines overall, by relation and in each dimension.

    They depend on the questions that were asked, and on no model. There are none where items have options of their own,
    as the labels of options are not stored.
    """
    items = rows.drop_duplicates(["relation", "index"])
    frequency = items["answer_label"].value_counts()
    right: dict[str, list[pd.Series]] = {name: [] for name in BASELINES}
    for _, part in by_space(items):
        labels = _answer_labels(part)
        if labels is None:
            return pd.DataFrame(columns=SCORE_COLUMNS)
        right[MAJORITY].append(_is_right(part, _majority(part)))
        right[MOST_FREQUENT].append(_is_right(part, _most_frequent(labels, frequency)))
    tables = [
        mean(items, name, pd.concat(parts).reindex(items.index), dimension)
        for dimension in (OVERALL, "relation", *dimensions)
        for name, parts in right.items()
    ]
    return pd.concat(tables, ignore_index=True)


def blank_baselines(rows: pd.DataFrame, k: int) -> pd.DataFrame:
    """Return two columns: the probability that the answer is among `k` that a baseline names, for each row.

    `chance` draws them from the answers of the row's relation, each as likely as the next. `majority_answer` names
    those that are right for most of the relation's items, of equally frequent ones the first.
    """
    items = rows.drop_duplicates(["relation", "index"])
    counts = items.groupby(["relation", "answer_label"], sort=False).size().rename("items").reset_index()
    counts = counts.sort_values("items", ascending=False, kind="stable")
    place = counts.groupby("relation").cumcount()
    answers = counts.groupby("relation")["answer_label"].transform("size")
    named = counts.assign(**{CHANCE: (k / answers).clip(upper=1.0), MAJORITY: (place < k).astype(float)})
    table = rows[["relation", "answer_label"]].merge(named, how="left", on=["relation", "answer_label"])
    return table[[CHANCE, MAJORITY]].set_index(rows.index)


def _answer_labels(items: pd.DataFrame) -> dict[int, str] | None:
    """Return the labels of the right options, or None where the items have options of their own."""
    labels = items[["answer", "answer_label"]].drop_duplicates()
    if labels["answer"].duplicated().any() or option_counts(items).nunique() != 1:
        return None
    return dict(zip(labels["answer"].astype(int), labels["answer_label"], strict=True))


def _majority(items: pd.DataFrame) -> int:
    return int(np.bincount(list(_answers(items))).argmax())


def _answers(items: pd.DataFrame) -> Iterator[int]:
    for answers in items["answers"]:
        yield from map(int, answers)


def _most_frequent(labels: Mapping[int, str], frequency: pd.Series) -> int:
    return min(labels, key=lambda option: (-frequency[labels[option]], option))


def _is_right(items: pd.DataFrame, option: int) -> pd.Series:
    return items["answers"].map(lambda answers: option in set(map(int, answers)))
