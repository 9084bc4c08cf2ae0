"""What changed from the answers of one result to those of another: facts lost and gained, answers, and probabilities.

The divergence of Kullback and Leibler tells how far the probabilities of an item's options moved, also where the answer
stayed the same: the sum over the options of p · log(p / q), with p of the first result and q of the second. The
probabilities are the softmax of the option scores.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from probing.analysis.breakdowns import OVERALL, fact_names, item_weights
from probing.analysis.intervals import Z
from probing.analysis.option_scores import all_exact
from probing.analysis.paired_tests import SLACK, ResultRows, SmallestDifference, shared_rows
from probing.analysis.verdicts import ALIKE, verdict
from probing.arrays import Bools, Floats, Ints
from probing.benchmark import ROW_KEY
from probing.errors import BadInput

LOST, GAINED = "lost", "gained"
# The columns that say what a model answers, of which the first one that both results have counts.
ANSWERS = ("prediction_label", "prediction")
# What `AnswerChanges.of` reads beside the key of the rows.
CHANGE_COLUMNS = (*ANSWERS, "scores", "exact")
BOUNDS = (
    "There is no KL divergence over the options: a run with --decide has upper bounds in place of some scores. "
    "Measure again without it."
)


class AnswerChanges(NamedTuple):
    """How many answers changed, and how far the probabilities of the options moved.

    `answers`: the rows in which both results give an answer; 0 where a probe asks for none. `options`: the rows in
    which both have the scores of all options. `has_bounds`: whether some of these are upper bounds.
    """

    answers: int = 0
    changed: int = 0
    options: int = 0
    divergence: float = float("nan")
    has_bounds: bool = False

    @classmethod
    def of(cls, results: ResultRows, with_options: bool = True) -> "AnswerChanges":
        """Compare two results on the rows that both have.

        `with_options`: whether their option scores mean the same.
        """
        needed = {
            name: rows[[column for column in rows if column in {*ROW_KEY, *CHANGE_COLUMNS}]]
            for name, rows in results.items()
        }
        first, second = shared_rows(needed).values()
        column = next((name for name in ANSWERS if name in first and name in second), "")
        counts = _changed_answers(first[column], second[column]) if column else cls()
        if not (with_options and "scores" in first and "scores" in second):
            return counts
        if any("exact" in rows and not all_exact(rows) for rows in (first, second)):
            return counts._replace(has_bounds=True)
        divergences = option_divergences(first["scores"], second["scores"])
        if not len(divergences):
            return counts
        return counts._replace(options=len(divergences), divergence=float(divergences.mean()))

    def in_words(self, first: str, second: str, overall: Mapping[str, float]) -> list[str]:
        """Return a sentence for each figure that there is.

        `first`, `second`: what the two results are called. `overall`: the row of `paired_tests.compare` for all items.
        """
        sentences = [f"{second} lost {overall[LOST]:,} facts that {first} has, and gained {overall[GAINED]:,}."]
        if self.answers:
            share = self.changed / self.answers
            sentences.append(f"{100 * share:.1f} % of the answers changed ({self.changed:,} of {self.answers:,}).")
        if self.options:
            mean = f"{self.divergence:.4f} nats, the mean over {self.options:,} answers"
            sentences.append(f"KL divergence from {first} to {second} over the options: {mean}.")
        return [*sentences, *([BOUNDS] if self.has_bounds else [])]


def _changed_answers(first: pd.Series, second: pd.Series) -> AnswerChanges:
    """Count the rows in which both results answer, and those of them in which the answers differ."""
    both_answer = first.notna() & second.notna()
    changed = both_answer & (first.astype(object) != second.astype(object))
    return AnswerChanges(int(both_answer.sum()), int(changed.sum()))


def option_divergences(first: pd.Series, second: pd.Series) -> Floats:
    """Return the divergence from the first to the second scores of each row with two or more options, all finite."""
    sizes, others = (scores.map(len).to_numpy() for scores in (first, second))
    if (sizes != others).any():
        row = int(np.flatnonzero(sizes != others)[0])
        raise BadInput(
            f"An item has {sizes[row]} options in the first result and {others[row]} in the second.",
            "Compare results with the same options.",
        )
    several = sizes > 1
    if not several.any():
        return np.zeros(0)
    sizes = sizes[several]
    starts = np.cumsum(sizes) - sizes
    before, after = (np.concatenate(scores[several].tolist()).astype(float) for scores in (first, second))
    finite: Bools = np.logical_and.reduceat(np.isfinite(before) & np.isfinite(after), starts)
    with np.errstate(invalid="ignore"):  # of the rows that are left out
        p, q = (_log_shares(scores, starts, sizes) for scores in (before, after))
        divergences: Floats = np.add.reduceat(np.exp(p) * (p - q), starts)
    return np.maximum(divergences[finite], 0)


def _log_shares(scores: Floats, starts: Ints, sizes: Ints) -> Floats:
    """Return the logarithms of the softmax within each row's options."""
    centred = scores - np.repeat(np.maximum.reduceat(scores, starts), sizes)
    log_shares: Floats = centred - np.repeat(np.log(np.add.reduceat(np.exp(centred), starts)), sizes)
    return log_shares


def changed_facts(shared: ResultRows, column: str) -> pd.DataFrame:
    """Return the facts of which the second result has fewer or more wordings right than the first.

    `shared`: two results as `common_rows` returns them. Columns: `relation`, `fact`, `subject`, `answer` (where they
    are known), what each result answers under its name, and `change`; several answers stand with semicolons between.
    """
    names, (first, second) = [*shared], shared.values()
    weights = item_weights(first)
    facts = _facts(first)
    difference = weights * (second[column].astype(float) - first[column].astype(float))
    sums = difference.groupby([facts["relation"], facts["fact"]], sort=False).transform("sum")
    table = facts.assign(
        subject=first.get("subject", ""),
        answer=first.get("answer_label", ""),
        **{name: _answers(rows) for name, rows in zip(names, (first, second), strict=True)},
        change=np.where(sums < 0, LOST, GAINED),
    )[(sums.abs() > SLACK).to_numpy()]
    keys = ["relation", "fact", "change"]
    return table.groupby(keys, sort=False).agg(_distinct).reset_index()[[*table.columns]]


def _facts(rows: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"relation": rows["relation"].astype(str), "fact": fact_names(rows).astype(str)})


def _answers(rows: pd.DataFrame) -> pd.Series:
    column = next((name for name in ANSWERS if name in rows), "")
    return rows[column].astype(object) if column else pd.Series("", rows.index)


def _distinct(values: pd.Series) -> str:
    return "; ".join(dict.fromkeys(values.dropna().astype(str)))


def mean_change_in_words(first: pd.DataFrame, second: pd.DataFrame) -> str:
    """Say how the mean of the column `score` changes, with the interval over facts; rows stand in the same order."""
    scores = [rows["score"].to_numpy(dtype=float) for rows in (first, second)]
    change = scores[1] - scores[0]
    numbers = _facts(first).groupby(["relation", "fact"]).ngroup()
    sums = np.bincount(numbers, change - change.mean())
    error = float(np.sqrt((sums**2).sum() * len(sums) / max(len(sums) - 1, 1))) / len(change)
    low, high = (change.mean() + side * Z * error for side in (-1, 1))
    means = " and ".join(f"{values.mean():.4g}" for values in scores)
    return f"Mean scores {means}, a change of {change.mean():.4g} ({low:.4g} to {high:.4g})."


def difference_in_words(
    name: str, overall: Mapping[str, float], ahead: str, smallest: SmallestDifference | None, than: str = ""
) -> str:
    """Return how far one result is ahead of another, and whether the two can be told apart.

    `overall`: the row of `paired_tests.compare` for all items, in which `name` is the second result. `ahead`: how the
    probe says it. `than`: what the first result is called, if it is to be named.
    """
    difference, p = overall["difference"], overall["p_holm"]
    size = ahead.format(points=points(abs(difference)), more="less" if difference < 0 else "more")
    against = f"than {than}" if than else ""
    if difference == 0:
        size, against = "has the same score", f"as {than}" if than else ""
    interval = f"({points(overall['low'])} to {points(overall['high'])})"
    sentence = " ".join(filter(None, [name, size, against, interval]))
    if verdict(difference, p) != ALIKE:
        return f"{sentence}, p {'< 0.0001' if p < 0.0001 else f'= {p:.2g}'}"
    if smallest is None:
        return f"{sentence}: {ALIKE}"
    if smallest.same_relations == 0:
        return f"{sentence}: {ALIKE}, as both are right and wrong on the same items"
    return f"{sentence}: {ALIKE}; differences of {points(smallest.same_relations)} points would be"


def points(share: float) -> str:
    """Write a difference of shares in percentage points, in whole ones from ten on."""
    value = 100 * share
    return (f"{value:.0f}" if abs(value) >= 10 else f"{value:.1f}").replace("-", "\N{MINUS SIGN}")


def most_certain_first(differences: pd.DataFrame) -> pd.DataFrame:
    """Return the differences in groups, those with the smallest p first, and of equals the largest."""
    groups = differences[differences["dimension"] != OVERALL]
    by_size = groups.sort_values("difference", key=lambda differences: -differences.abs(), kind="stable")
    return by_size.sort_values("p", kind="stable")
