"""Perplexities of stored rows as tidy scores (methods 3.4): do models find true statements less perplexing?

Every repetition is one experiment with two samples of perplexities. A p-value tells how certain the difference is, and
falls with the size of the sample. Cohen's d and the probability of superiority (that a true statement is less
perplexing than a false one) tell how large it is. They are taken over all distinct sentences, with 95 % intervals.

A statement that was put in several phrasings counts once, with the geometric mean of its perplexities.
"""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
import pandas as pd

from probing.analysis.accuracy import ScoreRow, tidy
from probing.analysis.breakdown import ALL, OVERALL
from probing.analysis.two_samples import PValue, cohens_d, difference_tests, superiority
from probing.arrays import Floats
from probing.benchmark import TRUTH, TRUTH_VALUES

Samples = tuple[Floats, Floats]
TOKENIZER_NOTE = (
    "Perplexities depend on how a model's tokenizer divides sentences, so they can be compared within one run only. "
    "Superiority, Cohen's d and p-values can be compared between models."
)
SIGNIFICANCE_LEVEL = 0.05
# Over phrasings: the mean of their figures, that of the best one, and the best minus the worst.
MEAN, BEST, SPREAD = PHRASING_METRICS = ("phrasing_mean", "phrasing_best", "phrasing_spread")
TEMPLATE = "template"


def perplexity_scores(rows: pd.DataFrame) -> pd.DataFrame:
    """Return effects overall, by relation and by phrasing, tests by and over repetitions, and perplexities by truth."""
    statements = over_phrasings(rows)
    by_phrasing = list(_by_phrasing(rows)) if len(statements) < len(rows) else []
    scores = [*_effects(statements), *by_phrasing, *_by_relation(statements), *_by_repetition(statements)]
    return tidy([*scores, *_by_truth(statements)])


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


def samples(rows: pd.DataFrame, repetition: int | None = None) -> Samples:
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

    The placement of a true sentence is the share of false ones that are more perplexing, that of a false sentence the
    share of true ones that are less. Its deviation from the superiority is divided by the share of its sample, so that
    the variance of the mean is that of DeLong, DeLong and Clarke-Pearson (1988). Without one of the samples, no
    sentence has a figure.
    """
    rows = over_phrasings(rows)
    values, true = rows["perplexity"].to_numpy(dtype=float), rows["true"].to_numpy(dtype=bool)
    figures = pd.Series(np.nan, index=rows.index, dtype=float)
    for chosen, sign in ((true, 1), (~true, -1)):
        if chosen.all() or not chosen.any():
            return figures.dropna()
        own, others = sign * values[chosen], np.sort(sign * values[~chosen])
        below = np.searchsorted(others, own, "left") + np.searchsorted(others, own, "right")
        placements = 1 - below / (2 * len(others))
        figures[chosen] = placements.mean() + (placements - placements.mean()) / chosen.mean()
    names = rows["relation"].astype(str) + " " + rows["template"].astype(str) + " " + rows["index"].astype(str)
    return figures.set_axis(pd.MultiIndex.from_arrays([np.where(true, TRUTH_VALUES[True], TRUTH_VALUES[False]), names]))


def _effects(rows: pd.DataFrame, dimension: str = OVERALL, group: str = ALL) -> Iterator[ScoreRow]:
    true, false = samples(rows)
    if min(len(true), len(false)) < 2:
        return
    for metric, effect in (("superiority", superiority), ("cohens_d", cohens_d)):
        value, low, high = effect(true, false)
        yield metric, dimension, group, value, float(len(rows)), low, high
    yield _score("chance", 0.5, dimension=dimension, group=group, n=len(rows))


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
        for name, p_value in difference_tests(true, false).items():
            p_values.setdefault(name, []).append(p_value)
            yield score(_metric_name("p_value", name), p_value.value)
            yield score(_metric_name("log10_p", name), p_value.log10)
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
        yield score(_metric_name("log10_p", name) + "_median", float(np.median([p.log10 for p in of_test])))
    student = p_values[""]
    for statistic, value in summary([p.value for p in student]).items():
        yield score(f"p_value_{statistic}", value)
    verdicts = [p.value < SIGNIFICANCE_LEVEL and lower for p, lower in zip(student, true_is_lower, strict=True)]
    yield score("discriminates", float(np.mean(verdicts)))


def _by_truth(rows: pd.DataFrame) -> Iterator[ScoreRow]:
    """Yield the median over sentences, and the perplexity of all sentences together (methods 3.3, corpus version)."""
    for true, part in rows.groupby("true", sort=False):
        score = partial(_score, dimension=TRUTH, group=TRUTH_VALUES[bool(true)], n=len(part))
        yield score("perplexity_median", float(part["perplexity"].median()))
        yield score("perplexity_corpus", float(np.exp(-part["log_prob"].sum() / part["tokens"].sum())))


def _metric_name(metric: str, test: str) -> str:
    return f"{metric}_{test}" if test else metric


def _score(metric: str, value: float, *, dimension: str, group: str, n: int) -> ScoreRow:
    """Return a score without an interval."""
    return metric, dimension, group, value, float(n), np.nan, np.nan
