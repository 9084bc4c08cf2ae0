"""The smallest difference that can be told apart is found as often as it says."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, norm, sem, ttest_1samp

from probing.analysis.paired_tests import (
    ERRORS,
    Correctness,
    assumed_difference,
    of_pair,
    sentence,
    smallest_difference,
)
from probing.arrays import Floats

MACRO = Correctness(macro=True)
TEMPLATES = 2


def table(relations: Floats, right: Floats) -> pd.DataFrame:
    """Rows of one template: the relation of each item, and whether it is right."""
    index = np.arange(len(right))
    return pd.DataFrame({"relation": relations, "template": 0, "index": index, "correct": right})


answers = st.lists(
    st.tuples(st.integers(0, 3), *[st.integers(0, 1)] * (2 * TEMPLATES)), min_size=8, max_size=60
).filter(lambda rows: len({row[0] for row in rows}) > 1)


@given(answers)
def test_it_is_2_8_standard_errors_of_the_paired_difference(drawn: list[tuple[int, ...]]) -> None:
    data = np.array(drawn)
    relation, changes = data[:, 0], data[:, 3:].mean(axis=1) - data[:, 1:3].mean(axis=1)
    first, second = (
        pd.concat([table(relation, data[:, side + t]).assign(template=t) for t in range(TEMPLATES)]) for side in (1, 3)
    )
    micro = smallest_difference({"first": first, "second": second})
    macro = smallest_difference({"first": first, "second": second}, MACRO)
    assert micro and macro
    assert micro.same_relations == pytest.approx(2.8015852 * sem(changes))
    parts = [changes[relation == name] for name in np.unique(relation)]
    squares = sum(np.var(part if len(part) > 1 else changes, ddof=1) / len(part) for part in parts)
    assert macro.same_relations == pytest.approx(2.8015852 * np.sqrt(squares) / len(parts))


def test_a_paired_test_finds_it_in_80_percent_of_all_cases() -> None:
    generator = np.random.default_rng(0)
    n, differ = 3000, 0.2
    measured = generator.choice([-1, 0, 1], p=[0.1, 0.8, 0.1], size=n)
    rows = table(np.zeros(n), np.maximum(-measured, 0)), table(np.zeros(n), np.maximum(measured, 0))
    smallest = smallest_difference(dict(zip("ab", rows, strict=True)))
    assert smallest and np.isnan(smallest.like_relations)
    more = (differ + smallest.same_relations) / 2
    gained, lost, _ = generator.multinomial(n, [more, differ - more, 1 - differ], size=4000).T
    p_values = 2 * binom.cdf(np.minimum(gained, lost), gained + lost, 0.5)
    assert np.mean((p_values < 0.05) & (gained > lost)) == pytest.approx(0.8, abs=0.04)


def simulated_means(difference: float, relations: int, count: int, generator: np.random.Generator) -> Floats:
    """Differences of two models in each relation of `count` simulated benchmarks with 100 items a relation."""
    of_relation = generator.normal(difference, 0.08, (count, relations))
    return of_relation + generator.normal(0, np.sqrt(0.2 / 100), (count, relations))


def test_on_relations_like_these_it_is_found_in_80_percent_of_all_cases_as_well() -> None:
    generator = np.random.default_rng(0)
    relations = 40
    smallest = []
    for means in simulated_means(0, relations, 200, generator):
        changes = np.repeat(means, 2)  # two items of each relation carry its difference
        names = np.repeat(np.arange(relations), 2)
        pair = {"a": table(names, np.zeros(2 * relations)), "b": table(names, changes)}
        difference = smallest_difference(pair, MACRO)
        assert difference
        smallest.append(difference.like_relations)
    draws = simulated_means(float(np.median(smallest)), relations, 4000, generator)
    assert np.mean(ttest_1samp(draws, 0, axis=1).pvalue < 0.05) == pytest.approx(0.8, abs=0.04)


def test_several_results_give_the_median_over_their_pairs() -> None:
    generator = np.random.default_rng(0)
    relations = np.repeat(np.arange(5), 40)
    tables = {str(skill): table(relations, generator.random(200) < skill) for skill in (0.2, 0.5, 0.8)}
    names = list(tables)
    pairs = [
        smallest_difference({a: tables[a], b: tables[b]}) for a, b in zip(names, [*names[1:], names[0]], strict=True)
    ]
    every = smallest_difference(tables)
    assert every and every.pairs == 3
    assert every.same_relations == np.median([pair.same_relations for pair in pairs if pair])
    assert every.like_relations == np.median([pair.like_relations for pair in pairs if pair])


def test_rows_that_do_not_count_for_both_are_left_out() -> None:
    relations = np.zeros(6)
    first = table(relations, np.array([1, 1, 0, 0, np.nan, 1]))
    second = table(relations, np.array([1, 0, 1, 0, 1, np.nan]))
    expected = smallest_difference({"a": first[:4], "b": second[:4]})
    assert expected is not None
    assert smallest_difference({"a": first, "b": second}) == pytest.approx(expected, nan_ok=True)
    assert smallest_difference({"a": first[:1], "b": second}) is None
    assert smallest_difference({"a": first}) is None


def test_without_measurements_the_answers_are_taken_to_be_independent() -> None:
    assert pytest.approx(norm.ppf(0.975) + norm.ppf(0.8)) == ERRORS
    smallest = assumed_difference(7731)
    assert (smallest.same_relations, smallest.pairs) == (pytest.approx(0.02253, abs=5e-6), 0)
    assert np.isnan(smallest.like_relations)


def test_it_is_told_in_a_sentence_also_where_results_agree_on_every_item() -> None:
    assert sentence(assumed_difference(7731)).endswith("paired): 0.023 on these relations.")
    both = assumed_difference(7731)._replace(like_relations=0.05, pairs=1)
    assert sentence(both).endswith("0.023 on these relations, 0.050 on other relations like these.")
    items = pd.MultiIndex.from_product([["P30"], range(4)], names=["relation", "index"])
    agreeing = of_pair(pd.Series(0.0, index=items), macro=False)
    assert sentence(agreeing).startswith("Results that agree on every item do not tell how small a difference")
