"""Conditional scores: equal to sums that are taken token by token."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from probing.results.token_scores import conditional_accuracy, conditional_scores

Token = dict[str, Any]
ROLES = st.lists(st.sampled_from(["subject", "answer", "template"]), min_size=1, max_size=6)
NUMBERS = st.integers(-9, -1).map(float)


@st.composite
def token_tables(draw: st.DrawFn) -> list[Token]:
    """Draw the tokens of items with several options each."""
    tokens = []
    for index in range(draw(st.integers(1, 3))):
        for option in range(draw(st.integers(1, 4))):
            for position, role in enumerate(draw(ROLES)):
                key = {"relation": "P1", "template": 0, "index": index, "option": option, "position": position}
                tokens.append({**key, "role": role, "log_prob": draw(NUMBERS)})
    return tokens


def by_option(tokens: list[Token]) -> dict[tuple[int, int], list[Token]]:
    grouped: dict[tuple[int, int], list[Token]] = {}
    for token in tokens:
        grouped.setdefault((token["index"], token["option"]), []).append(token)
    return grouped


def slow_scores(option: list[Token]) -> tuple[float, float]:
    """Add up the tokens of one option, one after the other."""
    begun, conditional, own = False, 0.0, 0.0
    for token in option:
        begun = begun or token["role"] == "answer"
        conditional += token["log_prob"] if begun else 0.0
        own += token["log_prob"] if token["role"] == "answer" else 0.0
    return (conditional, own) if begun else (float("-inf"), float("-inf"))


@given(token_tables())
def test_scores_are_those_of_a_sum_token_by_token(tokens: list[Token]) -> None:
    scores = conditional_scores(pd.DataFrame(tokens))
    scores = {
        (row["index"], row["option"]): (row["conditional"], row["answer only"]) for row in scores.to_dict("records")
    }
    assert scores == {key: slow_scores(option) for key, option in by_option(tokens).items()}


@given(token_tables(), st.integers(0, 3))
def test_accuracy_is_that_of_the_best_options(tokens: list[Token], answer: int) -> None:
    options = by_option(tokens)
    indices = sorted({index for index, _ in options})
    keys = {"relation": "P1", "template": 0}
    rows = pd.DataFrame([{**keys, "index": index, "answers": [answer], "prediction": 0} for index in indices[::-1]])
    pieces = [pd.DataFrame([token for token in tokens if token["index"] == index]) for index in indices]
    scores = conditional_accuracy(rows, pieces, "accuracy")
    for place, name in enumerate(("conditional", "answer only")):
        best = []
        for index in indices:
            values = [slow_scores(option)[place] for (item, _), option in options.items() if item == index]
            best.append(values.index(max(values)))
        value = scores[(scores["group"] == name) & (scores["metric"] == "accuracy")]["value"].item()
        assert value == pytest.approx(np.mean([option == answer for option in best]))
        changed = scores[(scores["group"] == name) & (scores["metric"] == "prediction_changed")]["value"].item()
        assert changed == pytest.approx(np.mean([option != 0 for option in best]))


def test_a_worked_example() -> None:
    """The figures of docs/methods/scoring.md."""
    parts = [("Paris", "subject", -7.1), (" is the capital of", "template", -4.2), (" France", "answer", -1.4)]
    parts.append((".", "template", -0.3))
    tokens = [
        {"relation": "P36", "template": 0, "index": 0, "option": 0, "position": place, "token": text}
        | {"role": role, "log_prob": value}
        for place, (text, role, value) in enumerate(parts)
    ]
    (scores,) = conditional_scores(pd.DataFrame(tokens)).to_dict("records")
    assert (round(scores["conditional"], 3), round(scores["answer only"], 3)) == (-1.7, -1.4)
