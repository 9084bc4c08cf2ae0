"""Scores of single tokens: stored, joined, and added up to conditional scores token by token."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from probing.errors import BadInput
from probing.probes.choices import ItemTokens
from probing.results import token_scores as stored
from probing.results.token_scores import (
    conditional_accuracy,
    conditional_scores,
    join_tokens,
    read_tokens,
    write_tokens,
)


def answer(index: int, count: int = 3) -> tuple[dict[str, object], ItemTokens]:
    row = {"relation": "P30", "template": 1, "index": index}
    places, texts = np.arange(count), {"token": ["é"] * count, "role": ["answer"] * count}
    return row, {"option": np.zeros(count, int), "position": places, **texts, "log_prob": -0.5 * places}


def test_tokens_are_read_as_they_were_written(tmp_path: Path) -> None:
    rows = write_tokens(tmp_path / "part", [answer(0), answer(4, 2)])
    assert [row["index"] for row in rows] == [0, 4]
    (table,) = read_tokens(tmp_path / "part")
    assert table["index"].tolist() == [0, 0, 0, 4, 4]
    assert table["log_prob"].tolist() == [0, -0.5, -1, 0, -0.5]
    assert set(table["token"]) == {"é"}
    assert list(table.columns) == ["relation", "template", "index", "option", "position", "token", "role", "log_prob"]


def test_pieces_hold_whole_items_and_parts_are_joined_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "TOKENS_PER_PIECE", 5)
    for name, indices in (("a", range(4)), ("b", range(4, 5))):
        write_tokens(tmp_path / name, map(answer, indices))
    join_tokens([tmp_path / "a", tmp_path / "b"], tmp_path / "joined")
    assert [sorted(set(piece["index"])) for piece in read_tokens(tmp_path / "joined")] == [[0, 1], [2, 3], [4]]
    whole = pq.read_table(tmp_path / "joined").to_pandas()
    pd.testing.assert_frame_equal(whole, pd.concat(read_tokens(tmp_path / "joined"), ignore_index=True))


def test_a_file_of_a_part_that_fails_is_absent(tmp_path: Path) -> None:
    def interrupted():
        yield answer(0)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_tokens(tmp_path / "part", interrupted())
    assert not list(tmp_path.iterdir())


def test_a_file_that_is_no_token_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "tokens.parquet").write_text("nothing")
    with pytest.raises(BadInput, match=r"tokens.parquet cannot be read"):
        list(read_tokens(tmp_path / "tokens.parquet"))
    pd.DataFrame({"a": [1]}).to_parquet(tmp_path / "other.parquet")
    with pytest.raises(BadInput, match=r"its columns are not relation, template"):
        list(read_tokens(tmp_path / "other.parquet"))


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
