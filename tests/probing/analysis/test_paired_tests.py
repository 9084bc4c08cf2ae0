"""Results compared in pairs, two tables of scores in sentences, and the smallest difference that can be told apart."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest, norm, sem, ttest_1samp

from probing.analysis.accuracy import SCORE_COLUMNS
from probing.analysis.intervals import figure_interval, wilson
from probing.analysis.paired_tests import (
    ERRORS_OF_POWER,
    SIDE_BOUNDS,
    Correctness,
    assumed_difference,
    common_rows,
    compare,
    difference_of_pair,
    score_changes,
    smallest_difference,
    smallest_difference_in_words,
)
from probing.analysis.verdicts import holm
from probing.arrays import Floats
from probing.errors import BadInput


def results(correct: list[bool], templates: int = 1) -> pd.DataFrame:
    count = len(correct) // templates
    keys = [(f"P{i % 2}", t, i) for i in range(count) for t in range(templates)]
    table = pd.DataFrame(keys, columns=["relation", "template", "index"])
    return table.assign(correct=correct, domain=[["A", "B"] if key[0] == "P0" else ["B"] for key in keys])


def overall(first: pd.DataFrame, second: pd.DataFrame) -> pd.Series:
    return compare({"first": first, "second": second}, []).iloc[0]


def test_it_counts_gains_and_losses_and_tests_them_exactly() -> None:
    first, second = [True] * 6 + [False] * 14, [True] * 5 + [False] * 7 + [True] * 8
    row = overall(results(first), results(second))
    assert (row["n"], row["first"], row["second"]) == (20, 0.3, 0.65)
    assert (row["gained"], row["lost"]) == (8, 1)
    assert row["difference"] == pytest.approx(0.35)
    assert row["p"] == pytest.approx(binomtest(1, 9).pvalue)
    assert row["low"] < 0.35 < row["high"]
    assert row[SIDE_BOUNDS].to_list() == pytest.approx([*wilson(0.3, 20), *wilson(0.65, 20)])


@pytest.mark.parametrize(("gained", "lost"), [(0, 1), (3, 3), (4, 3), (2, 7), (300, 1)])
def test_the_p_value_is_that_of_the_exact_binomial_test(gained: int, lost: int) -> None:
    first, second = results([False] * gained + [True] * lost), results([True] * gained + [False] * lost)
    assert overall(first, second)["p"] == pytest.approx(binomtest(gained, gained + lost).pvalue, rel=1e-9)


def test_equal_results_do_not_differ() -> None:
    same = results([True, False] * 10)
    figures = overall(same, same)
    assert (figures["difference"], figures["p"]) == (0, 1)
    assert figures["low"] < -wilson(0, len(same))[1] / 2
    assert figures["high"] == -figures["low"]


def test_only_common_items_count_in_the_order_of_the_first() -> None:
    first = results([True] * 10)
    assert overall(first, results([True] * 10).iloc[4:])["n"] == 6
    first = results([True] * 4)
    with pytest.raises(BadInput, match="no item in common"):
        common_rows({"first": first, "second": first.assign(relation="P9")})
    one, other = common_rows({"first": first, "second": first.iloc[::-1]}).values()
    assert one["index"].to_list() == other["index"].to_list() == first["index"].to_list()


def test_templates_of_an_item_count_as_one_item() -> None:
    row = overall(results([True, False] * 5, templates=2), results([True, True] * 5, templates=2))
    assert (row["n"], row["first"], row["second"], row["gained"]) == (5, 0.5, 1, 5)


def test_a_breakdown_weighs_items_as_accuracy_does() -> None:
    table = compare({"first": results([False] * 4), "second": results([True] * 4)}, ["domain"])
    domains = table[table.dimension == "domain"].set_index("group")
    assert domains["n"].to_dict() == {"A": 1, "B": 3}


def test_the_interval_is_near_that_of_a_plain_bootstrap() -> None:
    generator = np.random.default_rng(1)
    first, second = (generator.random(300) < share for share in (0.4, 0.5))
    row = overall(results(list(first)), results(list(second)))
    difference = second.astype(int) - first
    means = difference[generator.integers(300, size=(4000, 300))].mean(axis=1)
    assert [row["low"], row["high"]] == pytest.approx(np.quantile(means, [0.025, 0.975]), abs=0.015)


def test_several_wordings_are_compared_by_the_means_of_their_questions() -> None:
    generator = np.random.default_rng(3)
    first, second = (generator.random(600) < share for share in (0.4, 0.5))
    row = overall(results(list(first), templates=2), results(list(second), templates=2))
    change = (second.astype(float) - first).reshape(300, 2).mean(axis=1)
    error = np.sqrt(change.var() / 300 + 4 / 300**2)
    assert row["p"] == pytest.approx(2 * norm.sf(abs(change.mean()) / error))
    assert (row["high"] - row["low"]) / 2 == pytest.approx(norm.ppf(0.975) * error)


def test_an_item_that_one_of_them_could_not_answer_does_not_count() -> None:
    first = results([True, False, True, False])
    second = first.assign(correct=pd.array([None, True, True, False], dtype="boolean"))
    row = overall(first, second)
    assert (row["n"], row["gained"], row["lost"]) == (3, 1, 0)


def test_holm_corrects_as_published() -> None:
    """Holm (1979), worked by hand: 0.005 · 4, 0.01 · 3, 0.03 · 2, and 0.04 not below the one before it."""
    p = pd.Series([0.01, 0.04, 0.03, 0.005], index=[7, 3, 5, 1])
    assert holm(p).to_dict() == pytest.approx({7: 0.03, 3: 0.06, 5: 0.06, 1: 0.02})
    assert holm(pd.Series([0.6, 0.9])).to_list() == [1, 1]


def test_the_tests_of_a_dimension_are_corrected_together() -> None:
    first, second = [False] * 20, [True] * 14 + [False] * 6
    table = compare({"first": results(first), "second": results(second)}, ["domain"]).set_index(["dimension", "group"])
    assert table.loc[("overall", "all"), "p_holm"] == table.loc[("overall", "all"), "p"]
    domains = table.loc["domain"]
    assert domains["p_holm"].to_list() == pytest.approx(holm(domains["p"]).to_list())
    assert (domains["p_holm"] > domains["p"]).any()


def test_every_further_result_is_compared_with_the_first_on_what_all_have() -> None:
    first = results([True] * 10)
    table = compare({"a": first, "b": results([False] * 10), "c": results([True] * 10).iloc[4:]}, [])
    overall = table[table.dimension == "overall"].set_index("result")
    assert overall["n"].to_dict() == {"b": 6, "c": 6}
    assert overall["difference"].to_dict() == {"b": -1, "c": 0}


MACRO = Correctness(macro=True)


def by_relation(**correct: str) -> pd.DataFrame:
    """One item per letter: y right, n wrong, - one that does not count."""
    rows = [
        (relation, 0, index, {"y": True, "n": False, "-": None}[letter])
        for relation, letters in correct.items()
        for index, letter in enumerate(letters)
    ]
    return pd.DataFrame(rows, columns=["relation", "template", "index", "correct"]).astype({"correct": "boolean"})


def test_relations_weigh_equally_where_the_probe_says_so() -> None:
    first, second = by_relation(P1="n" * 10, P2="yn"), by_relation(P1="n" * 10, P2="yy")
    row = compare({"first": first, "second": second}, [], MACRO).iloc[0]
    assert (row["n"], row["first"], row["second"], row["difference"]) == (12, 0.25, 0.5, 0.25)
    assert overall(first, second)["difference"] == pytest.approx(1 / 12)


def test_a_macro_difference_is_that_of_the_macro_averages_on_common_items() -> None:
    first, second = by_relation(P1="yyn-", P2="yn", P3="-"), by_relation(P1="nyyy", P2="ny", P3="y")
    row = compare({"first": first, "second": second}, [], MACRO).iloc[0]
    assert row[["n", "first", "second"]].to_list() == pytest.approx([5, (2 / 3 + 1 / 2) / 2, (2 / 3 + 1 / 2) / 2])


def test_with_one_relation_a_macro_average_is_the_mean_over_items() -> None:
    results = {"first": by_relation(P1="nnnnnnyyyy"), "second": by_relation(P1="yyyyyynyyy")}
    macro, over_items = (compare(results, [], right).drop(columns=SIDE_BOUNDS) for right in (MACRO, Correctness()))
    pd.testing.assert_frame_equal(macro, over_items)


def test_a_macro_average_has_the_interval_that_its_score_has() -> None:
    results = {"first": by_relation(P1="yyn", P2="yn"), "second": by_relation(P1="nyy", P2="ny")}
    table = compare(results, [], MACRO).set_index(["dimension", "group"])
    expected = figure_interval(np.array([1, 1, 0, 1, 0.0]), np.array([0, 0, 0, 1, 1]))
    assert table.loc[("overall", "all"), SIDE_BOUNDS].to_list() == pytest.approx([*expected] * 2)
    assert table.loc[("relation", "P1"), SIDE_BOUNDS].to_list() == pytest.approx([*wilson(2 / 3, 3)] * 2)


def test_questions_of_a_macro_average_are_drawn_within_relations() -> None:
    generator = np.random.default_rng(2)
    answers = [generator.random((2, n)) < 0.5 for n in (40, 200)]
    first, second = (
        by_relation(
            **{f"P{place}": "".join("ny"[hit] for hit in hits[side].astype(int)) for place, hits in enumerate(answers)}
        )
        for side in (0, 1)
    )
    row = compare({"first": first, "second": second}, [], MACRO).iloc[0]
    changes = [hits[1].astype(int) - hits[0] for hits in answers]
    means = [change[generator.integers(len(change), size=(4000, len(change)))].mean(axis=1) for change in changes]
    assert [row["low"], row["high"]] == pytest.approx(np.quantile(np.mean(means, axis=0), [0.025, 0.975]), abs=0.02)


def test_another_column_can_say_what_is_right() -> None:
    first, second = by_relation(P1="yn"), by_relation(P1="nn")
    named = {name: rows.rename(columns={"correct": "specific"}) for name, rows in (("a", first), ("b", second))}
    assert compare(named, [], Correctness("specific")).iloc[0]["difference"] == -0.5


def test_results_without_right_answers_cannot_be_compared() -> None:
    rows = pd.DataFrame({"relation": ["P36"], "index": [0], "template": [0], "perplexity": [3.5]})
    with pytest.raises(BadInput, match=r"no right answers to compare\. Compare their scores"):
        common_rows({"a": rows, "b": rows})


def table(*scores: tuple[str, str, str, float]) -> pd.DataFrame:
    rows = [[metric, dimension, group, value, 10.0, np.nan, np.nan] for metric, dimension, group, value in scores]
    return pd.DataFrame(rows, columns=SCORE_COLUMNS[:7]).reindex(columns=SCORE_COLUMNS)


OVERALL = ("accuracy", "overall", "all", 0.5)
ARTS = ("accuracy", "domain", "Arts", 0.25)


def test_equal_tables_in_any_order_have_no_difference() -> None:
    assert score_changes(table(OVERALL, ARTS), table(ARTS, OVERALL)) == []


@pytest.mark.parametrize(
    ("before", "after", "sentences"),
    [
        ([OVERALL], [OVERALL, ARTS], ["New groups of domain: Arts."]),
        ([OVERALL, ARTS], [OVERALL], ["Groups that are gone of domain: Arts."]),
        ([OVERALL], [OVERALL, ("margin", "overall", "all", 1.0)], ["New metrics: margin."]),
        ([OVERALL, ("margin", "overall", "all", 1.0)], [OVERALL], ["Metrics that are gone: margin."]),
        (
            [OVERALL, ARTS],
            [OVERALL, ("accuracy", "domain", "Arts", 0.375)],
            [
                "Changed: 1 of 2 scores; the largest change of a value is in accuracy, domain Arts: "
                "0.2500 before, 0.3750 now."
            ],
        ),
        ([ARTS], [("accuracy", "domain", "Arts", np.nan)], ["Changed: 1 of 1 scores."]),
    ],
)
def test_each_difference_has_a_sentence(before: list, after: list, sentences: list[str]) -> None:
    assert score_changes(table(*before), table(*after)) == sentences


def test_rounding_is_no_difference() -> None:
    assert score_changes(table(OVERALL), table(("accuracy", "overall", "all", 0.5 + 1e-12))) == []


def test_a_changed_bound_is_a_difference() -> None:
    assert score_changes(table(OVERALL), table(OVERALL).assign(low=0.1)) == ["Changed: 1 of 1 scores."]


def test_many_groups_are_counted() -> None:
    groups = [("accuracy", "relation", f"P{number}", 0.5) for number in range(8)]
    (sentence,) = score_changes(table(OVERALL), table(OVERALL, *groups))
    assert sentence == "New groups of relation: P0, P1, P2, P3, P4, and 3 more."


TEMPLATES = 2


def rows_of(relations: Floats, right: Floats) -> pd.DataFrame:
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
        pd.concat([rows_of(relation, data[:, side + t]).assign(template=t) for t in range(TEMPLATES)])
        for side in (1, 3)
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
    rows = rows_of(np.zeros(n), np.maximum(-measured, 0)), rows_of(np.zeros(n), np.maximum(measured, 0))
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
        pair = {"a": rows_of(names, np.zeros(2 * relations)), "b": rows_of(names, changes)}
        difference = smallest_difference(pair, MACRO)
        assert difference
        smallest.append(difference.like_relations)
    draws = simulated_means(float(np.median(smallest)), relations, 4000, generator)
    assert np.mean(ttest_1samp(draws, 0, axis=1).pvalue < 0.05) == pytest.approx(0.8, abs=0.04)


def test_several_results_give_the_median_over_their_pairs() -> None:
    generator = np.random.default_rng(0)
    relations = np.repeat(np.arange(5), 40)
    tables = {str(skill): rows_of(relations, generator.random(200) < skill) for skill in (0.2, 0.5, 0.8)}
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
    first = rows_of(relations, np.array([1, 1, 0, 0, np.nan, 1]))
    second = rows_of(relations, np.array([1, 0, 1, 0, 1, np.nan]))
    expected = smallest_difference({"a": first[:4], "b": second[:4]})
    assert expected is not None
    assert smallest_difference({"a": first, "b": second}) == pytest.approx(expected, nan_ok=True)
    assert smallest_difference({"a": first[:1], "b": second}) is None
    assert smallest_difference({"a": first}) is None


def test_without_measurements_the_answers_are_taken_to_be_independent() -> None:
    assert pytest.approx(norm.ppf(0.975) + norm.ppf(0.8)) == ERRORS_OF_POWER
    smallest = assumed_difference(7731)
    assert (smallest.same_relations, smallest.pairs) == (pytest.approx(0.02253, abs=5e-6), 0)
    assert np.isnan(smallest.like_relations)


def test_it_is_told_in_a_sentence_also_where_results_agree_on_every_item() -> None:
    assert smallest_difference_in_words(assumed_difference(7731)).endswith("paired): 0.023 on these relations.")
    both = assumed_difference(7731)._replace(like_relations=0.05, pairs=1)
    assert smallest_difference_in_words(both).endswith("0.023 on these relations, 0.050 on other relations like these.")
    items = pd.MultiIndex.from_product([["P30"], range(4)], names=["relation", "index"])
    agreeing = difference_of_pair(pd.Series(0.0, index=items), macro=False)
    assert smallest_difference_in_words(agreeing).startswith(
        "Results that agree on every item do not tell how small a difference"
    )
