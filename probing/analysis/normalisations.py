"""Accuracy of stored rows if options were compared by other lengths, and the lengths of the texts."""

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from probing.analysis.accuracy import SCORE_COLUMNS, mean, proportion
from probing.analysis.breakdowns import OVERALL
from probing.arrays import Ints
from probing.benchmark import ROW_KEY

CONDITIONAL, ANSWER_ONLY = "conditional", "answer only"
SCORED_BY = "scored_by"  # the dimension, whose groups are the two scores
CHANGED = "prediction_changed"  # the metric: share of predictions that are other ones than by the run's own rule


def conditional_scores(tokens: pd.DataFrame) -> pd.DataFrame:
    """Return the two scores of each option: the columns of `ROW_KEY`, `option`, "conditional" and "answer only".

    `tokens`: those of whole items, in their order (tokens.parquet). An option that the tokenizer leaves nothing of has
    the score -inf.
    """
    begin = np.flatnonzero(tokens["position"] == 0)
    log_probs, own = tokens["log_prob"].to_numpy(float), (tokens["role"] == "answer").to_numpy()
    count: Ints = np.cumsum(own)
    before: Ints = np.repeat(count[begin] - own[begin], np.diff([*begin, len(tokens)]))
    selected = {CONDITIONAL: count > before, ANSWER_ONLY: own}
    scores = tokens.iloc[begin][[*ROW_KEY, "option"]].reset_index(drop=True)
    for name, chosen in selected.items():
        sums = np.add.reduceat(np.where(chosen, log_probs, 0.0), begin)
        scores[name] = np.where(np.logical_or.reduceat(own, begin), sums, -np.inf)
    return scores


def conditional_accuracy(rows: pd.DataFrame, pieces: Iterable[pd.DataFrame], metric: str) -> pd.DataFrame:
    """Return the `metric` and the share of changed predictions by either score, as tidy scores.

    `rows`: those of a result. `pieces`: their tokens, a piece at a time.
    """
    best = pd.concat([_best_options(conditional_scores(piece)) for piece in pieces if len(piece)])
    in_order = best.loc[pd.MultiIndex.from_frame(rows[ROW_KEY])]
    return _scores_by_rule(rows, {str(name): in_order[name].to_numpy() for name in in_order}, metric)


def _scores_by_rule(rows: pd.DataFrame, predictions: Mapping[str, Ints], metric: str) -> pd.DataFrame:
    """Return the `metric` and the share of changed predictions by each score, as tidy scores.

    `predictions`: by the name of each score the option that it prefers, shape (rows,).
    """
    answers, own = rows["answers"].tolist(), rows["prediction"].to_numpy()
    tables = [pd.DataFrame(columns=SCORE_COLUMNS)]
    for name, best in predictions.items():
        correct = pd.Series([option in right for option, right in zip(best, answers, strict=True)], dtype=bool)
        shares = [proportion(rows, metric, correct, OVERALL), mean(rows, CHANGED, pd.Series(best != own), OVERALL)]
        tables += [share.assign(dimension=SCORED_BY, group=name) for share in shares]
    return pd.concat(tables[1:] or tables, ignore_index=True)


def _best_options(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the best option of each item, the first of equals, by either score; indexed by the columns `ROW_KEY`."""
    items = scores.groupby(ROW_KEY, sort=False)
    best = {name: scores["option"].loc[items[name].idxmax()].to_numpy() for name in (CONDITIONAL, ANSWER_ONLY)}
    return pd.DataFrame(best, index=items.size().index)
