"""Results compared on the items that they share: paired differences with intervals and tests.

Two tables of tidy scores of the same rows can be compared as well: which metrics and groups are new, which values
differ.

How small a difference a benchmark can show depends on how much the answers of two models to the same items differ: what
counts is the standard error of their paired difference. A true difference of 1.96 + 0.84 = 2.8 such errors is found by
a test at the 5 % level in 80 % of all cases (Miller 2024, section 5). docs/methods/statistics.md has a worked example.
"""

from collections.abc import Iterable, Mapping
from itertools import combinations
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import ndtri, stdtrit

from probing.analysis.breakdowns import OVERALL, fact_names, members
from probing.analysis.intervals import Z, degrees_of_freedom, evened, figure_interval, jackknife_error
from probing.analysis.ranks import item_values, relation_numbers
from probing.analysis.verdicts import holm, paired
from probing.arrays import Floats, Ints
from probing.benchmark import ROW_KEY
from probing.errors import BadInput

# The bounds of the two figures' own intervals.
SIDE_BOUNDS = ["first_low", "first_high", "second_low", "second_high"]
DIFFERENCE_COLUMNS = [
    *("result", "dimension", "group", "n", "first", "second", "difference", "low", "high"),
    *("gained", "lost", "p", "p_holm"),
    *SIDE_BOUNDS,
]
# The names of compared results, in their order; as many can be compared at once.
RESULT_NAMES = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
# The rows of each result, by the result's name.
ResultRows = Mapping[str, pd.DataFrame]
SCORE_KEY = ["metric", "dimension", "group"]
MOST_NAMED = 5  # groups that a sentence names
SLACK = 1e-9  # differences up to this size are rounding
POWER = 0.8
ERRORS_OF_POWER = Z + float(ndtri(POWER))  # how many standard errors a difference must have to be found that often
ASSUMED_VARIANCE = 0.5  # of the difference of two answers that are independent and each right in half of the cases


class Correctness(NamedTuple):
    """The way in which a probe counts right answers.

    `column`: the column of the rows that is true, false or, where a row does not count, missing. `macro`: whether the
    probe's figures are macro-averages over relations, and not means over items.
    """

    column: str = "correct"
    macro: bool = False


CORRECT = Correctness()
NO_CORRECTNESS = Correctness("")


def common_rows(results: ResultRows, column: str = "correct") -> dict[str, pd.DataFrame]:
    """Return, for each result, the rows that count in all results, in the order of the first one."""
    if any(column not in rows for rows in results.values()):
        raise BadInput(
            "These results have no right answers to compare.", "Compare their scores: python -m probing show."
        )
    counted = {name: rows.dropna(subset=[column]).astype({column: bool}) for name, rows in results.items()}
    return shared_rows({name: rows.reset_index(drop=True) for name, rows in counted.items()})


def shared_rows(results: ResultRows) -> dict[str, pd.DataFrame]:
    """Return, for each result, the rows that all results have, in the order of the first one."""
    first, *others = (rows[ROW_KEY] for rows in results.values())
    if len(first) and all(first.equals(other) for other in others):  # as usually: nothing has to be matched
        return dict(results)
    keys = _shared_keys(results)
    return {name: keys.merge(rows, on=ROW_KEY) for name, rows in results.items()}


def _shared_keys(results: ResultRows) -> pd.DataFrame:
    """Return the keys of the rows that all results have; raise `BadInput` if there are none."""
    keys, *others = (rows[ROW_KEY] for rows in results.values())
    for other in others:
        keys = keys.merge(other, on=ROW_KEY)
    if keys.empty:
        raise BadInput(
            "The results have no item in common.",
            "Compare results on the same relations; those of specificity must share answers that are single tokens.",
        )
    return keys


def shared_in_words(results: ResultRows) -> str:
    """Say how many rows are compared where not all results have the same ones, or return an empty text."""
    sizes = [len(rows) for rows in results.values()]
    shared = len(_shared_keys(results))
    if set(sizes) == {shared}:
        return ""
    numbers = " and ".join(f"{size:,}" for size in sizes)
    return f"Results of {numbers} rows are compared on the {shared:,} that all of them have."


def compare(results: ResultRows, dimensions: list[str], correctness: Correctness = CORRECT) -> pd.DataFrame:
    """Compare each further result with the first on their common rows, overall and in each group.

    Items that ask for the same fact in several languages count as one, but in `n`. `first`, `second`: the share that is
    right in the first and in the further result. `low`, `high`, `p`: the 95 % interval of their difference and the
    p-value that belongs to it (`verdicts`). `gained`, `lost`: items on which the further result is better or worse.
    `p_holm`: p corrected for all tests of the dimension. `first_low` to `second_high`: the interval of each share.
    """
    shared = common_rows(results, correctness.column)
    first, *others = shared
    right = shared[first].assign(**{name: rows[correctness.column] for name, rows in shared.items()})
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in others}
    for dimension in [OVERALL, "relation", *dimensions]:
        for group, table in members(right, dimension).groupby("group", sort=False):
            items = _group_items(right, table, list(shared))
            for name in others:
                figures = _paired(items["weight"], items[first], items[name], correctness.macro)
                rows[name].append({"result": name, "dimension": dimension, "group": group, **figures})
    return with_holm(pd.DataFrame([row for of_result in rows.values() for row in of_result]))


def with_holm(differences: pd.DataFrame) -> pd.DataFrame:
    """Add the corrected p-values: over all tests of a dimension, which are those of every group and every result."""
    corrected = differences.assign(p_holm=differences.groupby("dimension")["p"].transform(holm))
    return corrected[DIFFERENCE_COLUMNS]


def _group_items(right: pd.DataFrame, table: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """Return a group's items, each the weighted sum over its templates; those that ask for the same fact are one.

    Columns: `weight`, and whether each result of these names is right; indexed by relation and item.
    """
    rows = right.iloc[table["row"]].reset_index(drop=True)
    weight = table["weight"].reset_index(drop=True)
    weighted = rows[names].mul(weight, axis=0).assign(weight=weight)
    return weighted.groupby([rows["relation"], fact_names(rows)], sort=False).sum()


def _paired(weight: pd.Series, first: pd.Series, second: pd.Series, macro: bool) -> dict[str, Any]:
    """Return one group's figures: means over its items, or the plain means of its relations' means."""
    parts, weights = relation_numbers(weight.index.get_level_values("relation"), macro), weight.to_numpy()
    before, after = (evened((sums / weight).to_numpy(), weights, parts) for sums in (first, second))
    change = second - first
    return {
        "n": round(float(weights.sum()), 9),
        **difference_figures(before, after, parts),
        "gained": int((change > SLACK).sum()),
        "lost": int((change < -SLACK).sum()),
    }


def difference_figures(first: Floats, second: Floats, parts: Ints) -> dict[str, float]:
    """Return both means over parts with their intervals, and their difference with its interval and p-value.

    `first`, `second`: the figures of each question in two results. `parts`: the number of each question's part.
    """
    pair = paired(np.stack([second, first], axis=1), parts)
    means = [float(np.mean(np.bincount(parts, figures) / np.bincount(parts))) for figures in (first, second)]
    bounds = [bound for figures in (first, second) for bound in figure_interval(figures, parts)]
    low, high = (float(np.clip(ends[0, 1], -1, 1)) for ends in pair.bounds)
    return {
        **dict(zip(("first", "second"), means, strict=True)),
        **{"difference": means[1] - means[0], "low": low, "high": high, "p": float(pair.p[0, 1])},
        **dict(zip(SIDE_BOUNDS, bounds, strict=True)),
    }


def score_changes(before: pd.DataFrame, after: pd.DataFrame) -> list[str]:
    """Return a sentence for each kind of difference; none where the tables hold the same scores in any order."""
    both = before.merge(after, how="outer", on=SCORE_KEY, suffixes=("_before", ""), indicator="side")
    added, removed = (both[both["side"] == side] for side in ("right_only", "left_only"))
    return [
        *_metrics_in_words("New metrics", added, set(before["metric"])),
        *_groups_in_words("New groups", added, before),
        *_metrics_in_words("Metrics that are gone", removed, set(after["metric"])),
        *_groups_in_words("Groups that are gone", removed, after),
        *_changes_in_words(both[both["side"] == "both"], [name for name in after.columns if name not in SCORE_KEY]),
    ]


def _metrics_in_words(title: str, scores: pd.DataFrame, named_before: set[str]) -> list[str]:
    metrics = [metric for metric in dict.fromkeys(scores["metric"]) if metric not in named_before]
    return [f"{title}: {', '.join(metrics)}."] if metrics else []


def _groups_in_words(title: str, scores: pd.DataFrame, others: pd.DataFrame) -> list[str]:
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
    more = [f"and {len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED else []
    return ", ".join([*names[:MOST_NAMED], *more])


def _changes_in_words(both: pd.DataFrame, columns: Iterable[str]) -> list[str]:
    """Return a sentence on the scores that differ in any number, with the largest change of a value."""
    differs = pd.Series(False, index=both.index)
    for name in columns:
        former, present = (both[column].astype(float) for column in (f"{name}_before", name))
        differs |= (former.isna() != present.isna()) | ((present - former).abs() > SLACK)
    if not differs.any():
        return []
    change = (both["value"].astype(float) - both["value_before"].astype(float)).abs().fillna(0)
    largest = both.iloc[int(change.to_numpy().argmax())]
    group = f"{largest['metric']}, {largest['dimension']} {largest['group']}"
    values = f"{largest['value_before']:.4f} before, {largest['value']:.4f} now"
    example = f"; the largest change of a value is in {group}: {values}" if change.max() > SLACK else ""
    return [f"Changed: {differs.sum():,} of {len(both):,} scores{example}."]


class SmallestDifference(NamedTuple):
    """The smallest difference of two shares that is found in 80 % of all cases by a paired test at the 5 % level.

    `same_relations`: on the relations that were asked. `like_relations`: on other relations like these, NaN where there
    is only one relation or nothing was measured. `pairs`: the number of pairs of runs whose median it is; 0 for an
    assumption.
    """

    same_relations: float
    like_relations: float
    pairs: int


def smallest_difference(
    results: Mapping[str, pd.DataFrame], correctness: Correctness = CORRECT
) -> SmallestDifference | None:
    """Return the median of the smallest differences over all pairs of results; None if no two share two items.

    `results`: the rows of each, with the columns `relation`, `index` and the one that tells which answers are right.
    """
    items = [item_values(rows, rows[correctness.column]) for rows in results.values()]
    pairs = [(second - first).dropna() for first, second in combinations(items, 2)]
    return median_difference(difference_of_pair(changes, correctness.macro) for changes in pairs if len(changes) > 1)


def difference_of_pair(changes: pd.Series, macro: bool) -> SmallestDifference:
    """Return the smallest difference of two results whose items differ by `changes`, indexed by relation and item.

    `macro`: whether relations weigh equally, and not items.
    """
    by_relation = changes.groupby(level="relation").agg(["mean", "var", "size"])
    means, sizes = by_relation["mean"].to_numpy(), by_relation["size"].to_numpy(dtype=float)
    parts = np.full(len(sizes), 1 / len(sizes)) if macro else sizes / sizes.sum()
    if macro:
        variances = by_relation["var"].fillna(changes.var()).to_numpy()
        error = float(np.sqrt((variances / sizes).sum())) / len(sizes)
    else:
        error = float(changes.std()) / len(changes) ** 0.5
    return SmallestDifference(ERRORS_OF_POWER * error, _like_relations(means, parts), 1)


def _like_relations(means: Floats, parts: Floats) -> float:
    """Return the smallest difference on other relations, from the difference in each relation and its weight."""
    if len(means) < 2:
        return float("nan")
    deviations = means - parts @ means
    degrees = degrees_of_freedom(deviations, parts)
    quantiles = stdtrit(degrees, 0.975) + stdtrit(degrees, POWER)
    return float(quantiles) * jackknife_error(deviations, parts)


def median_difference(differences: Iterable[SmallestDifference]) -> SmallestDifference | None:
    """Return the median of each figure over pairs of results; None without any pair."""
    pairs = list(differences)
    if not pairs:
        return None
    return SmallestDifference(
        median(pair.same_relations for pair in pairs),
        float(np.median([pair.like_relations for pair in pairs])),
        sum(pair.pairs for pair in pairs),
    )


def assumed_difference(items: int) -> SmallestDifference:
    """Return the smallest difference where nothing was measured: for two models with independent answers.

    Each is right on half of the items. Models that know and err on the same items differ less, so that benchmarks tell
    smaller differences apart.
    """
    return SmallestDifference(ERRORS_OF_POWER * float(np.sqrt(ASSUMED_VARIANCE / items)), float("nan"), 0)


def smallest_difference_in_words(difference: SmallestDifference) -> str:
    """Return the figures in words, and none where they are 0: results that agree on all items have no variance."""
    if difference.same_relations == 0:
        return "Results that agree on every item do not tell how small a difference can be told apart."
    figures = f"{difference.same_relations:.3f} on these relations"
    if not np.isnan(difference.like_relations):
        figures += f", {difference.like_relations:.3f} on other relations like these"
    return f"Smallest difference that can be told apart (80 % power, 5 % level, paired): {figures}."
