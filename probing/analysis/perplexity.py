"""Perplexities of stored rows as tidy scores (methods 3.4): do models find true statements less perplexing?

Every repetition is one experiment with two samples of perplexities. A p-value says how sure the difference is, and
falls with the size of the sample; Cohen's d and the superiority (the probability that a true statement is less
perplexing than a false one) say how large it is. They are taken over all distinct sentences, with 95 % intervals.
"""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
import pandas as pd

from probing.analysis.accuracy import COLUMNS
from probing.analysis.breakdown import ALL, OVERALL
from probing.analysis.two_samples import Test, cohens_d, superiority, tests
from probing.arrays import Floats

Samples = tuple[Floats, Floats]
REPETITION = "repetition"
TRUTH = "truth"
LEVEL = 0.05

Score = tuple[str, str, str, float, float, float, float]


def perplexity_scores(rows: pd.DataFrame) -> pd.DataFrame:
    """The effects overall and by relation, the tests by repetition and over repetitions, perplexities by truth."""
    return pd.DataFrame(
        [*_effects(rows), *_by_relation(rows), *_by_repetition(rows), *_by_truth(rows)], columns=COLUMNS
    )


def summary(p_values: Sequence[float]) -> dict[str, float]:
    """Of the p-values of an experiment's repetitions, as in the paper's tables 3 and 4.

    The standard deviation is that of the population; spread is the range.
    """
    values = np.asarray(p_values, dtype=float)
    scale = values.max() or 1.0  # squares of very small numbers would vanish
    return {
        "mean": float(values.mean()),
        "std": float((values / scale).std() * scale),
        "median": float(np.median(values)),
        "spread": float(values.max() - values.min()),
    }


def samples(rows: pd.DataFrame, repetition: int | None = None) -> Samples:
    """Perplexities of true and of false statements: of one repetition, as often as it drew them, or of all, once."""
    if repetition is None:
        drawn = np.ones(len(rows), dtype=int)
    else:
        drawn = np.array([list(several).count(repetition) for several in rows["repetitions"]])
    values, true = rows["perplexity"].to_numpy(dtype=float), rows["true"].to_numpy(dtype=bool)
    return np.repeat(values[true], drawn[true]), np.repeat(values[~true], drawn[~true])


def _effects(rows: pd.DataFrame, dimension: str = OVERALL, group: str = ALL) -> Iterator[Score]:
    true, false = samples(rows)
    if min(len(true), len(false)) < 2:
        return
    for metric, effect in (("superiority", superiority), ("cohens_d", cohens_d)):
        found, low, high = effect(true, false)
        yield metric, dimension, group, found, float(len(rows)), low, high
    yield _point("chance", 0.5, dimension=dimension, group=group, n=len(rows))


def _by_relation(rows: pd.DataFrame) -> Iterator[Score]:
    """Relations of which too few sentences were drawn are left out."""
    for relation, own in rows.groupby("relation", sort=False):
        yield from _effects(own, "relation", str(relation))


def _by_repetition(rows: pd.DataFrame) -> Iterator[Score]:
    found: dict[str, list[Test]] = {}
    lower = []
    for repetition in sorted({number for several in rows["repetitions"] for number in several}):
        true, false = samples(rows, repetition)
        if min(len(true), len(false)) < 2:
            continue
        one = partial(_point, dimension=REPETITION, group=str(repetition), n=len(true) + len(false))
        for name, test in tests(true, false).items():
            found.setdefault(name, []).append(test)
            yield one(_named("p_value", name), test.value)
            yield one(_named("log10_p", name), test.log10)
        yield one("superiority", superiority(true, false)[0])
        yield one("cohens_d", cohens_d(true, false)[0])
        lower.append(true.mean() < false.mean())
    if found:
        yield from _over_repetitions(found, lower, len(rows))


def _over_repetitions(found: dict[str, list[Test]], lower: Sequence[bool], n: int) -> Iterator[Score]:
    """`discriminates`: the share of repetitions with p below 0.05 and a lower mean for true statements."""
    overall = partial(_point, dimension=OVERALL, group=ALL, n=n)
    for name, repetitions in found.items():
        yield overall(_named("log10_p", name) + "_median", float(np.median([test.log10 for test in repetitions])))
    for statistic, value in summary([test.value for test in found[""]]).items():
        yield overall(f"p_value_{statistic}", value)
    verdicts = [test.value < LEVEL and less for test, less in zip(found[""], lower, strict=True)]
    yield overall("discriminates", float(np.mean(verdicts)))


def _by_truth(rows: pd.DataFrame) -> Iterator[Score]:
    """The median over sentences, and the perplexity of all sentences together (methods 3.3, corpus version)."""
    for true, own in rows.groupby("true", sort=False):
        one = partial(_point, dimension=TRUTH, group="true" if true else "false", n=len(own))
        yield one("perplexity_median", float(own["perplexity"].median()))
        yield one("perplexity_corpus", float(np.exp(-own["log_prob"].sum() / own["tokens"].sum())))


def _named(metric: str, test: str) -> str:
    return f"{metric}_{test}" if test else metric


def _point(metric: str, value: float, *, dimension: str, group: str, n: int) -> Score:
    """A score without an interval."""
    return metric, dimension, group, value, float(n), np.nan, np.nan
