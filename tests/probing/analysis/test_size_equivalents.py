"""Sizes that go with a score, against the prediction intervals that they are defined by, and simulated models."""

import numpy as np
import pytest
from scipy import stats

from probing.analysis.size_equivalents import SizeCurve, size_equivalents, unbeaten, usual_error
from probing.errors import BadInput

SIZES = [70e6, 160e6, 410e6, 1e9, 1.4e9, 2.8e9, 6.9e9, 12e9, 30e9]
SCORES = [0.21, 0.27, 0.31, 0.38, 0.37, 0.44, 0.49, 0.50, 0.58]


def prediction_interval(sizes: list[float], scores: list[float], size: float) -> tuple[float, float]:
    """The interval of a new score at a size, as textbooks have it, from scipy's regression."""
    x = np.log10(sizes)
    line = stats.linregress(x, scores)
    residuals = np.asarray(scores) - line.intercept - line.slope * x
    deviation = np.sqrt((residuals**2).sum() / (len(x) - 2))
    distance = (np.log10(size) - x.mean()) ** 2 / ((x - x.mean()) ** 2).sum()
    half = stats.t.ppf(0.975, len(x) - 2) * deviation * np.sqrt(1 + 1 / len(x) + distance)
    middle = line.intercept + line.slope * np.log10(size)
    return middle - half, middle + half


@pytest.mark.parametrize("score", [0.25, 0.4, 0.61])
def test_the_ends_are_the_sizes_at_whose_prediction_the_score_just_lies(score: float) -> None:
    known = SizeCurve.fit(SIZES, SCORES).equivalent(score)
    assert known and known.low < known.size < known.high
    assert prediction_interval(SIZES, SCORES, known.low)[1] == pytest.approx(score, abs=1e-9)
    assert prediction_interval(SIZES, SCORES, known.high)[0] == pytest.approx(score, abs=1e-9)
    line = stats.linregress(np.log10(SIZES), SCORES)
    assert line.intercept + line.slope * np.log10(known.size) == pytest.approx(score)


def test_the_interval_holds_the_size_of_nearly_every_model() -> None:
    random = np.random.default_rng(5)
    held = []
    for _ in range(1500):
        sizes = 10 ** random.uniform(7.5, 10.5, 13)
        scores = 0.15 * np.log10(sizes) - 0.9 + random.normal(0, 0.03, 13)
        known = SizeCurve.fit(sizes[1:], scores[1:]).equivalent(scores[0])
        held.append(known is not None and known.low <= sizes[0] <= known.high)
    assert 0.935 < np.mean(held) < 0.965


def test_each_model_is_compared_with_the_others_only() -> None:
    equivalents = size_equivalents(SIZES, SCORES)
    alone = SizeCurve.fit(SIZES[1:], SCORES[1:]).equivalent(SCORES[0])
    assert equivalents[0] == alone
    error = usual_error(SIZES, equivalents)
    assert error and 1 < error < 2
    assert usual_error(SIZES, [*equivalents[:4], *[None] * 5]) is None, "most have no size"


def test_a_line_that_hardly_rises_has_finite_sizes() -> None:
    scores = [0.3 + 1e-9 * place for place in range(9)]
    highest, lowest = SizeCurve.fit(SIZES, scores).equivalent(1), SizeCurve.fit(SIZES, scores).equivalent(0)
    assert highest and highest.size == highest.high == 1e100
    assert lowest and lowest.size == lowest.low == 1e-100
    assert usual_error([1e9], [lowest]) == pytest.approx(1e109), "a factor, up or down"


def test_the_best_of_their_size_beat_all_that_are_not_larger() -> None:
    assert unbeaten([3, 1, 2, 1, 4], [0.5, 0.2, 0.4, 0.3, 0.5]) == [3, 2, 0], "4 is no better than 3"


def test_without_a_clear_rise_no_size_is_said() -> None:
    random = np.random.default_rng(1)
    assert SizeCurve.fit(SIZES, list(random.normal(0.3, 0.1, 9))).equivalent(0.3) is None
    assert SizeCurve.fit(SIZES, SCORES[::-1]).equivalent(0.3) is None


def test_too_few_models_and_a_single_size_are_refused() -> None:
    with pytest.raises(BadInput, match="7 models have a size and a score; a line needs 8"):
        SizeCurve.fit(SIZES[:7], SCORES[:7])
    with pytest.raises(BadInput, match="All models have the same size"):
        SizeCurve.fit([1e9] * 8, SCORES[:8])
