"""Perplexity results compared on the sentences that they share: paired differences of superiority, and ranks.

Perplexities of models with different tokenizers measure different things and are never compared. Each model's order of
the same sentences can be: its superiority (how often a true sentence is less perplexing than a false one), and the rank
of each sentence.
"""

from math import sqrt
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtr, stdtrit

from probing.analysis.breakdown import OVERALL, members
from probing.analysis.comparison import SIDE_BOUNDS, ResultRows, shared_rows, with_holm
from probing.analysis.perplexity import over_phrasings
from probing.analysis.two_samples import superiority
from probing.arrays import Bools, Floats, Ints
from probing.benchmark import ROW_KEY
from probing.errors import BadInput

FEWEST = 2  # sentences of either kind, below which nothing can be said about their spread
EQUAL = 1e-9  # placements that differ by less are equal but for rounding


def compare_perplexities(results: ResultRows, dimensions: list[str]) -> pd.DataFrame:
    """Compare the superiority of each further result with that of the first on shared sentences.

    The columns are those of `comparison.compare`. `first`, `second`: the superiority of either result. `low`, `high`:
    the 95 % interval of their difference, whose standard error is that of the jackknife over sentences. `p`: two-sided,
    from Student's t with Welch's degrees of freedom. `gained`, `lost`: sentences that the further result places better
    or worse among those of the other kind. `first_low` to `second_high`: Newcombe's interval of each superiority.
    Groups with fewer than two true or two false sentences are left out.
    """
    _check_columns(results)
    shared = {name: over_phrasings(rows) for name, rows in shared_rows(results).items()}
    first = next(iter(shared.values()))
    true = first["true"].to_numpy(dtype=bool)
    groups = _comparable_groups(first, true, [OVERALL, "relation", *dimensions])
    if not groups:
        raise BadInput(
            "The results share fewer than two true or two false sentences.", "Compare results on the same sentences."
        )
    base, *others = (rows["perplexity"].to_numpy(dtype=float) for rows in shared.values())
    rows = [
        {"result": name, "dimension": dimension, "group": group, **_paired(true[part], base[part], other[part])}
        for name, other in zip(list(shared)[1:], others, strict=True)
        for dimension, group, part in groups
    ]
    return with_holm(pd.DataFrame(rows))


def _check_columns(results: ResultRows) -> None:
    """Raise `BadInput` where a result is of another probe."""
    if any(not {"true", "perplexity"} <= set(rows.columns) for rows in results.values()):
        raise BadInput(
            "Not all of these results have perplexities of true and false sentences.",
            "Compare results of the probe perplexity with each other.",
        )


def _comparable_groups(rows: pd.DataFrame, true: Bools, dimensions: list[str]) -> list[tuple[str, str, Ints]]:
    """Return the groups that have enough sentences of either kind, each with the positions of its sentences."""
    parts = [
        (dimension, str(group), part.to_numpy())
        for dimension in dimensions
        for group, part in members(rows, dimension).groupby("group", sort=False)["row"]
    ]
    return [part for part in parts if min(true[part[2]].sum(), (~true[part[2]]).sum()) >= FEWEST]


def placements(true: Bools, values: Floats) -> Floats:
    """Return how well each sentence is placed, from 0 to 1.

    For a true sentence it is the share of false ones with a higher perplexity, for a false sentence the share of true
    ones with a lower one; ties count half. The mean over either kind is the superiority.
    """
    lower, higher = np.sort(values[true]), np.sort(values[~true])
    placed = np.empty(len(values))
    placed[true] = 1 - _share_below(higher, values[true])
    placed[~true] = _share_below(lower, values[~true])
    return placed


def _share_below(ascending: Floats, values: Floats) -> Floats:
    """Return, for each value, the share of a sorted sample that is below it; ties count half."""
    below = ascending.searchsorted(values, "left") + ascending.searchsorted(values, "right")
    shares: Floats = below / (2 * len(ascending))
    return shares


def _paired(true: Bools, first: Floats, second: Floats) -> dict[str, Any]:
    """Return the figures of one group of sentences."""
    change = placements(true, second) - placements(true, first)
    difference = float(change[true].mean())
    # The jackknife's variance of a difference of two superiorities, which is DeLong's (1988): one part for each kind.
    spreads = [float(change[kind].var(ddof=1)) / kind.sum() for kind in (true, ~true)]
    variance = sum(spreads)
    freedom = [spread**2 / (kind.sum() - 1) for spread, kind in zip(spreads, (true, ~true), strict=True)]
    df = variance**2 / sum(freedom) if variance else 1.0
    half = float(stdtrit(df, 0.975)) * sqrt(variance)
    bounds = [bound for values in (first, second) for bound in superiority(values[true], values[~true])]
    return {
        "n": float(len(true)),
        "first": bounds[0],
        "second": bounds[3],
        "difference": difference,
        "low": max(-1.0, difference - half),
        "high": min(1.0, difference + half),
        "gained": int((change > EQUAL).sum()),
        "lost": int((change < -EQUAL).sum()),
        "p": _p_value(difference, variance, df, len(true)),
        **dict(zip(SIDE_BOUNDS, [*bounds[1:3], *bounds[4:]], strict=True)),
    }


def _p_value(difference: float, variance: float, df: float, n: int) -> float:
    """Return the p-value of a difference, which is at least 2 / 2^n.

    That is the smallest p-value of a test that exchanges the two results sentence by sentence. It keeps a few sentences
    that all change by the same amount, and so do not vary, from proving anything.
    """
    if abs(difference) < EQUAL:
        return 1.0
    tail = 2 * float(stdtr(df, -abs(difference) / sqrt(variance))) if variance else 0.0
    return min(1.0, max(tail, 2.0 ** (1 - n)))


def rank_shares(values: Floats) -> Floats:
    """Return the rank of each value as a share: 0 for the lowest, 1 for the highest; ties have their mean rank."""
    ranks: Floats = (pd.Series(values).rank().to_numpy() - 1) / max(len(values) - 1, 1)
    return ranks


def sentence_ranks(results: ResultRows) -> pd.DataFrame:
    """Return the rank of each shared sentence by its perplexity in every result, the most disputed sentence first.

    Columns: the row's key, `statement` and `true`, one column of ranks per result, from 0 (the least perplexing) to 1,
    and `spread`, the highest minus the lowest of them.
    """
    shared = shared_rows(results)
    first = next(iter(shared.values()))
    ranks = {name: rank_shares(rows["perplexity"].to_numpy(dtype=float)) for name, rows in shared.items()}
    table = first[[*ROW_KEY, "statement", "true"]].assign(**ranks)
    table["spread"] = np.ptp(np.array(list(ranks.values())), axis=0)
    return table.sort_values("spread", ascending=False, kind="stable", ignore_index=True)


def rank_summary(ranks: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """Return, for each result, the mean rank of true and of false sentences, and Spearman's correlation with the first.

    `ranks` is the table of `sentence_ranks`. Columns: `result`, `true`, `false`, `correlation` over all sentences, and
    `correlation_true` and `correlation_false` over those of one kind. A correlation is missing where ranks do not vary.
    """
    kinds = {
        "": np.ones(len(ranks), dtype=bool),
        "_true": ranks["true"].to_numpy(),
        "_false": ~ranks["true"].to_numpy(),
    }
    rows = []
    for name in names:
        means = ranks.groupby("true")[name].mean()
        correlations = {
            f"correlation{kind}": _spearman(ranks.loc[chosen, names[0]], ranks.loc[chosen, name])
            for kind, chosen in kinds.items()
        }
        rows.append({"result": name, "true": means.get(True), "false": means.get(False), **correlations})
    return pd.DataFrame(rows)


def _spearman(first: pd.Series, second: pd.Series) -> float:
    ranks = [values.rank() for values in (first, second)]
    if len(first) < FEWEST or any(np.ptp(of_result) == 0 for of_result in ranks):
        return float("nan")
    return float(np.corrcoef(ranks)[0, 1])
