"""Ties: their share against a slow count, in every probe that ranks options."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from probing.analysis.accuracy import tied, ties_in_words, with_ties
from probing.baselines import UniformModel
from probing.benchmark import Benchmark
from probing.catalog import open_benchmark
from probing.runner import run
from tests.fakes import FakeModel

few_values = st.lists(st.sampled_from([-3.0, -2.5, -1.0]), min_size=1, max_size=6)


@given(st.lists(few_values, min_size=1, max_size=8))
def test_ties_equal_a_slow_count(scores: list[list[float]]) -> None:
    assert tied(pd.Series(scores)).tolist() == [values.count(max(values)) > 1 for values in scores]


def rows(*scores: list[float], templates: int = 1) -> pd.DataFrame:
    places = list(enumerate(scores))
    return pd.DataFrame(
        {
            "relation": "P1",
            "template": [number % templates for number, _ in places],
            "index": [number // templates for number, _ in places],
            "scores": [np.array(values) for _, values in places],
        }
    )


def test_the_worked_example_of_the_methods() -> None:
    table = rows(*[[-3.0, -2.5, -2.5, -7.0]] * 2, *[[-1.0, -2.0]] * 38)
    (score,) = with_ties(pd.DataFrame(), table).to_dict("records")
    assert (score["metric"], score["dimension"], score["group"]) == ("ties", "overall", "all")
    assert (score["value"], score["n"]) == (0.05, 40)
    assert ties_in_words(score["value"], score["n"]).startswith("Ties: of 2 of 40 items (5.00%) several options share")


def test_templates_share_the_weight_of_an_item() -> None:
    table = rows([-1.0, -1.0], [-1.0, -2.0], [-1.0, -2.0], [-1.0, -2.0], [-1.0, -2.0], [-1.0, -2.0], templates=3)
    (score,) = with_ties(pd.DataFrame(), table).to_dict("records")
    assert (score["value"], score["n"]) == (pytest.approx(1 / 6), 2)
    assert "of 0.3 of 2 items" in ties_in_words(score["value"], score["n"])


@pytest.mark.parametrize(
    ("slug", "probe"),
    [
        ("starter", "multiple_choice"),
        ("pairs", "similarity"),
        ("pairs", "specificity"),
        pytest.param("culture", "ranking", marks=pytest.mark.slow),
    ],
)
def test_a_model_without_knowledge_ties_on_every_item_of_every_probe(slug: str, probe: str) -> None:
    scores = run(UniformModel(), open_benchmark(slug), probe=probe, sample=2, progress=False).scores
    (share,) = scores.loc[scores["metric"] == "ties", "value"]
    assert share == 1


def test_a_model_that_prefers_one_option_has_no_ties(benchmark: Benchmark) -> None:
    scores = run(FakeModel(), benchmark, progress=False).scores
    assert scores.loc[scores["metric"] == "ties", "value"].tolist() == [0]
