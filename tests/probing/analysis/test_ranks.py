"""Rank ranges: simultaneous coverage by simulation, and narrower than those of overlapping intervals."""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from probing.analysis.intervals import wilson
from probing.analysis.ranks import RANK_COLUMNS, item_values, rank_table, relation_numbers, shares_enough, standings
from probing.analysis.verdicts import SIGNIFICANT, paired
from probing.arrays import Floats

MODELS = 20
FIXTURES = Path(__file__).parents[3] / "fixtures"


def table(columns: dict[str, Sequence[float | None]], relations: Sequence[str] = ()) -> pd.DataFrame:
    """One row per item; all items are of one relation unless `relations` names theirs."""
    n = len(next(iter(columns.values())))
    index = pd.MultiIndex.from_arrays([list(relations) or ["P1"] * n, range(n)], names=["relation", "index"])
    return pd.DataFrame(columns, index=index, dtype=float)


@st.composite
def scored(draw: st.DrawFn) -> tuple[Floats, list[str]]:
    """Items of a few relations in any order, some of them alone in theirs, and a few models."""
    n, models = draw(st.integers(2, 30)), draw(st.integers(2, 5))
    relations = draw(st.lists(st.sampled_from("ABCD"), min_size=n, max_size=n))
    cells = st.sampled_from([0.0, 1 / 3, 2 / 3, 1.0])
    values = draw(st.lists(st.lists(cells, min_size=models, max_size=models), min_size=n, max_size=n))
    return np.array(values), relations


@settings(max_examples=25, deadline=None)
@given(scored(), st.booleans())
def test_places_count_the_verdicts_on_all_pairs(data: tuple[Floats, list[str]], macro: bool) -> None:
    values, relations = data
    parts = relation_numbers(pd.Index(relations), macro)
    found = standings(values, parts)
    for first in range(values.shape[1]):
        better, worse = 0, 0
        for second in range(values.shape[1]):
            pair = paired(values[:, [first, second]], parts)
            is_certain = pair.p[0, 1] * found.undecided < SIGNIFICANT
            better += is_certain and pair.difference[0, 1] > 0
            worse += is_certain and pair.difference[0, 1] < 0
        assert (found.best[first], found.worst[first]) == (1 + worse, values.shape[1] - better)


def test_equal_models_share_their_places_and_a_single_model_has_the_first() -> None:
    same = rank_table(table({"a": [1, 0, 1, 0], "b": [1, 0, 1, 0]}))
    assert same[["best", "worst", "tie_group"]].to_numpy().tolist() == [[1, 2, 1], [1, 2, 1]]
    assert rank_table(table({"a": [1, 0]}))[["best", "worst"]].to_numpy().tolist() == [[1, 1]]


def test_a_few_items_never_put_one_model_ahead_however_clear_they_are() -> None:
    few = rank_table(table({"right": [1] * 3, "wrong": [0] * 3}))
    many = rank_table(table({"right": [1] * 30, "wrong": [0] * 30}))
    assert few["worst"].tolist() == [2, 2]
    assert many["worst"].tolist() == [1, 2]


def test_only_common_items_count_and_each_model_keeps_the_number_of_its_own() -> None:
    ranks = rank_table(table({"a": [1, 1, 0, 1], "b": [1, 0, 0, None]}))
    assert ranks["counted"].tolist() == [4, 3]
    assert ranks["n"].tolist() == [3, 3]
    assert ranks["value"].tolist() == pytest.approx([2 / 3, 1 / 3])
    assert list(ranks.columns) == RANK_COLUMNS


def test_relations_weigh_equally_where_the_figure_is_their_mean() -> None:
    items = table({"a": [1, 0, 0, 0], "b": [0, 1, 1, 1]}, ["P1", "P2", "P2", "P2"])
    assert rank_table(items, macro=True)["value"].tolist() == [0.5, 0.5]
    assert rank_table(items)["value"].tolist() == [0.25, 0.75]


def test_a_model_that_shares_few_items_has_no_rank_and_costs_the_others_nothing() -> None:
    items = table({"a": [1] * 90 + [0] * 10, "b": [1] * 80 + [0] * 20, "tiny": [1] * 20 + [None] * 80})
    ranks = rank_table(items)
    assert ranks["n"].iloc[:2].tolist() == [100, 100]
    assert ranks.loc["tiny", "counted"] == 20
    assert ranks.loc["tiny", RANK_COLUMNS[1:]].isna().all()


def test_a_model_without_any_item_in_common_has_no_rank() -> None:
    ranks = rank_table(table({"a": [1, 0], "none": [None, None]}))
    assert ranks["best"].fillna(0).tolist() == [1, 0]
    assert rank_table(table({"none": [None, None]}))["best"].isna().all()
    ranks = rank_table(table({"a": [1, 0, 1, None, None], "b": [None, None, None, 1, 0]}))
    assert ranks["best"].fillna(0).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ((100, 90, 80), [True, True, True]),
        ((100, 90, 40), [True, True, False]),
        ((100, 90, 45), [True, True, True]),  # half of the median
        ((40, 40, 40, 39, 100), [True, True, True, True, True]),
    ],
)
def test_common_items_are_at_least_half_of_the_median_models(counts: Sequence[int], expected: list[bool]) -> None:
    present = np.arange(100)[:, None] < np.array(counts)
    assert shares_enough(present).tolist() == expected


def test_tie_groups_begin_with_the_best_model_that_is_in_none_before() -> None:
    chance = np.random.default_rng(0)
    values = (chance.random((3000, 6)) < [0.7, 0.69, 0.5, 0.49, 0.48, 0.1]).astype(float)
    compared = standings(values, np.zeros(3000, dtype=np.int64))
    assert compared.tie_groups.tolist() == [1, 1, 2, 2, 2, 3]


def test_item_values_are_means_over_templates_and_leave_out_what_does_not_count() -> None:
    rows = pd.DataFrame({"relation": ["P1"] * 4, "template": [0, 1, 0, 0], "index": [0, 0, 1, 2]})
    values = item_values(rows, pd.Series([True, False, True, None], dtype="boolean"))
    assert values.to_dict() == {("P1", 0): 0.5, ("P1", 1): 1.0}


def overlap_width(low: Floats, high: Floats) -> float:
    """The mean width of the ranges of places where a model is better only if its interval lies wholly above."""
    above = (low > high[:, None]).sum(axis=1)
    below = (high < low[:, None]).sum(axis=1)
    return float((len(low) - below - above - 1).mean())


@dataclass(frozen=True)
class Scenario:
    """Abilities of models and sizes of relations; `bias` is how much models differ in what they know."""

    abilities: Floats
    sizes: tuple[int, ...]
    macro: bool = False
    bias: float = 0.0

    def truth(self, ease: Floats) -> Floats:
        """The models' true figures; `ease` has the shape (relations, models)."""
        sizes = np.array(self.sizes)
        weights = np.full(len(sizes), 1 / len(sizes)) if self.macro else sizes / sizes.sum()
        return weights @ norm.cdf(ease / np.sqrt(2))

    def simulate(self, repetitions: int, seed: int) -> "Outcome":
        """Draw items again and again, each with a difficulty that all models share, for relations that stay."""
        chance = np.random.default_rng(seed)
        relations = np.repeat(np.arange(len(self.sizes)), self.sizes)
        ease = self.abilities + chance.normal(0, 1, (len(self.sizes), 1))
        ease = ease + chance.normal(0, self.bias, (len(self.sizes), len(self.abilities)))
        truly_better = np.subtract.outer(self.truth(ease), self.truth(ease)) > 1e-12
        right, paired, overlapping = 0, 0.0, 0.0
        shape = (len(relations), len(self.abilities))
        for _ in range(repetitions):
            difficulty = chance.normal(0, np.sqrt(0.8), (shape[0], 1))
            values = (ease[relations] - difficulty + chance.normal(0, np.sqrt(0.2), shape) > 0).astype(float)
            compared = standings(values, relation_numbers(pd.Index(relations), self.macro))
            bounds = np.array([wilson(value, shape[0]) for value in compared.values]).T
            right += not (compared.better & ~truly_better).any()
            paired += float((compared.worst - compared.best).mean()) / repetitions
            overlapping += overlap_width(*bounds) / repetitions
        return Outcome(right / repetitions, paired, overlapping)


@dataclass(frozen=True)
class Outcome:
    """The share of repetitions without any wrong order, and the mean width of the ranges by both rules."""

    coverage: float
    paired: float
    overlapping: float


SCENARIOS = {
    "all equal": Scenario(np.zeros(MODELS), (30,) * 20),
    "graded": Scenario(np.linspace(-0.6, 0.6, MODELS), (30,) * 20),
    "pairs of equals": Scenario(np.repeat(np.linspace(-1, 1, MODELS // 2), 2), (30,) * 20),
    "few relations that weigh equally": Scenario(np.zeros(MODELS), (40, 10, 80, 5, 20), macro=True),
    "few relations, graded": Scenario(np.linspace(-0.5, 0.5, MODELS), (40, 10, 80, 5, 20), macro=True, bias=0.3),
    "few items": Scenario(np.zeros(MODELS), (10,) * 4),
    "relations of three items": Scenario(np.zeros(MODELS), (3,) * 60, macro=True),
    "nearly all right": Scenario(np.full(MODELS, 2.0), (20,) * 10),
    "two models": Scenario(np.zeros(2), (20,) * 5, macro=True),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENARIOS)
def test_all_ranges_hold_at_once_in_at_least_94_of_100_samples(name: str) -> None:
    """They hold in 97 of 100 samples or more, and such ranges would fail here with less than one seed in a thousand."""
    outcome = SCENARIOS[name].simulate(500, seed=1)
    print(f"{name}: coverage {outcome.coverage:.4f}, width {outcome.paired:.2f}, by overlap {outcome.overlapping:.2f}")
    assert outcome.coverage >= 0.94


def test_ranges_are_narrower_than_those_of_overlapping_intervals_where_models_agree_on_what_is_difficult() -> None:
    outcome = SCENARIOS["graded"].simulate(30, seed=2)
    assert outcome.paired < 0.9 * outcome.overlapping


@pytest.mark.parametrize(("shared", "narrower"), [(0.5, 1.1), (0.8, 0.95)])
def test_ranges_of_the_published_bear_accuracies_with_simulated_answers(shared: float, narrower: float) -> None:
    """The paired ranges are narrower, or not much wider; `shared` correlates the normal variables behind answers."""
    published = json.loads((FIXTURES / "published/bear-leaderboard.json").read_text(encoding="utf-8"))
    accuracies = [
        next(
            score["value"]
            for score in row["scores"]
            if (score["metric"], score["dimension"]) == ("accuracy", "overall")
        )
        for row in published["rows"]
    ]
    chance = np.random.default_rng(0)
    common, own = chance.normal(size=(7731, 1)), chance.normal(size=(7731, len(accuracies)))
    answers = np.sqrt(shared) * common + np.sqrt(1 - shared) * own < norm.ppf(accuracies)
    compared = standings(answers.astype(float), np.zeros(7731, dtype=np.int64))
    correlation = np.corrcoef(answers.T)[np.triu_indices(len(accuracies), 1)].mean()
    overlapping = overlap_width(*np.array([wilson(value, 7731) for value in compared.values]).T)
    widths = [1 + float((compared.worst - compared.best).mean()), 1 + overlapping]
    print(f"correlation {correlation:.2f}: {widths[0]:.1f} places, by overlap {widths[1]:.1f}")
    assert widths[0] < narrower * widths[1]


@pytest.mark.parametrize(("macro", "wordings", "times"), [(False, 1, 15), (False, 2, 20), (True, 1, 40)])
def test_three_hundred_models_take_a_few_times_as_long_as_one_product_of_matrices(
    macro: bool, wordings: int, times: int
) -> None:
    chance = np.random.default_rng(0)
    relations = np.sort(chance.integers(0, 60, 7731))
    abilities, difficulty = chance.normal(0, 0.5, 300), chance.normal(0, 1, (7731, 1))
    values = np.mean([abilities - difficulty + chance.normal(0, 0.7, (7731, 300)) > 0 for _ in range(wordings)], axis=0)
    parts = relation_numbers(pd.Index(relations), macro)
    ours, peer = (
        min(_seconds(work) for _ in range(3))
        for work in (lambda: standings(values, parts).best, lambda: values.T @ values)
    )
    print(f"300 models, 7,731 items: {1000 * ours:.0f} ms; the product of two matrices: {1000 * peer:.0f} ms")
    assert ours < times * peer


def _seconds(work: object) -> float:
    """Processor time, which other programs on the machine hardly change."""
    start = time.process_time()
    work()
    return time.process_time() - start
