"""Confidence: how sure a model is of its predictions, and whether it is right as often as it is sure.

The scores of an item's options are turned into probabilities by a softmax, as in `bias`. All figures need the scores of
all options.
"""

import numpy as np
import pandas as pd

from probing.analysis.accuracy import SCORE_COLUMNS, means, tidy
from probing.analysis.breakdowns import ALL, OVERALL, item_weights, members
from probing.analysis.intervals import wilson
from probing.analysis.option_scores import (
    all_exact,
    blocks,
    option_counts,
    right_shares,
    shares_of,
    space_dimension,
    space_names,
)
from probing.arrays import Floats

MAX_SOFTMAX, MARGIN, ENTROPY, BRIER = "max_softmax", "softmax_margin", "normalised_entropy", "brier_score"
ANSWER = "answer_probability"
CONFIDENCES = (MAX_SOFTMAX, MARGIN, ENTROPY, BRIER, ANSWER)
CALIBRATION_ERROR = "calibration_error"
BIN_ACCURACY, BIN_CONFIDENCE = "calibration_accuracy", "calibration_confidence"
CONFIDENCE_METRICS = (*CONFIDENCES, CALIBRATION_ERROR, BIN_ACCURACY, BIN_CONFIDENCE)
# The dimensions of the calibration curves, each with the measure of confidence whose bins are its groups.
CURVES = {"max_softmax_bin": MAX_SOFTMAX, "softmax_margin_bin": MARGIN}
BINS = 10
CURVE_COLUMNS = ["bin", "confidence", "accuracy", "items", "low", "high"]


def confidence_scores(rows: pd.DataFrame) -> pd.DataFrame:
    """Return tidy scores of confidence; none without the scores of all options.

    The means of `CONFIDENCES` over items, overall and by relation; `calibration_error` overall; and for each bin of the
    two calibration curves the accuracy, with Wilson's interval, and the mean confidence.
    """
    if not all_exact(rows):
        return pd.DataFrame(columns=SCORE_COLUMNS)
    values = confidences(rows)
    dimension = space_dimension(rows.columns)
    rows = rows.assign(**{dimension: space_names(rows)})
    curves = {name: calibration_curve(rows, values[measure]) for name, measure in CURVES.items()}
    measures = {name: values[name] for name in CONFIDENCES}
    tables = [means(members(rows, level), measures, level) for level in (OVERALL, dimension)]
    tables += [_tidy_curve(name, curve) for name, curve in curves.items()]
    curve = curves["max_softmax_bin"]
    items = round(float(curve["items"].sum()), 9)
    error = tidy([(CALIBRATION_ERROR, OVERALL, ALL, calibration_error(curve), items, np.nan, np.nan)])
    return pd.concat([*tables, error], ignore_index=True)


def confidences(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the measures `CONFIDENCES` of each row.

    `max_softmax`: the largest probability. `softmax_margin`: the largest minus the second largest (1 for one option).
    `normalised_entropy`: entropy of the probabilities / ln(options), 0 for one option. `brier_score`: the sum over
    options of the squared difference from 1 for the right option and 0 for others; several right options share the 1.
    `answer_probability`: that of the right option, or of all right options together.
    """
    if set(CONFIDENCES) <= set(rows.columns):  # condensed rows (`analysis.details`)
        return rows[list(CONFIDENCES)]
    counts = option_counts(rows)
    parts = [
        _equally_many(block, count)
        for count in map(int, counts.unique())
        for block in blocks(rows[counts == count], count)
    ]
    return pd.concat(parts).reindex(rows.index)


def calibration_curve(rows: pd.DataFrame, confidence: pd.Series) -> pd.DataFrame:
    """Return the accuracy in `BINS` bins of confidence: `CURVE_COLUMNS`, the least confident bin first.

    The rows are put in order of confidence and cut into bins of equally many; equal values stay in one bin, so there
    may be fewer bins. The templates of an item share its weight.
    """
    places = confidence.rank(method="min") - 1
    cuts = np.floor(places * BINS / len(rows))
    weighted = pd.DataFrame({"weight": item_weights(rows), "confidence": confidence, "accuracy": rows["correct"]})
    weighted[["confidence", "accuracy"]] = weighted[["confidence", "accuracy"]].astype(float).mul(weighted["weight"], 0)
    sums = weighted.groupby(cuts).sum()
    curve = sums[["confidence", "accuracy"]].div(sums["weight"], axis=0).assign(items=sums["weight"])
    bounds = [wilson(value, n) for value, n in zip(curve["accuracy"], curve["items"], strict=True)]
    low, high = zip(*bounds, strict=True)
    return curve.assign(bin=range(1, len(curve) + 1), low=low, high=high).reset_index(drop=True)[CURVE_COLUMNS]


def calibration_error(curve: pd.DataFrame) -> float:
    """Return the mean distance of accuracy and confidence over the bins of a curve, weighted by items (ECE)."""
    distances = (curve["accuracy"] - curve["confidence"]).abs()
    return float((distances * curve["items"]).sum() / curve["items"].sum())


def _equally_many(rows: pd.DataFrame, options: int) -> pd.DataFrame:
    shares, right = shares_of(rows), right_shares(rows, options)
    ordered = np.sort(shares, axis=1)
    second = ordered[:, -2] if options > 1 else np.zeros(len(rows))
    measures = {
        MAX_SOFTMAX: ordered[:, -1],
        MARGIN: ordered[:, -1] - second,
        ENTROPY: _entropies(shares) / np.log(options) if options > 1 else np.zeros(len(rows)),
        BRIER: ((shares - right) ** 2).sum(axis=1),
        ANSWER: (shares * (right > 0)).sum(axis=1),
    }
    return pd.DataFrame(measures, index=rows.index)


def _entropies(shares: Floats) -> Floats:
    logarithms = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
    entropies: Floats = -(shares * logarithms).sum(axis=1)
    return entropies


def _tidy_curve(dimension: str, curve: pd.DataFrame) -> pd.DataFrame:
    scores = curve.assign(dimension=dimension, group=curve["bin"].astype(str), n=curve["items"].round(9))
    accuracy = scores.assign(metric=BIN_ACCURACY, value=curve["accuracy"])
    confidence = scores.assign(metric=BIN_CONFIDENCE, value=curve["confidence"], low=np.nan, high=np.nan)
    return pd.concat([accuracy, confidence]).reindex(columns=SCORE_COLUMNS)
