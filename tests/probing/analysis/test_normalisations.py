"""Normalisations: every figure equals that of a slow computation for each option of each row."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from probing.analysis.normalisations import (
    CHANGED,
    NORMALISATION,
    OWN_RULE,
    missing_normalisations,
    normalisation_scores,
    normalised,
)
from probing.analysis.text_lengths import TextLengths
from probing.language_model import Reduction
from probing.settings import Settings

Row = dict[str, Any]
NUMBERS = st.integers(-40, -1).map(float)  # whole numbers, so that there are ties
COUNTS = st.integers(1, 6)


@st.composite
def rows_of_options(draw: st.DrawFn) -> list[Row]:
    """Draw rows of several items and templates with whole numbers as sums, and the lengths of each option."""
    rows = []
    for index in range(draw(st.integers(1, 4))):
        size = draw(st.integers(1, 5))
        right = draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=2, unique=True))
        for template in range(2):
            sums, tokens, bytes_, words, hidden = (
                draw(st.lists(values, min_size=size, max_size=size))
                for values in (NUMBERS, COUNTS, COUNTS, COUNTS, NUMBERS)
            )
            key = {"relation": "P1", "template": template, "index": index, "answers": right}
            rows.append({**key, "sums": sums, "tokens": tokens, "bytes": bytes_, "words": words, "hidden": hidden})
    return rows


def table(rows: list[Row], reduction: Reduction = "sum") -> pd.DataFrame:
    """Return the rows as they are stored."""
    stored = []
    for row in rows:
        pairs = zip(row["sums"], row["tokens"], strict=True)
        scores = [value if reduction == "sum" else value / tokens for value, tokens in pairs]
        prediction = scores.index(max(scores))
        stored.append(
            {
                **{name: row[name] for name in ("relation", "template", "index", "answers", "tokens")},
                "scores": scores,
                "exact": [True] * len(scores),
                "unconditional": row["hidden"],
                "prediction": prediction,
                "correct": prediction in row["answers"],
            }
        )
    return pd.DataFrame(stored)


def lengths(rows: list[Row]) -> list[TextLengths]:
    return [TextLengths(np.array(row["bytes"]), np.array(row["words"])) for row in rows]


def best_slowly(row: Row, name: str) -> int:
    """Return the first option with the highest score, each computed by itself."""
    best, best_score = -1, float("-inf")
    for option, total in enumerate(row["sums"]):
        score = {
            "sum": total,
            "per token": total / row["tokens"][option],
            "per byte": total / row["bytes"][option],
            "per word": total / row["words"][option],
            "PMI": total - row["hidden"][option],
        }[name]
        if score > best_score:
            best, best_score = option, score
    return best


def figures(scores: pd.DataFrame, metric: str) -> dict[str, float]:
    part = scores[(scores["metric"] == metric) & (scores["dimension"] == NORMALISATION)]
    return dict(zip(part["group"], part["value"], strict=True))


@given(rows_of_options())
def test_every_figure_equals_the_slow_computation(rows: list[Row]) -> None:
    scores = normalisation_scores(table(rows), lengths(rows), "accuracy", "sum")
    accuracy, changed = figures(scores, "accuracy"), figures(scores, CHANGED)
    assert list(accuracy) == ["sum", "per token", "per byte", "per word", "PMI"]
    for name in accuracy:
        best = [best_slowly(row, name) for row in rows]
        right = [option in row["answers"] for option, row in zip(best, rows, strict=True)]
        other = [option != best_slowly(row, "sum") for option, row in zip(best, rows, strict=True)]
        assert accuracy[name] == pytest.approx(np.mean(right))
        assert changed[name] == pytest.approx(np.mean(other))


@given(rows_of_options())
def test_the_rule_of_the_run_has_the_stored_figure(rows: list[Row]) -> None:
    for reduction, name in OWN_RULE.items():
        stored = table(rows, reduction)
        scores = normalisation_scores(stored, lengths(rows), "accuracy", reduction)
        assert figures(scores, "accuracy")[name] == pytest.approx(stored["correct"].mean())
        assert figures(scores, CHANGED)[name] == 0


def test_a_worked_example() -> None:
    """The figures of docs/methods.md."""
    lengths = TextLengths(np.array([24, 36]), np.array([5, 7]))
    by_rule = normalised(np.array([-12.0, -15.0]), lengths, "sum", np.array([6, 10]), np.array([-5.0, -9.5]))
    rounded = {name: values.round(3).tolist() for name, values in by_rule.items()}
    assert rounded == {
        "sum": [-12, -15],
        "per token": [-2, -1.5],
        "per byte": [-0.5, -0.417],
        "per word": [-2.4, -2.143],
        "PMI": [-7, -5.5],
    }


def test_means_give_sums_where_the_numbers_of_tokens_are_stored() -> None:
    lengths = TextLengths(np.array([2, 4]), np.array([1, 1]))
    tokens = np.array([3, 2])
    assert normalised(np.array([-2.0, -4.0]), lengths, "mean", tokens)["sum"].tolist() == [-6, -8]
    assert list(normalised(np.array([-2.0, -4.0]), lengths, "mean")) == ["per token"]


def test_sums_without_numbers_of_tokens_leave_out_scores_per_token() -> None:
    lengths = TextLengths(np.array([2, 4]), np.array([1, 1]))
    assert list(normalised(np.array([-2.0, -4.0]), lengths, "sum")) == ["sum", "per byte", "per word"]


ONE_ROW: list[Row] = [
    {"relation": "P1", "template": 0, "index": 0, "answers": [0], "sums": [-1.0, -2.0]}
    | {"tokens": [1, 4], "bytes": [1, 1], "words": [1, 1], "hidden": [-3.0, -1.0]}
]


def test_older_rows_have_the_normalisations_that_they_allow() -> None:
    stored = table(ONE_ROW).drop(columns=["tokens", "unconditional"])
    assert list(figures(normalisation_scores(stored, lengths(ONE_ROW), "accuracy", "sum"), "accuracy")) == [
        "sum",
        "per byte",
        "per word",
    ]


def test_an_early_decision_leaves_no_normalisation() -> None:
    stored = table(ONE_ROW)
    stored.at[0, "exact"] = [True, False]
    assert normalisation_scores(stored, lengths(ONE_ROW), "accuracy", "sum").empty


def test_what_cannot_be_computed_is_said() -> None:
    (early,) = missing_normalisations(Settings(decide=True), ["tokens"])
    assert "upper bounds" in early
    tokens, pmi = missing_normalisations(Settings(), ["scores"])
    assert tokens.startswith("Scores per token need the numbers of tokens")
    assert "--set pmi=true" in pmi
    assert "by any other rule than per token" in missing_normalisations(Settings(reduction="mean"), [])[0]
    assert missing_normalisations(Settings(), ["tokens", "unconditional"]) == []
