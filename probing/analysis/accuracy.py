"""Accuracy of stored rows as tidy scores, ties among the options, and baselines that read no question.

A value is the mean over items of the mean over an item's templates, which equals the mean over templates if every item
was asked with each of them. The first interval covers other questions, each with all its wordings and languages, and
the second one, clustered by relation, other relations like these (`intervals`).
`accuracy_sem` measures how much templates matter.

A tie is an item whose best score several options share, so that the first of them counts as the prediction.

Two baselines know how often answers are right, and stand beside `chance`. `majority_answer` always gives the answer
that is right most often in the relation. `most_frequent_answer` gives, of a relation's options, the one whose label is
the right answer most often in the whole benchmark. Of several equally frequent options the first is taken. Where any
word may stand at a blank, `chance` and `majority_answer` name as many of the relation's answers as there are words of a
model that count.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from probing.analysis.breakdowns import ALL, OVERALL, count_items, means_of, members
from probing.analysis.intervals import NO_INTERVAL, group_means
from probing.analysis.option_scores import by_space, option_counts

ITEM_COLUMNS = ["metric", "dimension", "group", "value", "n", "low", "high"]
# `low` and `high` cover other questions, `cluster_low` and `cluster_high` other relations like these.
SCORE_COLUMNS = [*ITEM_COLUMNS, "cluster_low", "cluster_high"]
# The values of one score without a clustered interval, in the order of `ITEM_COLUMNS`, and of one with it.
ScoreRow = tuple[str, str, str, float, float, float, float]
ClusteredRow = tuple[str, str, str, float, float, float, float, float, float]
TIES = "ties"
TIED = "best options tie"  # a column of condensed rows (`analysis.details`)
MOST_TIE = (
    "Of most items several options share the best score, so that their order decides and the accuracy says "
    "nothing: the tokenizer may not know the words, or the network may put out the same whatever it reads."
)
MAJORITY, MOST_FREQUENT = "majority_answer", "most_frequent_answer"
BASELINES = (MAJORITY, MOST_FREQUENT)
CHANCE = "chance"


def accuracy_scores(rows: pd.DataFrame, dimensions: list[str]) -> pd.DataFrame:
    """Return `accuracy` and `chance` overall and in each dimension, and overall also measures of the ranks."""
    tables = []
    for dimension in [OVERALL, "template", "relation", *dimensions]:
        table = members(rows, dimension)
        tables += [proportion(rows, "accuracy", rows["correct"], dimension, table), chance(rows, dimension, table)]
    return pd.concat([*tables, *_rank_scores(rows), *_spread_over_templates(rows)], ignore_index=True)


def tidy(scores: Iterable[ScoreRow | ClusteredRow]) -> pd.DataFrame:
    """Return scores as a table with all `SCORE_COLUMNS`; a clustered interval that a score lacks is empty."""
    return pd.DataFrame([(*score, *NO_INTERVAL)[: len(SCORE_COLUMNS)] for score in scores], columns=SCORE_COLUMNS)


def proportion(
    rows: pd.DataFrame, metric: str, values: pd.Series, dimension: str, table: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Return the mean of values from 0 to 1 over the items of each group of a dimension, with both intervals.

    `table`: the `members` of the groups, if they are known already.
    """
    shares = group_means(rows, values, dimension, table)
    return shares.assign(metric=metric, dimension=dimension)[SCORE_COLUMNS]


def mean(rows: pd.DataFrame, metric: str, values: pd.Series, dimension: str) -> pd.DataFrame:
    """Return the mean of `values` over the items of each group of a dimension, without an interval."""
    return means(members(rows, dimension), {metric: values}, dimension)


def means(table: pd.DataFrame, values: Mapping[str, pd.Series], dimension: str) -> pd.DataFrame:
    """Return what `mean` does for each of several metrics, given the `members` of the groups."""
    scores = means_of(table, *values.values())
    return _without_interval(np.repeat([*values], len(scores) // len(values)), dimension, scores)


def chance(rows: pd.DataFrame, dimension: str, table: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return the accuracy of guessing: right options / options, averaged in the same way as accuracy.

    `table`: the `members` of the groups, if they are known already.
    """
    values = {CHANCE: rows["answers"].map(len) / option_counts(rows)}
    return means(members(rows, dimension) if table is None else table, values, dimension)


def _without_interval(metric: str | NDArray[np.str_], dimension: str, table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(metric=metric, dimension=dimension).reindex(columns=SCORE_COLUMNS)


def precision_at(rows: pd.DataFrame, k: int) -> pd.DataFrame:
    """Return the overall share of items with a right option among the k best, as `precision_at_<k>`.

    Every row must have a rank.
    """
    return proportion(rows, f"precision_at_{k}", rows["rank"].astype(int) <= k, OVERALL)


def _rank_scores(rows: pd.DataFrame) -> list[pd.DataFrame]:
    """Return precision at 5 and the mean reciprocal rank, or nothing if a rank is unknown.

    With `decide` the ranks of wrongly answered items are unknown.
    """
    if rows["rank"].isna().any():
        return []
    return [
        precision_at(rows, 5),
        mean(rows, "mean_reciprocal_rank", 1 / rows["rank"].astype(int), OVERALL),
    ]


def _spread_over_templates(rows: pd.DataFrame) -> list[pd.DataFrame]:
    """Return the standard error of the mean over templates, as BEAR publishes it.

    It is the sample standard deviation of the templates' accuracies / sqrt(templates), and only defined if every item
    was asked with each of several templates.
    """
    by_template = rows.groupby("template")["correct"].mean().to_numpy(dtype=float)
    n = count_items(rows)
    if len(by_template) < 2 or len(rows) < n * len(by_template):
        return []
    error = by_template.std(ddof=1) / len(by_template) ** 0.5
    return [tidy([("accuracy_sem", OVERALL, ALL, error, float(n), np.nan, np.nan)])]


def with_ties(scores: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the scores with one more: `ties`, the share of items whose best score several options share.

    `n` counts the items; an item's templates share its weight.
    """
    return pd.concat([scores, proportion(rows, TIES, tied_rows(rows), OVERALL)], ignore_index=True)


def tied_rows(rows: pd.DataFrame) -> pd.Series:
    """Tell of each row whether several of its options share the best score."""
    return rows[TIED] if TIED in rows else tied(rows["scores"])


def tied(scores: pd.Series) -> pd.Series:
    """Tell of each list of option scores whether its maximum occurs more than once.

    It is exact also where `decide` left scores open, because every option that can tie with the best is scored to its
    end, and the bounds of all others are lower.
    """
    sizes = scores.map(len).to_numpy()
    values, starts = np.concatenate(scores.tolist()), np.cumsum(sizes) - sizes
    best = np.repeat(np.maximum.reduceat(values, starts), sizes)
    return pd.Series(np.add.reduceat(values == best, starts, dtype=np.int64) > 1, scores.index)


def tie_warnings(scores: pd.DataFrame) -> list[str]:
    """Return a warning if more than half of the items of a run tie."""
    shares = scores.loc[scores["metric"] == TIES, "value"]
    return [MOST_TIE] if (shares > 0.5).any() else []


def ties_in_words(share: float, items: float) -> str:
    """Say how many of the items have ties: with several templates, the number may be a fraction."""
    number = f"{share * items:,.1f}".removesuffix(".0")
    return (
        f"Ties: of {number} of {items:,.0f} items ({share:.2%}) several options share the best score, and the first of "
        "them counts as the prediction."
    )


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
        majority = int(np.bincount(list(_answers(part))).argmax())
        right[MAJORITY].append(_is_right(part, majority))
        right[MOST_FREQUENT].append(_is_right(part, _most_frequent(labels, frequency)))
    values = {name: pd.concat(parts).reindex(items.index) for name, parts in right.items()}
    tables = [means(members(items, dimension), values, dimension) for dimension in (OVERALL, "relation", *dimensions)]
    return pd.concat(tables, ignore_index=True)


def blank_baselines(rows: pd.DataFrame, k: int) -> pd.DataFrame:
    """Return two columns: the probability that the answer is among `k` that a baseline names, for each row.

    `chance` draws them from the answers of the row's relation, each as likely as the next. `majority_answer` names
    those that are right for most of the relation's items, of equally frequent ones the first.
    """
    items = rows.drop_duplicates(["relation", "index"])
    counts = items.groupby(["relation", "answer_label"], sort=False).size().rename("items").reset_index()
    counts = counts.sort_values("items", ascending=False, kind="stable")
    rank = counts.groupby("relation").cumcount()
    answers = counts.groupby("relation")["answer_label"].transform("size")
    named = counts.assign(**{CHANCE: (k / answers).clip(upper=1.0), MAJORITY: (rank < k).astype(float)})
    table = rows[["relation", "answer_label"]].merge(named, how="left", on=["relation", "answer_label"])
    return table[[CHANCE, MAJORITY]].set_index(rows.index)


def _answer_labels(items: pd.DataFrame) -> dict[int, str] | None:
    """Return the labels of the right options, or None where the items have options of their own."""
    labels = items[["answer", "answer_label"]].drop_duplicates()
    if labels["answer"].duplicated().any() or option_counts(items).nunique() != 1:
        return None
    return dict(zip(labels["answer"].astype(int), labels["answer_label"], strict=True))


def _answers(items: pd.DataFrame) -> Iterator[int]:
    for answers in items["answers"]:
        yield from map(int, answers)


def _most_frequent(labels: Mapping[int, str], frequency: pd.Series) -> int:
    return min(labels, key=lambda option: (-frequency[labels[option]], option))


def _is_right(items: pd.DataFrame, option: int) -> pd.Series:
    return items["answers"].map(lambda answers: option in set(map(int, answers)))
