"""Shares of predictions by language of the prompts: answers are one by their id, and where the user merges them."""

from typing import Any

import pandas as pd
import pytest

from probing.analysis.culture_metrics import prediction_shares
from probing.benchmark import Benchmark, Item, Relation
from probing.errors import BadInput

ENGLISH, SPANISH = ("Christianity", "Islam", "Muslim"), ("cristianismo", "islam", "musulmán")
IDS = ("Q5043", "Q432", "Q47740")


def relation(language: str, labels: tuple[str, ...], begin: int) -> Relation:
    subjects = [("Averroes", (1, 2)), ("Bach", (0,)), ("Rumi", (1,)), ("Ibn Sina", (2,))]
    items = tuple(Item(begin + index, subject, answers) for index, (subject, answers) in enumerate(subjects))
    tags = {"language": language, "predicate": "P140"}
    return Relation(f"P140.{language}", ("[X]: [Y]",), labels, items, answer_ids=IDS, tags=tags)


BENCHMARK = Benchmark("faiths", "1", "1", (relation("es", SPANISH, 0), relation("en", ENGLISH, 4)))


def rows(*predictions: int) -> pd.DataFrame:
    return pd.DataFrame({"relation": "P140", "index": range(len(predictions)), "prediction": predictions})


def shares(table: pd.DataFrame, language: str) -> dict[str, tuple[Any, ...]]:
    part = table[table["language"] == language]
    cells = part[["predictions", "share", "right_share"]].itertuples(index=False, name=None)
    return dict(zip(part["answer"], cells, strict=True))


def test_answers_of_all_languages_have_the_english_label_of_their_id() -> None:
    table = prediction_shares(rows(1, 1, 1, 2, 0, 0, 2, 2), BENCHMARK, {})
    assert table.columns.tolist() == [
        *("relation", "language", "answer", "predictions"),
        *("share", "correct_share", "right_share"),
    ]
    assert shares(table, "es") == {
        "Islam": (3, 0.75, 0.375),
        "Muslim": (1, 0.25, 0.375),
        "Christianity": (0, 0.0, 0.25),
    }
    assert shares(table, "en")["Christianity"] == (2, 0.5, 0.25)


@pytest.mark.parametrize("merged", [{"q432": "Islam", "q47740": "Islam"}, {"muslim": "Islam"}, {"musulmán": "Islam"}])
def test_merged_answers_are_counted_together_by_ids_or_labels(merged: dict[str, str]) -> None:
    table = prediction_shares(rows(1, 1, 1, 2), BENCHMARK, merged)
    assert shares(table, "es") == {"Islam": (4, 1.0, 0.75), "Christianity": (0, 0.0, 0.25)}


@pytest.mark.parametrize(
    ("merged", "correct"), [({}, {"Islam": 0.5, "Muslim": 0.25}), ({"muslim": "Islam"}, {"Islam": 0.75})]
)
def test_the_correct_parts_of_all_answers_add_up_to_p_at_1(merged: dict[str, str], correct: dict[str, float]) -> None:
    """The worked example of the methods page: one of three given answers Islam is wrong, and none of Muslim."""
    table = prediction_shares(rows(1, 1, 1, 2), BENCHMARK, merged).set_index("answer")
    assert table["correct_share"].to_dict() == {**correct, "Christianity": 0.0}
    assert table["correct_share"].sum() == 0.75


def test_the_most_common_answer_of_a_language_comes_first() -> None:
    table = prediction_shares(rows(0, 2, 2, 1, 1, 1, 1, 0), BENCHMARK, {})
    assert table["language"].drop_duplicates().tolist() == ["en", "es"]
    assert table.groupby("language")["answer"].first().to_dict() == {"en": "Islam", "es": "Muslim"}


def test_without_ids_and_languages_answers_have_their_own_labels() -> None:
    plain = Relation("R", ("[X]: [Y]",), ("yes", "no"), (Item(0, "a", (0,)), Item(1, "b", (1,))))
    table = prediction_shares(
        pd.DataFrame({"relation": "R", "index": [0, 1], "prediction": [0, 0]}), Benchmark("b", "1", "1", (plain,)), {}
    )
    assert shares(table, "") == {"yes": (2, 1.0, 0.5), "no": (0, 0.0, 0.5)}


def test_a_probe_without_options_has_nothing_to_count() -> None:
    with pytest.raises(BadInput, match="no predicted options"):
        prediction_shares(rows(1).drop(columns="prediction"), BENCHMARK, {})
    with pytest.raises(BadInput, match="no predicted options"):
        prediction_shares(rows(1).assign(prediction="Islam"), BENCHMARK, {})
