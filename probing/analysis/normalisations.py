"""Accuracy of stored rows if options were compared by other lengths, or by PMI, without another pass of the model.

The score of an option is the log-probability of a text: the sum over its tokens, or their mean. Divided by the text's
length in tokens, in bytes (UTF-8) or in words, or less what the text has with its subject hidden (PMI), it may rank the
options in another order. The figures form the dimension `normalisation`; one group of it is the rule that the run used.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

import numpy as np
import pandas as pd

from probing.analysis.accuracy import SCORE_COLUMNS, mean, proportion
from probing.analysis.answer_spaces import all_exact
from probing.analysis.breakdown import OVERALL
from probing.analysis.text_lengths import TextLengths
from probing.arrays import Floats, Ints
from probing.language_model import Reduction
from probing.settings import Settings

NORMALISATION = "normalisation"  # the dimension
CHANGED = "prediction_changed"  # the metric: share of predictions that are other ones than by the run's own rule
SUM, PER_TOKEN, PER_BYTE, PER_WORD, PMI = NORMALISATIONS = ("sum", "per token", "per byte", "per word", "PMI")
OWN_RULE: dict[Reduction, str] = {"sum": SUM, "mean": PER_TOKEN}
# Columns of condensed rows (`analysis.condensed`) with the option that each rule prefers.
RULE_COLUMNS = {name: f"prediction by {name}" for name in NORMALISATIONS}
# Columns of rows that hold a value for each option, and that not all runs have.
TOKENS, UNCONDITIONAL = "tokens", "unconditional"


def normalised(
    scores: Floats,
    lengths: TextLengths,
    reduction: Reduction,
    tokens: Ints | None = None,
    unconditional: Floats | None = None,
) -> dict[str, Floats]:
    """Return the scores of one item's options, shape (options,), by each normalisation that can be computed.

    `scores`: sums or means, as `reduction` says. `tokens`: the number of tokens of each text. `unconditional`: the sum
    that each text has with its subject hidden.
    """
    if reduction == "mean" and tokens is None:
        return {PER_TOKEN: scores}
    sums = scores if tokens is None or reduction == "sum" else scores * tokens
    by_rule = {SUM: sums}
    if tokens is not None:
        by_rule[PER_TOKEN] = scores if reduction == "mean" else scores / np.maximum(tokens, 1)
    by_rule[PER_BYTE] = sums / np.maximum(lengths.bytes, 1)
    by_rule[PER_WORD] = sums / np.maximum(lengths.words, 1)
    if unconditional is not None:
        by_rule[PMI] = sums - unconditional
    return by_rule


def normalisation_scores(
    rows: pd.DataFrame, lengths: Iterable[TextLengths], metric: str, reduction: Reduction
) -> pd.DataFrame:
    """Return the `metric` and the share of changed predictions under each normalisation, as tidy scores.

    `lengths`: those of each row's texts, in the order of the rows. There are no scores where an early decision left
    the scores of some options open. The figures of the run's own rule rest on the stored predictions.
    """
    if not all_exact(rows):
        return pd.DataFrame(columns=SCORE_COLUMNS)
    return scores_by_rule(rows, predictions_by_rule(rows, lengths, reduction), metric)


def predictions_by_rule(rows: pd.DataFrame, lengths: Iterable[TextLengths], reduction: Reduction) -> Mapping[str, Ints]:
    """Return the option that each rule prefers, shape (rows,), by the rule's name; arguments as above."""
    stored = {name: rows[column] for name, column in RULE_COLUMNS.items() if column in rows}
    if stored:  # condensed rows (`analysis.condensed`)
        return {name: column.to_numpy() for name, column in stored.items()}
    predictions = _predictions(rows, lengths, reduction)
    predictions[OWN_RULE[reduction]] = rows["prediction"].to_numpy()
    return predictions


def scores_by_rule(rows: pd.DataFrame, predictions: Mapping[str, Ints], metric: str) -> pd.DataFrame:
    """Return the `metric` and the share of changed predictions by each rule, as tidy scores of the dimension.

    `predictions`: by the name of each rule the option that it prefers, shape (rows,).
    """
    answers, own = rows["answers"].tolist(), rows["prediction"].to_numpy()
    tables = [pd.DataFrame(columns=SCORE_COLUMNS)]
    for name, best in predictions.items():
        correct = pd.Series([option in right for option, right in zip(best, answers, strict=True)], dtype=bool)
        shares = [proportion(rows, metric, correct, OVERALL), mean(rows, CHANGED, pd.Series(best != own), OVERALL)]
        tables += [share.assign(dimension=NORMALISATION, group=name) for share in shares]
    return pd.concat(tables[1:] or tables, ignore_index=True)


def _predictions(rows: pd.DataFrame, lengths: Iterable[TextLengths], reduction: Reduction) -> dict[str, Ints]:
    """Return the best option of each row, the first of equals, under each normalisation."""
    best: dict[str, list[int]] = defaultdict(list)
    optional = [rows[name] if name in rows else [None] * len(rows) for name in (TOKENS, UNCONDITIONAL)]
    for scores, length, *values in zip(rows["scores"], lengths, *optional, strict=True):
        tokens, unconditional = (None if value is None else np.asarray(value) for value in values)
        by_rule = normalised(np.asarray(scores, dtype=float), length, reduction, tokens, unconditional)
        for name, values_of_options in by_rule.items():
            best[name].append(int(np.argmax(values_of_options)))
    return {name: np.array(best[name], np.int64) for name in NORMALISATIONS if name in best}


def missing_normalisations(settings: Settings, columns: Collection[str]) -> list[str]:
    """Return a sentence for each normalisation that cannot be computed from a run's rows, which have these columns."""
    if settings.decide:
        return [
            "Other normalisations need the scores of all options; this run decided early (--decide) and has only "
            "upper bounds for the options that cannot win."
        ]
    reasons = []
    if TOKENS not in columns:
        lacking = "per token" if settings.reduction == "sum" else "by any other rule than per token"
        reasons.append(f"Scores {lacking} need the numbers of tokens, which these older rows lack. Run it again.")
    if UNCONDITIONAL not in columns:
        reasons.append("PMI needs the scores with the subject hidden, which runs with --set pmi=true have.")
    return reasons
