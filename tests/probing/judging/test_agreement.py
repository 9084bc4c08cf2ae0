"""Agreement of judges, against published worked examples and scikit-learn."""

from math import isnan

import numpy as np
import pytest

from probing.judging.verdicts import cohens_kappa, fleiss_kappa, kappa, observed_agreement

# Fourteen raters put ten subjects into five categories: the example with which Fleiss' kappa is usually explained.
FLEISS_COUNTS = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]
# Two readers of 50 proposals: both yes 20, only the first 5, only the second 10, both no 15.
FIRST = [True] * 25 + [False] * 25
SECOND = [True] * 20 + [False] * 5 + [True] * 10 + [False] * 15


def raters(counts: list[list[int]]) -> list[list[int]]:
    """One list for each rater, from the number of raters who chose each category."""
    chosen = [[category for category, count in enumerate(row) for _ in range(count)] for row in counts]
    return [list(rater) for rater in zip(*chosen, strict=True)]


def test_kappas_of_the_worked_examples() -> None:
    assert observed_agreement([FIRST, SECOND]) == pytest.approx(0.7)
    assert cohens_kappa(FIRST, SECOND) == pytest.approx((0.7 - 0.5) / (1 - 0.5))
    judgements = raters(FLEISS_COUNTS)
    assert observed_agreement(judgements) == pytest.approx(0.378, abs=5e-4)
    assert fleiss_kappa(judgements) == pytest.approx(0.210, abs=5e-4)
    assert kappa([FIRST, SECOND]) == cohens_kappa(FIRST, SECOND) != fleiss_kappa([FIRST, SECOND])
    assert kappa([FIRST, SECOND, FIRST]) == fleiss_kappa([FIRST, SECOND, FIRST])


def test_cohens_kappa_equals_that_of_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    generator = np.random.default_rng(0)
    for categories in (2, 3, 5):
        first = generator.integers(categories, size=200)
        second = np.where(generator.random(200) < 0.6, first, generator.integers(categories, size=200))
        assert cohens_kappa(first.tolist(), second.tolist()) == pytest.approx(metrics.cohen_kappa_score(first, second))


def test_kappa_is_one_for_judges_who_agree_and_none_where_each_has_one_category() -> None:
    assert cohens_kappa(FIRST, FIRST) == fleiss_kappa([FIRST] * 3) == 1
    assert isnan(cohens_kappa([True, True], [True, True]))
    assert isnan(fleiss_kappa([[True, True]] * 3))
    assert cohens_kappa([True, True], [False, False]) == 0
