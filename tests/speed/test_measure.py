import numpy as np

from speed.measure import agreement, ratio
from speed.systems import OptionScores


def scores_of(*scores: float, exact: tuple[bool, ...] = ()) -> OptionScores:
    return OptionScores(np.array(scores), np.array(exact or [True] * len(scores)))


def test_it_compares_exact_scores_only() -> None:
    agreed = agreement([scores_of(-1.0, -2.0, exact=(True, False))], [scores_of(-1.5, -9.0)])
    assert agreed == (0.5, 1.0)


def test_it_counts_items_with_the_same_prediction() -> None:
    agreed = agreement([scores_of(-1.0, -2.0), scores_of(-3.0, -2.0)], [scores_of(-1.0, -2.0), scores_of(-2.0, -3.0)])
    assert agreed.predictions == 0.5


def test_a_ratio_is_the_median_over_rounds_and_not_of_medians() -> None:
    assert ratio({"peer": [8.0, 10.0, 90.0], "full": [2.0, 1.0, 30.0]}, "peer", "full") == 4.0
