"""Perplexities of stored rows as tidy scores (methods 3.4): do models find true statements less perplexing?

Every repetition is one experiment with two samples of perplexities. A p-value tells how certain the difference is, and
falls with the size of the sample. That of a good model on a thousand sentences can be smaller than the smallest float
(about 1e-308), so each comes with its base-10 logarithm, which is computed without it. Cohen's d and the probability of
superiority (that a true statement is less perplexing than a false one) tell how large the difference is. They are taken
over all distinct sentences, with 95 % intervals. A statement that was put in several phrasings counts once, with the
geometric mean of its perplexities. The same figures stand beside it for log-probabilities divided by tokens, by words
and by characters (`DIVIDED_BY`), of which the rows have all numbers, and for each level of difficulty of a sample with
several (`LEVEL`).

Perplexities of models with different tokenizers measure different things and are never compared. Each model's order of
the same sentences can be: its superiority, and the rank of each sentence.
"""

import warnings
from collections.abc import Iterator, Sequence
from functools import partial
from math import log, log1p, sqrt
from typing import Any

import numpy as np
import pandas as pd
import scipy
from scipy.special import betaln, hyp2f1, log_ndtr

from probing.analysis.accuracy import CHANCE, ScoreRow, tidy
from probing.analysis.breakdowns import ALL, OVERALL, members
from probing.analysis.intervals import Z
from probing.analysis.paired_tests import SIDE_BOUNDS, ResultRows, difference_figures, shared_rows, with_holm
from probing.analysis.verdicts import SIGNIFICANT
from probing.arrays import Bools, Floats, Ints
from probing.benchmark import LEVEL, ROW_KEY, TRUTH, TRUTH_VALUES
from probing.errors import BadInput

TOKENIZER_NOTE = (
    "Perplexities depend on how a model's tokenizer divides sentences, so they can be compared within one run only. "
    "Superiority, Cohen's d and p-values can be compared between models."
)
# Over phrasings: the mean of their figures, that of the best one, and the best minus the worst.
MEAN, BEST, SPREAD = PHRASING_METRICS = ("phrasing_mean", "phrasing_best", "phrasing_spread")
TEMPLATE = "template"
DIVIDED_BY = "divided_by"
SMALLEST_LOG_P = -690.0  # natural logarithm of the p-values that scipy still computes without underflow
LARGEST_STATISTIC = 1e150  # its square is still a float
LARGEST_LOG_PERPLEXITY = log(LARGEST_STATISTIC)  # per word, a sentence of one long word may be beyond it
TINY = 1e-12
FEWEST = 2  # sentences of either kind, below which nothing can be said about their spread
EQUAL = 1e-9  # placements that differ by less are equal but for rounding


def perplexity_scores(rows: pd.DataFrame) -> pd.DataFrame:
    """Return effects overall, by relation and by phrasing, tests by and over repetitions, and perplexities by truth."""
    statements = over_phrasings(rows)
    by_phrasing = list(_by_phrasing(rows)) if len(statements) < len(rows) else []
    scores = [*_effects(statements), *by_phrasing, *_by_relation(statements), *_by_repetition(statements)]
    return tidy([*scores, *_by_truth(statements), *_by_length(rows), *_by_level(statements)])


def perplexity_baselines(rows: pd.DataFrame) -> pd.DataFrame:
    """Return chance in all groups for rows of statements without perplexities, as all statements are alike to it."""
    alike: dict[str, Any] = {"perplexity": 1.0, "log_prob": 0.0, "tokens": 1, "words": 1, "statement": "."}
    scores = perplexity_scores(rows.assign(true=rows[TRUTH] == TRUTH_VALUES[True], **alike))
    return scores[scores["metric"] == CHANCE].reset_index(drop=True)


def _by_length(rows: pd.DataFrame) -> Iterator[ScoreRow]:
    lengths = {"token": rows["tokens"], "word": rows["words"], "character": rows["statement"].str.len()}
    for name, length in lengths.items():
        perplexity = np.exp((-rows["log_prob"] / length).clip(upper=LARGEST_LOG_PERPLEXITY))
        yield from _figures(over_phrasings(rows.assign(perplexity=perplexity)), DIVIDED_BY, name)


def _by_level(statements: pd.DataFrame) -> Iterator[ScoreRow]:
    """Yield the figures of all true statements beside the false ones of each level of difficulty."""
    if LEVEL in statements:
        true, levels = statements["true"].astype(bool), statements[LEVEL]
        for level in levels[~true].unique():
            yield from _figures(statements[true | (levels == level)], LEVEL, level)


def _figures(statements: pd.DataFrame, dimension: str, group: str) -> Iterator[ScoreRow]:
    """Yield the effects of statements and what their repetitions show together, for one group of a dimension."""
    yield from _effects(statements, dimension, group)
    for metric, of, _, *figures in _by_repetition(statements):
        if of == OVERALL and not metric.startswith("log10_p"):
            value, n, low, high = figures
            yield metric, dimension, group, value, n, low, high


def over_phrasings(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one row per statement: the geometric mean of its perplexities, sums of log-probabilities and of tokens.

    All else is that of its first phrasing. Rows of a single phrasing are returned as they are.
    """
    if rows[TEMPLATE].nunique() < 2:
        return rows
    groups = rows.assign(perplexity=np.log(rows["perplexity"])).groupby(["relation", "index"], sort=False)
    figures = groups.agg(perplexity=("perplexity", "mean"), log_prob=("log_prob", "sum"), tokens=("tokens", "sum"))
    first = rows[~rows.duplicated(["relation", "index"])]
    return first.assign(
        perplexity=np.exp(figures["perplexity"].to_numpy()),
        log_prob=figures["log_prob"].to_numpy(),
        tokens=figures["tokens"].to_numpy(),
    )


def _by_phrasing(rows: pd.DataFrame) -> Iterator[ScoreRow]:
    """Yield the effects of each phrasing, and the mean, the best and the spread of their superiority."""
    superiorities = []
    for template, part in rows.groupby(TEMPLATE):
        scores = list(_effects(part, TEMPLATE, str(template)))
        superiorities += [score[3] for score in scores if score[0] == "superiority"]
        yield from scores
    if superiorities:
        best = max(superiorities)
        values = (float(np.mean(superiorities)), best, best - min(superiorities))
        for metric, value in zip(PHRASING_METRICS, values, strict=True):
            yield _score(metric, value, dimension=OVERALL, group=ALL, n=len(rows))


def _effects(rows: pd.DataFrame, dimension: str = OVERALL, group: str = ALL) -> Iterator[ScoreRow]:
    true, false = samples(rows)
    if min(len(true), len(false)) < 2:
        return
    for metric, effect in (("superiority", superiority), ("cohens_d", cohens_d)):
        value, low, high = effect(true, false)
        yield metric, dimension, group, value, float(len(rows)), low, high
    yield _score(CHANCE, 0.5, dimension=dimension, group=group, n=len(rows))


# A p-value, 0.0 where no float is small enough, and its base-10 logarithm.
PValue = tuple[float, float]


def _by_relation(rows: pd.DataFrame) -> Iterator[ScoreRow]:
    """Yield the effects of each relation that has two true and two false sentences or more."""
    for relation, part in rows.groupby("relation", sort=False):
        yield from _effects(part, "relation", str(relation))


def _by_repetition(rows: pd.DataFrame) -> Iterator[ScoreRow]:
    """Yield the tests and effects of each repetition, then what they show together."""
    p_values: dict[str, list[PValue]] = {}
    true_is_lower = []
    for repetition in sorted({number for numbers in rows["repetitions"] for number in numbers}):
        true, false = samples(rows, repetition)
        if min(len(true), len(false)) < 2:
            continue
        score = partial(_score, dimension="repetition", group=str(repetition), n=len(true) + len(false))
        for name, (p_value, log10_p) in difference_tests(true, false).items():
            p_values.setdefault(name, []).append((p_value, log10_p))
            yield score(_metric_name("p_value", name), p_value)
            yield score(_metric_name("log10_p", name), log10_p)
        yield score("superiority", superiority(true, false)[0])
        yield score("cohens_d", cohens_d(true, false)[0])
        true_is_lower.append(true.mean() < false.mean())
    if p_values:
        yield from _over_repetitions(p_values, true_is_lower, len(rows))


def _over_repetitions(p_values: dict[str, list[PValue]], true_is_lower: Sequence[bool], n: int) -> Iterator[ScoreRow]:
    """Yield medians and summaries of the repetitions' p-values, and `discriminates`.

    `discriminates` is the share of repetitions with p below 0.05 and a lower mean for true statements.
    """
    score = partial(_score, dimension=OVERALL, group=ALL, n=n)
    for name, of_test in p_values.items():
        yield score(_metric_name("log10_p", name) + "_median", float(np.median([log10_p for _, log10_p in of_test])))
    student = [p_value for p_value, _ in p_values[""]]
    for statistic, value in summary(student).items():
        yield score(f"p_value_{statistic}", value)
    verdicts = [p_value < SIGNIFICANT and lower for p_value, lower in zip(student, true_is_lower, strict=True)]
    yield score("discriminates", float(np.mean(verdicts)))


def summary(p_values: Sequence[float]) -> dict[str, float]:
    """Summarise the p-values of an experiment's repetitions, as in the paper's tables 3 and 4.

    The standard deviation is that of the population; `spread` is the range.
    """
    values = np.asarray(p_values, dtype=float)
    scale = values.max() or 1.0  # the squares of very small numbers would become 0
    return {
        "mean": float(values.mean()),
        "std": float((values / scale).std() * scale),
        "median": float(np.median(values)),
        "spread": float(values.max() - values.min()),
    }


def _by_truth(rows: pd.DataFrame) -> Iterator[ScoreRow]:
    """Yield the median over sentences, and the perplexity of all sentences together (methods 3.3, corpus version)."""
    for true, part in rows.groupby("true", sort=False):
        score = partial(_score, dimension=TRUTH, group=TRUTH_VALUES[bool(true)], n=len(part))
        yield score("perplexity_median", float(part["perplexity"].median()))
        yield score("perplexity_corpus", float(np.exp(-part["log_prob"].sum() / part["tokens"].sum())))


def _metric_name(metric: str, test: str) -> str:
    return f"{metric}_{test}" if test else metric


def _score(metric: str, value: float, *, dimension: str, group: str, n: int) -> ScoreRow:
    return metric, dimension, group, value, float(n), np.nan, np.nan


def samples(rows: pd.DataFrame, repetition: int | None = None) -> tuple[Floats, Floats]:
    """Return the perplexities of true and of false statements.

    Those of a repetition occur as often as it drew them; without `repetition` every statement occurs once.
    """
    if repetition is None:
        times = np.ones(len(rows), dtype=int)
    else:
        times = np.array([list(repetitions).count(repetition) for repetitions in rows["repetitions"]])
    values, true = rows["perplexity"].to_numpy(dtype=float), rows["true"].to_numpy(dtype=bool)
    return np.repeat(values[true], times[true]), np.repeat(values[~true], times[~true])


def sentence_figures(rows: pd.DataFrame) -> pd.Series:
    """Return a figure for each sentence, indexed by its truth and its name; their mean is the superiority.

    Without one of the samples, no sentence has a figure.
    """
    rows = over_phrasings(rows)
    values, true = rows["perplexity"].to_numpy(dtype=float), rows["true"].to_numpy(dtype=bool)
    if true.all() or not true.any():
        return pd.Series(dtype=float)
    names = rows["relation"].astype(str) + " " + rows["template"].astype(str) + " " + rows["index"].astype(str)
    index = pd.MultiIndex.from_arrays([np.where(true, TRUTH_VALUES[True], TRUTH_VALUES[False]), names])
    return pd.Series(weighted_placements(true, placements(true, values)), index)


def weighted_placements(true: Bools, placed: Floats) -> Floats:
    """Return placements whose mean is the superiority, and the variance of whose mean is that of DeLong (1988).

    The placement of a true sentence is the share of false ones that are more perplexing, that of a false sentence the
    share of true ones that are less. Its deviation from the superiority is divided by the share of its sample.
    """
    figures = np.empty(len(placed))
    for kind in (true, ~true):
        figures[kind] = placed[kind].mean() + (placed[kind] - placed[kind].mean()) / kind.mean()
    return figures


# Tests of whether the first of two samples is lower than the second, and effect sizes.


def difference_tests(first: Floats, second: Floats) -> dict[str, PValue]:
    """Return the p-values of four tests for a difference of two samples.

    By name: "" is Student's t-test (two-sided, as in the paper's section 5.5), which takes the variances to be equal;
    "less" is its one-sided form, for the first being lower; "welch" is Welch's t-test, which does not; "mann_whitney"
    is two-sided, by the normal approximation with corrections for ties and continuity.
    """
    student, welch = _statistic(first, second, equal_var=True), _statistic(first, second, equal_var=False)
    return {
        "": _p_value(log_p(*student)),
        "less": _p_value(log_p_less(*student)),
        "welch": _p_value(log_p(*welch)),
        "mann_whitney": _p_value(_log_p_mann_whitney(first, second)),
    }


def _statistic(first: Floats, second: Floats, *, equal_var: bool) -> tuple[float, float]:
    """Return Student's or Welch's t with its degrees of freedom.

    For samples that do not vary at all, t is `LARGEST_STATISTIC` or 0.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # scipy warns of samples that do not vary
        test = scipy.stats.ttest_ind(first, second, equal_var=equal_var)
    statistic = float(np.clip(np.nan_to_num(test.statistic), -LARGEST_STATISTIC, LARGEST_STATISTIC))
    return statistic, float(np.nan_to_num(test.df, nan=1.0))


def _p_value(log_value: float) -> PValue:
    return float(np.exp(log_value)), log_value / log(10)


def log_p(statistic: float, df: float) -> float:
    """Return the natural logarithm of the two-sided p-value of Student's t.

    Where p would underflow, it is computed otherwise: p is the regularised incomplete beta function I_x(df/2, 1/2) at
    x = df / (df + t²), whose logarithm has a closed form with a hypergeometric factor near 1 (DLMF 8.17.8).
    """
    t = scipy.stats.t
    direct = log(2) + float(t.logsf(abs(statistic), df)) if t.sf(abs(statistic), df) > 0 else -np.inf
    if direct > SMALLEST_LOG_P:
        return min(direct, 0.0)
    a, ratio = df / 2, statistic**2 / df
    x = 1 / (1 + ratio)
    log_x, log_rest = -log1p(ratio), log(ratio) - log1p(ratio)
    return float(a * log_x + log_rest / 2 - log(a) - betaln(a, 0.5) + log(hyp2f1(a + 0.5, 1, a + 1, x)))


def log_p_less(statistic: float, df: float) -> float:
    """Return the natural logarithm of the one-sided p-value, which is small where t is far below zero."""
    if statistic < 0:
        return log_p(statistic, df) - log(2)
    return float(scipy.stats.t.logcdf(statistic, df))


def _log_p_mann_whitney(first: Floats, second: Floats) -> float:
    m, n = len(first), len(second)
    ties = scipy.stats.tiecorrect(scipy.stats.rankdata(np.concatenate([first, second])))
    deviation = sqrt(ties * m * n * (m + n + 1) / 12)
    distance = abs(float(scipy.stats.mannwhitneyu(first, second).statistic) - m * n / 2) - 0.5
    if deviation == 0 or distance <= 0:
        return 0.0
    return min(log(2) + float(log_ndtr(-distance / deviation)), 0.0)


def cohens_d(first: Floats, second: Floats) -> tuple[float, float, float]:
    """Return how many pooled standard deviations the first lies below the second, with its 95 % interval.

    The standard error is sqrt((m + n) / mn + d² / 2(m + n)).
    """
    m, n = len(first), len(second)
    pooled = sqrt(((m - 1) * first.var(ddof=1) + (n - 1) * second.var(ddof=1)) / (m + n - 2))
    d = float((second.mean() - first.mean()) / pooled) if pooled else 0.0
    half = Z * sqrt((m + n) / (m * n) + d**2 / (2 * (m + n)))
    return d, d - half, d + half


def superiority(first: Floats, second: Floats) -> tuple[float, float, float]:
    """Return the probability that one of the first is lower than one of the second, with its 95 % interval.

    Ties count half. The interval is the score-like one of Newcombe (2006, method 5), the counterpart of Wilson's for a
    proportion: the values from which the estimate is at most 1.96 standard errors away, each with its own error.
    """
    m, n, ascending = len(first), len(second), np.sort(second)
    twice_below = ascending.searchsorted(first, "left") + ascending.searchsorted(first, "right")
    estimate = 1 - float(twice_below.sum()) / (2 * m * n)

    def error(theta: float) -> float:
        half = (m + n) / 2 - 1
        spread = 1 + half * ((1 - theta) / (2 - theta) + theta / (1 + theta))
        return Z * sqrt(max(theta * (1 - theta), 0.0) * spread / (m * n))

    # At 0 and 1 the error is 0, which solves the equation as well, but is not a bound of the interval.
    root = scipy.optimize.brentq
    low = root(lambda theta: estimate - theta - error(theta), 0, min(estimate, 1 - TINY)) if estimate > 0 else 0.0
    high = root(lambda theta: theta - estimate - error(theta), max(estimate, TINY), 1) if estimate < 1 else 1.0
    return estimate, float(low), float(high)


# Results compared on the sentences that they share: paired differences of superiority, and ranks.


def compare_perplexities(results: ResultRows, dimensions: list[str]) -> pd.DataFrame:
    """Compare the superiority of each further result with that of the first on shared sentences.

    The columns are those of `paired_tests.compare`. `first`, `second`: the superiority of either result. `low`, `high`
    and `p`: of their difference, by its standard error over sentences. `gained`, `lost`: sentences that the further
    result places better or worse among those of the other kind. `first_low` to `second_high`: Newcombe's interval of
    each superiority.
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


def _paired(true: Bools, first: Floats, second: Floats) -> dict[str, Any]:
    """Return the figures of one group of sentences."""
    placed = [placements(true, values) for values in (first, second)]
    first_figures, second_figures = (weighted_placements(true, of_result) for of_result in placed)
    figures = difference_figures(first_figures, second_figures, np.zeros(len(true), dtype=np.int64))
    bounds = [bound for values in (first, second) for bound in superiority(values[true], values[~true])]
    change = placed[1] - placed[0]
    return {
        "n": float(len(true)),
        **figures,
        "gained": int((change > EQUAL).sum()),
        "lost": int((change < -EQUAL).sum()),
        **dict(zip(("first", *SIDE_BOUNDS[:2], "second", *SIDE_BOUNDS[2:]), bounds, strict=True)),
    }


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


def rank_shares(values: Floats) -> Floats:
    """Return the rank of each value as a share: 0 for the lowest, 1 for the highest; ties have their mean rank."""
    ranks: Floats = (pd.Series(values).rank().to_numpy() - 1) / max(len(values) - 1, 1)
    return ranks


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
