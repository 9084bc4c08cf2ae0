"""Answer bias (methods 1.4): which answers a model favours in a relation, whatever the subject.

The scores of an item's options are turned into probabilities by a softmax: of each option, given that one of them is
right. Their mean over the subjects of a relation is the model's bias with one template; the bias is the mean over
templates. It is compared with the distribution of the right answers, which a model that knows everything would have,
and with the uniform one. Distances are total variation: half the sum of the absolute differences, which is the
share of probability that would have to move.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import entr

from probing.analysis.accuracy import SCORE_COLUMNS, mean, means
from probing.analysis.breakdowns import OVERALL, members
from probing.analysis.option_scores import (
    all_exact,
    blocks,
    by_space,
    option_counts,
    option_labels,
    right_shares,
    shares_of,
    space_dimension,
    space_names,
)
from probing.arrays import Floats

# One row for each option. `bias`: the mean probability, with the least and the greatest template; `gold`: the share of
# items to which it is right; `uniform`: 1 / options; `predicted`: the share of predictions; `generic`: the mean
# probability with generic subjects, with the least and the greatest template, empty where there are none.
BIAS_COLUMNS = [
    *("relation", "option", "label", "bias", "low", "high", "gold", "uniform", "predicted"),
    *("generic", "generic_low", "generic_high"),
]
# The figures of each kind of bias: its mean over templates, with the least and the greatest template.
BIAS, GENERIC = "bias", "generic"
BIAS_KINDS = {BIAS: (BIAS, "low", "high"), GENERIC: (GENERIC, "generic_low", "generic_high")}
# The columns of rows that `answer_bias` reads; rows of cultures also need those that name their answer space.
CHOICE_COLUMNS = (
    *("relation", "template", "index", "scores", "exact", "generic"),
    *("answer", "answers", "answer_label", "prediction", "prediction_label"),
)
GOLD_DISTANCE, UNIFORM_DISTANCE = "bias_gold_distance", "bias_uniform_distance"
ENTROPY, GOLD_ENTROPY = "bias_entropy", "gold_entropy"
PREDICTION_DISTANCE = "prediction_gold_distance"
GENERIC_DISTANCE, GENERIC_ENTROPY = "generic_uniform_distance", "generic_entropy"
BIAS_METRICS = (
    *(GOLD_DISTANCE, UNIFORM_DISTANCE, ENTROPY, GOLD_ENTROPY),
    *(PREDICTION_DISTANCE, GENERIC_DISTANCE, GENERIC_ENTROPY),
)


def answer_bias(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the bias of every relation whose items share their options: `BIAS_COLUMNS`, options in stored order.

    The rows must have the scores of all options (`all_exact`).
    """
    spaces = [_of_space(name, part) for name, part in by_space(rows)]
    tables = [table for table in spaces if table is not None]
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=BIAS_COLUMNS)


def bias_scores(rows: pd.DataFrame) -> pd.DataFrame:
    """Return tidy scores by relation and, as means over items, overall; none without the scores of all options.

    `bias_gold_distance`, `bias_uniform_distance`, `prediction_gold_distance` and `generic_uniform_distance` are total
    variation. `bias_entropy`, `gold_entropy` and `generic_entropy` are shares of the largest entropy, that of the
    uniform distribution.
    """
    if not all_exact(rows):
        return pd.DataFrame(columns=SCORE_COLUMNS)
    dimension = space_dimension(rows.columns)
    named = rows[["relation", "index"]].assign(**{dimension: space_names(rows)})
    levels = {level: members(named, level) for level in (OVERALL, dimension)}
    tables: list[pd.DataFrame] = []
    for metric, values in biases_of_rows(rows).items():
        known = values.notna()
        if known.all():
            tables += [means(table, {str(metric): values}, level) for level, table in levels.items()]
        elif known.any():
            tables += [mean(named[known], str(metric), values[known], level) for level in levels]
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=SCORE_COLUMNS)


def biases_of_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the `BIAS_METRICS` of each row's relation, which are empty where its items have options of their own.

    The rows must have the scores of all options (`all_exact`).
    """
    if set(BIAS_METRICS) <= set(rows.columns):  # condensed rows (`analysis.details`)
        return rows[list(BIAS_METRICS)]
    summary = bias_summary(answer_bias(rows))
    return summary.reindex(space_names(rows)).set_index(rows.index)


def bias_summary(table: pd.DataFrame) -> pd.DataFrame:
    """Return `BIAS_METRICS` of each relation in a table of `answer_bias`, indexed by relation."""
    figures = {str(name): _figures(part) for name, part in table.groupby("relation", sort=False)}
    return pd.DataFrame.from_dict(figures, orient="index", columns=list(BIAS_METRICS))


def total_variation(first: Floats, second: Floats) -> float:
    """Return half the sum of the absolute differences of two distributions: 0 if they are equal, at most 1."""
    return float(np.abs(first - second).sum() / 2)


def normalised_entropy(shares: Floats) -> float:
    """Return the entropy of a distribution as a share of that of the uniform one; 0 for a single option."""
    return float(entr(shares).sum() / np.log(len(shares))) if len(shares) > 1 else 0.0


def _of_space(name: str, rows: pd.DataFrame) -> pd.DataFrame | None:
    """Return the bias in one answer space, or None where the items have options of their own."""
    labels = option_labels(rows)
    if labels is None or option_counts(rows).nunique() != 1:
        return None
    parts = [part for _, part in rows.groupby("template", sort=False)]
    options = len(parts[0]["scores"].iloc[0])
    return pd.DataFrame(
        {
            "relation": name,
            "option": np.arange(options),
            "label": [labels.get(option, f"option {option}") for option in range(options)],
            **_over_templates("bias", [_mean_shares(part, options) for part in parts], ("low", "high")),
            "gold": np.mean([_gold(part, options) for part in parts], axis=0),
            "uniform": 1 / options,
            "predicted": np.mean([_predicted(part, options) for part in parts], axis=0),
            **_generic(parts),
        },
        columns=BIAS_COLUMNS,
    )


def _mean_shares(rows: pd.DataFrame, options: int) -> Floats:
    return _sum_over(map(shares_of, blocks(rows, options)), options) / len(rows)


def _gold(rows: pd.DataFrame, options: int) -> Floats:
    return _sum_over((right_shares(block, options) for block in blocks(rows, options)), options) / len(rows)


def _sum_over(shares_of_blocks: Iterable[Floats], options: int) -> Floats:
    """Return the sum of all rows of these arrays.

    Rows are added one after the other, so that the sum does not depend on how they are divided into blocks.
    """
    total = np.zeros(options)
    for shares in shares_of_blocks:
        total = np.add.reduce(np.vstack([total, shares]))
    return total


def _predicted(rows: pd.DataFrame, options: int) -> Floats:
    counts: Floats = np.bincount(rows["prediction"].astype(int), minlength=options) / len(rows)
    return counts


def _generic(parts: Sequence[pd.DataFrame]) -> dict[str, Any]:
    """Return the shares with generic subjects, which the rows of a template have in common."""
    if "generic" not in parts[0]:
        return {}
    shares = [np.asarray(part["generic"].iloc[0], dtype=float) for part in parts]
    return _over_templates("generic", shares, ("generic_low", "generic_high"))


def _over_templates(name: str, shares: Sequence[Floats], ends: tuple[str, str]) -> dict[str, Any]:
    return {
        name: np.mean(shares, axis=0),
        ends[0]: np.min(shares, axis=0),
        ends[1]: np.max(shares, axis=0),
    }


def _figures(table: pd.DataFrame) -> Mapping[str, float]:
    bias, gold, uniform, predicted, generic = (
        table[name].to_numpy(dtype=float) for name in ("bias", "gold", "uniform", "predicted", "generic")
    )
    has_generic = not np.isnan(generic).any()
    return {
        GOLD_DISTANCE: total_variation(bias, gold),
        UNIFORM_DISTANCE: total_variation(bias, uniform),
        ENTROPY: normalised_entropy(bias),
        GOLD_ENTROPY: normalised_entropy(gold),
        PREDICTION_DISTANCE: total_variation(predicted, gold),
        GENERIC_DISTANCE: total_variation(generic, uniform) if has_generic else np.nan,
        GENERIC_ENTROPY: normalised_entropy(generic) if has_generic else np.nan,
    }
