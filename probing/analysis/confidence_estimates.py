"""How confident a model is in an item, by one wording or over several, and how well this confidence is calibrated.

The estimates and measures are those of “Self-Aware Knowledge Probing” (Kissling, Merdjanovska and Akbik 2026,
arXiv:2601.18901, section 3). Unlike `analysis.confidence`, they are about the answer to an item, and not about each of
its wordings.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from probing.analysis.accuracy import tidy
from probing.analysis.confidence import MARGIN, MAX_SOFTMAX, confidences
from probing.arrays import Floats

ITEM = ["relation", "index"]
ESTIMATE_COLUMNS = [*ITEM, "estimate", "confidence", "correct"]
VOTES = 2  # wordings that must agree, as in the paper's main tables
BINS = 20
ACE, BRIER, ACCURACY, KEPT = "adaptive_calibration_error", "confidence_brier", "answer_accuracy", "kept_accuracy"
DIMENSION = "confidence_estimate"
THRESHOLDS = tuple(round(0.1 * step, 1) for step in range(10))


def confidence_estimates(rows: pd.DataFrame, votes: int = VOTES) -> pd.DataFrame:
    """Return each item with each estimate of its confidence: `ESTIMATE_COLUMNS`.

    `correct` is about the answer that an estimate is about. By the first wording alone: `base`, the largest
    probability, and `margin`, by how much it exceeds the second. Where there are several wordings, one answer is chosen
    by the most wordings (`vote`; none, with a confidence of 0, where it has fewer than `votes` or several have as
    many), by the least confident wording (`min`) or by the most confident one (`max`). Its confidence is the sum of the
    base confidences of the wordings that give this answer (`average_…`), or their number (`consistency_…`), divided by
    the number of wordings.
    """
    probabilities = confidences(rows)
    outcomes = rows[[*ITEM, "template", "prediction", "correct"]].assign(
        base=probabilities[MAX_SOFTMAX], margin=probabilities[MARGIN]
    )
    outcomes = outcomes.sort_values("template", kind="stable").reset_index(drop=True)
    first = outcomes[outcomes["template"] == outcomes["template"].min()]
    tables = [first.assign(estimate=name, confidence=first[name]) for name in ("base", "margin")]
    wordings = outcomes["template"].nunique()
    if wordings > 1:
        answers = outcomes.groupby([*ITEM, "prediction"], sort=False)
        outcomes = outcomes.assign(total=answers["base"].transform("sum"), votes=answers["base"].transform("size"))
        for rule, chosen in _chosen_answers(outcomes, votes).items():
            for name, column in (("average", "total"), ("consistency", "votes")):
                tables.append(chosen.assign(estimate=f"{name}_{rule}", confidence=chosen[column] / wordings))
    estimates: pd.DataFrame = pd.concat(tables, ignore_index=True)[ESTIMATE_COLUMNS]
    return estimates


def _chosen_answers(outcomes: pd.DataFrame, votes: int) -> dict[str, pd.DataFrame]:
    """Return for each rule one row of each item, which gives the chosen answer."""
    items = outcomes.groupby(ITEM, sort=False)
    most = items["votes"].transform("max")
    # Each answer with the most votes has as many rows, so that there are more of them where several answers lead.
    leading = (outcomes["votes"] == most).groupby([outcomes[name] for name in ITEM], sort=False).transform("sum")
    by_votes: pd.DataFrame = outcomes.loc[items["votes"].idxmax()]
    undecided = ((most < votes) | (leading > most))[by_votes.index]
    return {
        "vote": by_votes.assign(
            correct=by_votes["correct"] & ~undecided,
            votes=by_votes["votes"].mask(undecided, 0),
            total=by_votes["total"].mask(undecided, 0.0),
        ),
        "min": outcomes.loc[items["base"].idxmin()],
        "max": outcomes.loc[items["base"].idxmax()],
    }


def adaptive_calibration_error(correct: Floats, confidence: Floats) -> float:
    """Return the mean distance of accuracy and confidence over bins that are cut at quantiles of the confidence.

    Every bin that has items counts alike (Nixon et al. 2019). Unlike the bins of `confidence.calibration_curve`, whose
    items count alike, quantiles may lie between two values, and equal values may leave bins empty.
    """
    cuts = np.percentile(confidence, np.linspace(0, 100, BINS + 1))
    places = np.searchsorted(cuts[1:-1], confidence)
    sizes = np.bincount(places, minlength=BINS)
    sums = np.bincount(places, np.asarray(correct, float) - confidence, BINS)
    return float(np.abs(sums[sizes > 0] / sizes[sizes > 0]).mean())


def estimate_scores(rows: pd.DataFrame) -> pd.DataFrame:
    """Return tidy scores of each estimate: its adaptive calibration error, its Brier score and its answers' accuracy.

    The Brier score is the mean squared difference of the confidence from 1 where the answer is right, else from 0.
    """
    scores = []
    for name, table in confidence_estimates(rows).groupby("estimate", sort=False):
        correct, confidence = table["correct"].to_numpy(float), table["confidence"].to_numpy(float)
        values = {
            ACE: adaptive_calibration_error(correct, confidence),
            BRIER: ((correct - confidence) ** 2).mean(),
            ACCURACY: correct.mean(),
        }
        for metric, value in values.items():
            scores.append((metric, DIMENSION, str(name), value, len(table), np.nan, np.nan))
    return tidy(scores)


def rejection_curve(estimates: pd.DataFrame, thresholds: Sequence[float] = THRESHOLDS) -> pd.DataFrame:
    """Return for each estimate and threshold which share of items has less confidence, and the accuracy of the others.

    Columns: `estimate`, `threshold`, `rejected`, `kept` (items), `kept_accuracy`, which is NaN where no item is kept.
    """
    curve = [
        (name, threshold, 1 - kept.mean(), int(kept.sum()), table.loc[kept, "correct"].mean())
        for name, table in estimates.groupby("estimate", sort=False)
        for threshold in thresholds
        for kept in [table["confidence"] >= threshold]
    ]
    return pd.DataFrame(curve, columns=["estimate", "threshold", "rejected", "kept", KEPT])
