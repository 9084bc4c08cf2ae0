"""Answer bias: shares of options, distances and entropies, against slow versions."""

from math import exp, log
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cityblock
from scipy.stats import entropy

from probing.analysis import option_scores
from probing.analysis.accuracy import SCORE_COLUMNS
from probing.analysis.bias import (
    BIAS_COLUMNS,
    answer_bias,
    bias_scores,
    normalised_entropy,
    total_variation,
)
from tests.probing.analysis.figures import value

LABELS = ("Africa", "Asia", "Europe")
shares = st.lists(st.floats(0.001, 1), min_size=2, max_size=6)


def row(
    scores: list[float], answers: list[int], index: int = 0, template: int = 0, **more: object
) -> dict[str, object]:
    prediction = int(np.argmax(scores))
    return {
        "relation": "P30",
        "template": template,
        "index": index,
        "scores": scores,
        "exact": [True] * len(scores),
        "answer": answers[0],
        "answers": answers,
        "answer_label": LABELS[answers[0]],
        "prediction": prediction,
        "prediction_label": LABELS[prediction],
        **more,
    }


# The worked example of the methods page: two subjects, one template.
ROWS = pd.DataFrame([row([log(0.7), log(0.2), log(0.1)], [0]), row([log(0.5), log(0.1), log(0.4)], [2], index=1)])


def test_the_bias_is_the_mean_over_subjects_of_the_softmax() -> None:
    table = answer_bias(ROWS)
    assert list(table.columns) == BIAS_COLUMNS
    assert table["label"].tolist() == ["Africa", "option 1", "Europe"]
    assert table["bias"].tolist() == pytest.approx([0.6, 0.15, 0.25])
    assert table["gold"].tolist() == [0.5, 0, 0.5]
    assert table["predicted"].tolist() == [1, 0, 0]
    assert table["generic"].isna().all()


def test_the_worked_example_of_the_methods_page() -> None:
    scores = bias_scores(ROWS)
    assert list(scores.columns) == SCORE_COLUMNS
    assert value(scores, "bias_gold_distance") == pytest.approx(0.25)
    assert value(scores, "bias_uniform_distance") == pytest.approx(0.6 - 1 / 3)
    assert round(value(scores, "bias_entropy"), 3) == 0.853
    assert round(value(scores, "gold_entropy"), 3) == 0.631
    assert value(scores, "prediction_gold_distance") == pytest.approx(0.5)


def test_the_bars_are_the_least_and_the_greatest_template() -> None:
    other = ROWS.assign(template=1, scores=[[log(0.2), log(0.2), log(0.6)]] * 2)
    table = answer_bias(pd.concat([ROWS, other], ignore_index=True))
    assert table["bias"].tolist() == pytest.approx([0.4, 0.175, 0.425])
    assert table["low"].tolist() == pytest.approx([0.2, 0.15, 0.25])
    assert table["high"].tolist() == pytest.approx([0.6, 0.2, 0.6])


def test_adding_a_constant_to_the_scores_of_an_item_changes_nothing() -> None:
    moved = ROWS.assign(scores=[[score - 900 for score in scores] for scores in ROWS["scores"]])
    assert answer_bias(moved)["bias"].tolist() == pytest.approx(answer_bias(ROWS)["bias"].tolist())


@given(st.lists(st.lists(st.floats(-50, 0), min_size=3, max_size=3), min_size=1, max_size=6))
def test_it_equals_the_slow_version(scores: list[list[float]]) -> None:
    rows = pd.DataFrame([row(each, [index % 3], index) for index, each in enumerate(scores)])
    slow = [0.0, 0.0, 0.0]
    for each in scores:
        whole = sum(exp(score) for score in each)
        slow = [share + exp(score) / whole / len(scores) for share, score in zip(slow, each, strict=True)]
    assert answer_bias(rows)["bias"].tolist() == pytest.approx(slow)


@given(st.lists(st.lists(st.floats(-50, 0), min_size=3, max_size=3), min_size=1, max_size=9))
def test_it_does_not_depend_on_how_many_rows_are_computed_at_once(scores: list[list[float]]) -> None:
    rows = pd.DataFrame([row(each, [index % 3], index) for index, each in enumerate(scores)])
    together = answer_bias(rows)
    with mock.patch.object(option_scores, "BLOCK", 6):
        pd.testing.assert_frame_equal(answer_bias(rows), together, check_exact=True)


@given(shares, st.data())
def test_distance_and_entropy_equal_those_of_scipy(first: list[float], data: st.DataObject) -> None:
    second = data.draw(st.lists(st.floats(0.001, 1), min_size=len(first), max_size=len(first)))
    left, right = np.array(first) / sum(first), np.array(second) / sum(second)
    assert total_variation(left, right) == pytest.approx(cityblock(left, right) / 2)
    assert normalised_entropy(left) == pytest.approx(entropy(left, base=len(left)))


def test_shares_of_zero_and_single_options_have_an_entropy() -> None:
    assert normalised_entropy(np.array([1.0, 0.0])) == 0
    assert normalised_entropy(np.array([1.0])) == 0


def test_several_right_answers_share_the_item() -> None:
    table = answer_bias(pd.DataFrame([row([0.0, 0, 0], [0, 2])]))
    assert table["gold"].tolist() == [0.5, 0, 0.5]


def test_upper_bounds_give_no_scores_and_items_with_options_of_their_own_are_left_out() -> None:
    decided = ROWS.assign(exact=[[True, False, True]] * 2)
    assert bias_scores(decided).empty
    own = ROWS.assign(answer_label=["Lyon", "Paris"], prediction_label=["Rome", "Oslo"])
    assert answer_bias(own).empty
    assert bias_scores(own).empty


def test_overall_every_item_counts_the_same() -> None:
    more = ROWS.assign(relation="P36", scores=[[0.0, 0, 0]] * 2, prediction=0, prediction_label="Africa")
    rows = pd.concat([ROWS, more, more.assign(index=more["index"] + 2)], ignore_index=True)
    by_relation = bias_scores(rows).query("metric == 'bias_uniform_distance' and dimension == 'relation'")
    assert dict(zip(by_relation["group"], by_relation["n"], strict=True)) == {"P30": 2, "P36": 4}
    assert value(bias_scores(rows), "bias_uniform_distance") == pytest.approx((0.6 - 1 / 3) / 3)


def test_generic_subjects_have_shares_of_their_own() -> None:
    rows = ROWS.assign(generic=[[0.8, 0.1, 0.1]] * 2)
    table = answer_bias(rows)
    assert table["generic"].tolist() == pytest.approx([0.8, 0.1, 0.1])
    assert value(bias_scores(rows), "generic_uniform_distance") == pytest.approx(0.8 - 1 / 3)
    assert "generic_entropy" in set(bias_scores(rows)["metric"])
    assert "generic_entropy" not in set(bias_scores(ROWS)["metric"])
