"""Results that differ in nothing but a seed stand in one row."""

import pandas as pd
import pytest

from probing.analysis.intervals import over_seeds, without_seed


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("google/multiberts-seed_3", "google/multiberts"),
        ("EleutherAI/pythia-70m-seed1", "EleutherAI/pythia-70m"),
        ("org/seed2/model", "org//model"),
        ("sample 20, seed 1", "sample 20"),
        ("seed 1", ""),
        ("org/seedling-7b", "org/seedling-7b"),
        ("org/flaxseed7", "org/flaxseed7"),
    ],
)
def test_a_name_loses_its_seed_and_nothing_else(name: str, plain: str) -> None:
    assert without_seed(name) == plain


def test_no_scores_are_no_replicates() -> None:
    assert over_seeds(pd.DataFrame(columns=["model", "value"]), ["model"]).empty


def test_the_worked_example_of_the_documentation() -> None:
    rows = [("a-seed0", 0.40), ("a-seed1", 0.42), ("a-seed2", 0.47), ("b-seed0", 0.1), ("c", None)]
    table = over_seeds(pd.DataFrame(rows, columns=["model", "value"]), ["model"])
    (row,) = table.to_dict("records")
    assert (row["model"], row["runs"], row["lowest"], row["highest"]) == ("a", 3, 0.40, 0.47)
    assert (row["mean"], row["sd"]) == (pytest.approx(0.43), pytest.approx(0.0361, abs=1e-4))
