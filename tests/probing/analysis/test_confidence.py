"""Confidence and calibration, against slow versions."""

from math import log
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import softmax
from scipy.stats import entropy

from probing.analysis import option_scores
from probing.analysis.accuracy import SCORE_COLUMNS
from probing.analysis.confidence import (
    CONFIDENCES,
    calibration_curve,
    calibration_error,
    confidence_scores,
    confidences,
)
from tests.probing.analysis.figures import value


def rows_of(scores: list[list[float]], answers: list[list[int]], template: int = 0) -> pd.DataFrame:
    rows = [
        {
            "relation": "P1",
            "template": template,
            "index": index,
            "scores": each,
            "exact": [True] * len(each),
            "answers": right,
            "correct": int(np.argmax(each)) in right,
        }
        for index, (each, right) in enumerate(zip(scores, answers, strict=True))
    ]
    return pd.DataFrame(rows)


def test_the_worked_example_of_the_methods_page() -> None:
    rows = rows_of([[log(0.7), log(0.2), log(0.1)]], [[0]])
    scores = confidence_scores(rows)
    assert list(scores.columns) == SCORE_COLUMNS
    assert value(scores, "max_softmax") == pytest.approx(0.7)
    assert value(scores, "softmax_margin") == pytest.approx(0.5)
    assert round(value(scores, "normalised_entropy"), 3) == 0.73
    assert value(scores, "brier_score") == pytest.approx(0.14)
    assert value(scores, "answer_probability") == pytest.approx(0.7)


def test_several_right_options_share_the_one_and_a_single_option_leaves_no_doubt() -> None:
    rows = rows_of([[0.0, 0.0, -1000.0]], [[0, 1]])
    assert confidences(rows)[["brier_score", "answer_probability"]].to_numpy().tolist() == [pytest.approx([0, 1])]
    assert confidences(rows_of([[-3.0]], [[0]])).to_numpy().tolist() == [[1, 1, 0, 0, 1]]
    rows = rows_of([[0.0, -1.0]], [[0]])
    assert confidence_scores(rows.assign(exact=[[True, False]])).empty


@given(st.lists(st.lists(st.floats(-30, 0), min_size=2, max_size=5), min_size=1, max_size=8))
def test_measures_equal_those_of_scipy(scores: list[list[float]]) -> None:
    rows = rows_of(scores, [[index % 2] for index in range(len(scores))])
    measures = confidences(rows)
    assert tuple(measures.columns) == CONFIDENCES
    for index, each in enumerate(scores):
        shares = softmax(each)
        right = np.eye(len(each))[index % 2]
        least, second, largest = [0.0, *np.sort(shares)][-3:] if len(each) == 2 else np.sort(shares)[-3:]
        brier = ((shares - right) ** 2).sum()
        expected = [largest, largest - second, entropy(shares, base=len(each)), brier, shares[index % 2]]
        assert least <= second
        assert measures.loc[index].tolist() == pytest.approx(expected, abs=1e-9)


@given(st.lists(st.lists(st.floats(-30, 0), min_size=2, max_size=3), min_size=1, max_size=9))
def test_measures_do_not_depend_on_how_many_rows_are_computed_at_once(scores: list[list[float]]) -> None:
    rows = rows_of(scores, [[0]] * len(scores))
    together = confidences(rows)
    with mock.patch.object(option_scores, "BLOCK", 6):
        pd.testing.assert_frame_equal(confidences(rows), together, check_exact=True)


def test_bins_hold_equally_many_rows_in_the_order_of_confidence() -> None:
    confidence = pd.Series(np.linspace(0.2, 1, 40))
    rows = rows_of([[0.0, -1.0]] * 40, [[0]] * 20 + [[1]] * 20)
    curve = calibration_curve(rows, confidence)
    assert curve["bin"].tolist() == list(range(1, 11))
    assert set(curve["items"]) == {4}
    assert curve["accuracy"].tolist() == [1] * 5 + [0] * 5
    assert curve["confidence"].is_monotonic_increasing


def test_equal_confidences_stay_in_one_bin() -> None:
    rows = rows_of([[0.0, -1.0]] * 30, [[0]] * 30)
    curve = calibration_curve(rows, pd.Series([0.5] * 28 + [0.9] * 2))
    assert curve["items"].tolist() == [28, 2]
    assert (curve["low"] <= curve["accuracy"]).all()


def test_the_worked_example_of_the_error() -> None:
    curve = pd.DataFrame({"confidence": [0.5, 0.9], "accuracy": [0.4, 0.6], "items": [30.0, 10.0]})
    assert calibration_error(curve) == pytest.approx(0.15)


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60))
def test_the_error_equals_that_of_a_loop_over_items(pairs: list[tuple[float, bool]]) -> None:
    rows = rows_of([[0.0, -1.0]] * len(pairs), [[0] if right else [1] for _, right in pairs])
    confidence = pd.Series([value for value, _ in pairs])
    ordered = sorted(value for value, _ in pairs)
    bins: dict[int, list[tuple[float, bool]]] = {}
    for value_, right in pairs:
        bins.setdefault(ordered.index(value_) * 10 // len(pairs), []).append((value_, right))
    slow = sum(abs(sum(right for _, right in part) - sum(value_ for value_, _ in part)) for part in bins.values())
    assert calibration_error(calibration_curve(rows, confidence)) == pytest.approx(slow / len(pairs), abs=1e-9)


def test_templates_of_an_item_share_its_weight() -> None:
    scores, answers = [[0.0, -1.0], [0.0, -2.0]], [[0], [1]]
    rows = pd.concat([rows_of(scores, answers, template) for template in range(3)], ignore_index=True)
    once, thrice = confidence_scores(rows_of(scores, answers)), confidence_scores(rows)
    pd.testing.assert_frame_equal(once, thrice)


def test_a_model_that_is_right_as_often_as_it_is_sure_has_a_small_error() -> None:
    generator = np.random.default_rng(5)
    shares = generator.dirichlet([1, 1, 1], 20_000)
    answers = [[int(generator.choice(3, p=share))] for share in shares]
    assert value(confidence_scores(rows_of(np.log(shares).tolist(), answers)), "calibration_error") < 0.01
