"""How near wrong answers are to right ones."""

import pandas as pd
import pytest

from probing.analysis.culture_metrics import ELSEWHERE, NEARNESS, NEIGHBOUR, RIGHT, SAME, UNKNOWN, Map, nearness
from probing.benchmark import Benchmark, Item, Relation

COUNTRIES = ("fr", "de", "jp")
CITIES = ("paris", "berlin", "tokyo", "lyon")


def relation(predicate: str, answers: tuple[str, ...], facts: dict[str, tuple[int, ...]]) -> Relation:
    items = tuple(Item(index, name, of, name) for index, (name, of) in enumerate(facts.items()))
    return Relation(f"{predicate}.en", ("[X] [Y].",), answers, items, answers, tags={"predicate": predicate})


BENCHMARK = Benchmark(
    "small",
    "1",
    "1",
    (
        relation("P36", CITIES, {"fr": (0,), "de": (1,), "jp": (2,)}),
        relation("P47", COUNTRIES, {"fr": (1,)}),
        relation("P17", COUNTRIES, {"lyon": (0,)}),
        relation("P37", ("French", "German"), {"fr": (0,)}),
    ),
)


@pytest.mark.parametrize(
    ("predicted", "right", "expected"),
    [
        ("paris", ["paris"], RIGHT),
        ("lyon", ["paris"], SAME),
        ("paris", ["fr"], SAME),
        ("berlin", ["paris"], NEIGHBOUR),
        ("paris", ["berlin"], NEIGHBOUR),
        ("tokyo", ["paris"], ELSEWHERE),
        ("tokyo", ["paris", "tokyo"], RIGHT),
        ("oslo", ["paris"], UNKNOWN),
        ("German", ["French"], UNKNOWN),
    ],
)
def test_a_prediction_is_as_near_as_its_country(predicted: str, right: list[str], expected: str) -> None:
    assert Map.of(BENCHMARK).nearness(predicted, right) == expected


def test_shares_are_of_all_predictions_of_a_relation() -> None:
    predicted = [("P36", 0, 3), ("P36", 1, 0), ("P36", 2, 2), ("P37", 0, 1)]
    rows = pd.DataFrame(predicted, columns=["relation", "index", "prediction"])
    (row,) = nearness(rows, BENCHMARK).to_dict("records")
    assert (row["relation"], row["predictions"]) == ("P36", 3)
    assert [row[name] for name in NEARNESS] == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0, 0])
