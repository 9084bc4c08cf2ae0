"""Estimates of confidence over wordings, against loops over items and the library that the paper's authors use."""

from collections import Counter
from collections.abc import Iterator
from math import log
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import softmax
from sklearn.calibration import calibration_curve

from probing.analysis.confidence_estimates import (
    adaptive_calibration_error,
    confidence_estimates,
    estimate_scores,
    rejection_curve,
)

ESTIMATES = [
    *("base", "margin", "average_vote", "consistency_vote", "average_min", "consistency_min", "average_max"),
    "consistency_max",
]


def rows_of(items: list[list[list[float]]], right: int = 0) -> pd.DataFrame:
    """Return the rows of items, each with the scores of its options by wording."""
    return pd.DataFrame(
        {
            "relation": "P1",
            "index": index,
            "template": template,
            "scores": scores,
            "exact": [True] * len(scores),
            "answers": [right],
            "prediction": int(np.argmax(scores)),
            "correct": int(np.argmax(scores)) == right,
        }
        for index, wordings in enumerate(items)
        for template, scores in enumerate(wordings)
    )


def by_estimate(rows: pd.DataFrame, votes: int = 2) -> dict[str, tuple[float, bool]]:
    estimates = confidence_estimates(rows, votes)
    return {row.estimate: (row.confidence, row.correct) for row in estimates.itertuples()}


def test_the_worked_example_of_the_methods_page() -> None:
    shares = [[0.9, 0.1, 0.0001], [0.6, 0.2, 0.2], [0.3, 0.5, 0.2]]
    estimates = by_estimate(rows_of([[[log(share) for share in wording] for wording in shares]]))
    assert list(estimates) == ESTIMATES
    assert estimates["average_vote"] == (pytest.approx(0.5, abs=1e-3), True)
    assert estimates["consistency_vote"] == (pytest.approx(2 / 3), True)
    assert estimates["average_min"] == (pytest.approx(0.5 / 3), False)
    assert estimates["consistency_min"] == (pytest.approx(1 / 3), False)
    assert estimates["average_max"] == estimates["average_vote"]
    assert estimates["margin"] == (pytest.approx(0.8, abs=1e-3), True)


def test_without_a_majority_there_is_no_answer_and_no_confidence() -> None:
    wordings = [[0.0, -1.0, -2.0], [-1.0, 0.0, -2.0], [0.0, -1.0, -2.0], [-1.0, 0.0, -2.0], [-2.0, -1.0, 0.0]]
    undecided = by_estimate(rows_of([wordings]))  # two, two and one
    assert undecided["average_vote"] == undecided["consistency_vote"] == (0.0, False)
    assert by_estimate(rows_of([wordings[:3]]))["consistency_vote"] == (pytest.approx(2 / 3), True)
    assert by_estimate(rows_of([wordings[:3]]), votes=3)["consistency_vote"] == (0.0, False)


def test_a_single_wording_has_two_estimates() -> None:
    assert list(by_estimate(rows_of([[[0.0, -1.0]]]))) == ["base", "margin"]


@pytest.mark.parametrize("votes", [2, 3, 4, 5])
def test_estimates_are_those_of_a_loop_over_items(votes: int) -> None:
    generator = np.random.default_rng(votes)
    items = (generator.normal(size=(60, 1, 3)) + generator.normal(size=(60, 5, 3))).round(1).tolist()
    estimates = confidence_estimates(rows_of(items).sample(frac=1, random_state=0), votes)
    expected = {(index, name): own for index, item in enumerate(items) for name, own in obvious(item, votes)}
    actual = {(row.index_, row.estimate): (row.confidence, row.correct) for row in renamed(estimates)}
    assert {key: actual[key][1] for key in expected} == {key: correct for key, (_, correct) in expected.items()}
    for key, (confidence, _) in expected.items():
        assert actual[key][0] == pytest.approx(confidence, abs=1e-9)


def renamed(estimates: pd.DataFrame) -> Iterator[Any]:
    return estimates.rename(columns={"index": "index_"}).itertuples(index=False)


def obvious(wordings: list[list[float]], votes: int) -> Iterator[tuple[str, tuple[float, bool]]]:
    """Yield the estimates over the wordings of one item whose first option is right."""
    answers = [int(np.argmax(scores)) for scores in wordings]
    sure = [max(softmax(scores)) for scores in wordings]
    (first, most), *others = Counter(answers).most_common()
    is_decided = most >= votes and all(number < most for _, number in others)
    chosen = {
        "vote": first if is_decided else None,
        "min": answers[sure.index(min(sure))],
        "max": answers[sure.index(max(sure))],
    }
    for rule, answer in chosen.items():
        agreeing = [share for share, other in zip(sure, answers, strict=True) if other == answer]
        yield f"average_{rule}", (sum(agreeing) / len(wordings), answer == 0)
        yield f"consistency_{rule}", (len(agreeing) / len(wordings), answer == 0)


@given(st.lists(st.tuples(st.integers(0, 20), st.booleans()), min_size=2, max_size=80))
def test_the_error_is_that_of_the_curve_of_scikit_learn(pairs: list[tuple[int, bool]]) -> None:
    confidence, correct = np.array([value / 20 for value, _ in pairs]), np.array([right for _, right in pairs], float)
    accuracies, confidences = calibration_curve(correct, confidence, n_bins=20, strategy="quantile", pos_label=1)
    expected = np.abs(accuracies - confidences).mean()
    assert adaptive_calibration_error(correct, confidence) == pytest.approx(expected, abs=1e-9)


def test_scores_are_tidy_and_those_of_sure_and_right_answers_are_best() -> None:
    scores = estimate_scores(rows_of([[[0.0, -900.0]] * 3] * 4)).set_index(["group", "metric"])["value"]
    assert sorted({group for group, _ in scores.index}) == sorted(ESTIMATES)
    assert {value for (_, metric), value in scores.items() if metric != "answer_accuracy"} == {0.0}
    assert set(scores.xs("answer_accuracy", level="metric")) == {1.0}
    wrong = estimate_scores(rows_of([[[0.0, -900.0]] * 3] * 4, right=1)).set_index(["group", "metric"])["value"]
    assert wrong["base", "confidence_brier"] == wrong["base", "adaptive_calibration_error"] == 1.0


def test_the_curve_tells_what_is_rejected_and_how_often_the_rest_is_right() -> None:
    sure, unsure = [[0.0, -900.0]], [[-0.1, 0.0]]
    estimates = confidence_estimates(rows_of([sure, sure, unsure, unsure]))
    curve = rejection_curve(estimates, [0.0, 0.9, 1.1]).query("estimate == 'base'")
    assert curve["rejected"].tolist() == [0.0, 0.5, 1.0]
    assert curve["kept"].tolist() == [4, 2, 0]
    assert curve["kept_accuracy"].tolist()[:2] == [0.5, 1.0]
    assert curve["kept_accuracy"].isna().tolist() == [False, False, True]
