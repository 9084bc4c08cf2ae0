"""What is known, said and declined: the worked example of the methods, wordings, and probabilities."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from probing.analysis.intervals import wilson
from probing.analysis.know_say import (
    DECLINES,
    KEEPS_IT,
    KNOWN,
    OUTCOMES,
    RESPONSES,
    SAID,
    SAYS_ANYWAY,
    SAYS_IT,
    SAYS_WRONG,
    WITH_LEAVE,
    crossed,
    index_differences,
    know_say_scores,
    known_facts,
    model_differences,
    right_probability,
    said_by_known,
    share_differences,
    way_differences,
)
from probing.analysis.paired_tests import compare
from probing.errors import BadInput

# Ten facts: whether each is known, and what is said without and with leave to decline.
EXAMPLE = [
    *[(True, "correct", "correct")] * 4,
    (True, "wrong", "wrong"),
    (True, "declined", "declined"),
    (False, "correct", "declined"),
    (False, "wrong", "declined"),
    (False, "wrong", "declined"),
    (False, "declined", "declined"),
]
TEXTS = {"correct": "It is the Right One.", "wrong": "another", "declined": "I don't know."}


def options(known: list[bool], templates: int = 1) -> pd.DataFrame:
    """Return rows of four options each, of which the first is right and has e times the weight where it is known."""
    rows = [
        {
            **{"relation": f"R{index % 2}", "template": template, "index": index, "subject_id": "", "domain": ["D"]},
            **{"answers": [0], "answer": 0, "answer_label": "right one", "correct": is_known},
            **{"scores": [1.0, 0.0, 0.0, 0.0] if is_known else [0.0, 1.0, 0.0, 0.0], "exact": [True] * 4},
        }
        for index, is_known in enumerate(known)
        for template in range(templates)
    ]
    return known_facts(pd.DataFrame(rows))


def responses(kinds: list[str], templates: int = 1) -> pd.DataFrame:
    rows = [
        {
            **{"relation": f"R{index % 2}", "template": template, "index": index},
            **{"prediction_label": TEXTS[kind], "correct_normalised": kind == "correct"},
        }
        for index, kind in enumerate(kinds)
        for template in range(templates)
    ]
    return pd.DataFrame(rows)


@pytest.fixture
def example() -> pd.DataFrame:
    known, said, with_leave = (list(column) for column in zip(*EXAMPLE, strict=True))
    return crossed(options(known), {SAID: responses(said), WITH_LEAVE: responses(with_leave)})


def overall(scores: pd.DataFrame, way: str) -> pd.DataFrame:
    return scores[(scores["dimension"] == "overall") & (scores["way"] == way)].set_index("metric")


def test_the_worked_example_of_the_methods(example: pd.DataFrame) -> None:
    scores = know_say_scores(example, [SAID, WITH_LEAVE], ["domain"], penalty=0.5)
    values = overall(scores, SAID)["value"]
    expected = {SAYS_IT: 0.4, SAYS_ANYWAY: 0.1, KEEPS_IT: 0.2, SAYS_WRONG: 0.2, DECLINES: 0.1}
    assert values[list(OUTCOMES)].to_dict() == pytest.approx(expected)
    assert values[list(RESPONSES)].tolist() == pytest.approx([0.5, 0.3, 0.2])
    assert values["correct_of_attempted"] == pytest.approx(5 / 8)
    assert values["index"] == pytest.approx(0.5 - 0.5 * 0.3)
    assert overall(scores, WITH_LEAVE)["value"]["index"] == pytest.approx(0.4 - 0.5 * 0.1)
    known = overall(scores, KNOWN).loc["known"]
    assert (known["value"], known["chance"], known["n"]) == pytest.approx((0.6, 0.25, 10))
    chance = overall(scores, SAID)["chance"]
    assert chance[list(OUTCOMES)].tolist() == pytest.approx([0.125, 0.375, 0.125, 0.225, 0.15])
    assert chance[list(RESPONSES)].isna().all()
    index = overall(scores, SAID).loc["index"]
    assert (index["low"], index["high"]) == pytest.approx((-0.0551, 0.7033), abs=1e-4)
    assert set(scores["group"]) == {"all", "R0", "R1", "D"}


def test_each_penalty_is_another_index(example: pd.DataFrame) -> None:
    def index(penalty: float) -> float:
        return float(overall(know_say_scores(example, [SAID], penalty=penalty), SAID)["value"]["index"])

    assert [index(0), index(1)] == pytest.approx([0.5, 0.2])
    with pytest.raises(BadInput, match=r"cannot be 1\.5"):
        index(1.5)


def test_ways_are_compared_item_by_item(example: pd.DataFrame) -> None:
    table = way_differences(example, [SAID, WITH_LEAVE], penalty=0.5)
    rows = table[table["dimension"] == "overall"].set_index(["metric", "from", "to"])
    assert rows.loc[("right", KNOWN, SAID), "difference"] == pytest.approx(-0.1)
    assert rows.loc[("right", KNOWN, SAID), ["gained", "lost"]].tolist() == [1, 2]
    assert rows.loc[("declined", SAID, WITH_LEAVE), "difference"] == pytest.approx(0.3)
    assert rows.loc[("wrong", SAID, WITH_LEAVE), "difference"] == pytest.approx(-0.2)
    index = rows.loc[("index", SAID, WITH_LEAVE)]
    assert index["difference"] == pytest.approx(0.0)
    assert index["low"] < index["difference"] < index["high"]
    assert np.isnan(index["p"])
    shares = share_differences(example, [SAID, WITH_LEAVE])
    pd.testing.assert_frame_equal(shares, table[table["metric"] != "index"].astype(shares.dtypes))
    assert (rows["n"] == 10).all()
    assert rows[["low", "high"]].notna().all(axis=None)


@pytest.mark.parametrize("templates", [1, 3])
def test_differences_of_all_groups_are_those_of_comparing_two_results(templates: int) -> None:
    random = np.random.default_rng(0)
    said, leave = (random.choice(RESPONSES, 300, p=p).tolist() for p in ([0.5, 0.4, 0.1], [0.4, 0.2, 0.4]))
    one, other = responses(said, templates), responses(leave, templates)
    table = crossed(options([True] * 300, templates), {SAID: one, WITH_LEAVE: other})
    table["subject_id"], table["language"] = "Q" + (table["index"] // 4).astype(str), "en"  # two items ask for a fact
    rows = share_differences(table, [SAID, WITH_LEAVE], ["domain"]).query("metric == 'wrong'")
    results = {name: table.assign(correct=table[name] == "wrong") for name in (SAID, WITH_LEAVE)}
    expected = compare(results, ["domain"])
    figures = ["dimension", "group", "n", "first", "second", "difference", "gained", "lost", "p", "p_holm"]
    same = rows[figures].reset_index(drop=True)
    pd.testing.assert_frame_equal(same, expected[figures], check_dtype=False, rtol=1e-12)
    assert (rows["low"] < rows["difference"]).all() and (rows["difference"] < rows["high"]).all()
    width, bootstrap = (table["high"].to_numpy() - table["low"].to_numpy() for table in (rows, expected))
    assert width == pytest.approx(bootstrap, rel=0.05)


def test_a_difference_of_the_index_is_that_of_what_responses_gain() -> None:
    random = np.random.default_rng(1)
    said, leave = (random.choice(RESPONSES, 200).tolist() for _ in range(2))
    table = crossed(options([True] * 200), {SAID: responses(said), WITH_LEAVE: responses(leave)})
    gains = {"correct": 1.0, "wrong": -0.3, "declined": 0.0}
    change = table[WITH_LEAVE].map(gains) - table[SAID].map(gains)
    rows = index_differences(table, [SAID, WITH_LEAVE], 0.3, ["overall", "relation"]).set_index("group")
    for group, part in [("all", change), *change.groupby(table["relation"])]:
        row, error = rows.loc[group], part.std() / len(part) ** 0.5
        assert row["difference"] == pytest.approx(part.mean())
        assert (row["gained"], row["lost"]) == ((part > 0).sum(), (part < 0).sum())
        normal = [row["difference"] - 1.96 * error, row["difference"] + 1.96 * error]
        assert row[["low", "high"]].tolist() == pytest.approx(normal, abs=0.1 * error)


def test_the_same_item_in_other_wordings_counts_once() -> None:
    known, said, _ = (list(column) for column in zip(*EXAMPLE, strict=True))
    one = crossed(options(known, templates=3), {SAID: responses(said)})
    assert len(one) == 30
    same = crossed(options(known, templates=3), {SAID: responses(said, templates=3)})
    assert len(same) == 30, "wordings are matched where both have the same"
    for table in (one, same):
        scores = overall(know_say_scores(table, [SAID]), SAID)
        assert scores.loc[SAYS_IT, ["value", "n"]].tolist() == pytest.approx([0.4, 10])


def test_an_index_that_no_item_changes_has_the_interval_of_pairs_that_agree() -> None:
    facts, same = options([True] * 40), responses(["correct", "wrong"] * 20)
    table = crossed(facts, {SAID: same, WITH_LEAVE: same})
    rows = way_differences(table, [SAID, WITH_LEAVE], penalty=0.5).query("dimension == 'overall'").set_index("metric")
    half = wilson(0, 40)[1]
    assert rows.loc["correct", ["low", "high"]].tolist() == pytest.approx([-half, half])
    assert rows.loc["index", ["low", "high"]].tolist() == pytest.approx([-1.5 * half, 1.5 * half])


def test_an_item_that_is_declined_in_one_wording_counts_as_half_an_attempt() -> None:
    facts = options([True, True], templates=2)
    said = responses(["correct", "wrong"], templates=2)
    said.loc[(said["index"] == 0) & (said["template"] == 1), ["prediction_label", "correct_normalised"]] = ("", False)
    scores = overall(know_say_scores(crossed(facts, {SAID: said}), [SAID]), SAID)
    assert scores.loc["correct_of_attempted", ["value", "n"]].tolist() == pytest.approx([0.5 / 1.5, 1.5])


def test_two_models_are_compared_in_each_way(example: pd.DataFrame) -> None:
    said = [response for _, response, _ in EXAMPLE]
    instruct = crossed(options([True] * 8 + [False] * 2), {SAID: responses(said)})
    rows = model_differences(example, instruct, [SAID]).set_index(["way", "metric"])
    assert rows.loc[(KNOWN, "right"), "difference"] == pytest.approx(0.2)
    assert rows.loc[(SAID, "correct"), "difference"] == 0


def test_the_probability_of_several_right_options_is_their_sum() -> None:
    row: dict[str, Any] = {"scores": [0.0, 0.0, np.log(2)], "answers": [0, 2], "exact": [True] * 3}
    assert right_probability(pd.DataFrame([row])).tolist() == pytest.approx([0.75])


def test_what_is_said_is_calibrated_by_what_is_known(example: pd.DataFrame) -> None:
    curve = said_by_known(example, SAID)
    assert curve["accuracy"].tolist() == pytest.approx([1 / 4, 4 / 6])
    assert curve["confidence"].tolist() == pytest.approx([1 / (3 + np.e), np.e / (3 + np.e)])
    bounded = {"scores": [1.0, 0.0], "exact": [True, False], "answers": [0], "correct": True}
    facts = options([True, False]).assign(probability=known_facts(pd.DataFrame([bounded] * 2))["probability"])
    assert said_by_known(crossed(facts, {SAID: responses(["correct"] * 2)}), SAID).empty


def test_other_names_of_the_answer_count() -> None:
    names = {("R1", 1): ["Another"], ("R0", 0): ["not"]}
    table = crossed(options([True] * 3), {SAID: responses(["wrong"] * 3)}, names)
    assert table[SAID].tolist() == ["wrong", "correct", "wrong"]


def test_results_without_a_common_item_are_refused() -> None:
    with pytest.raises(BadInput, match="no item in common"):
        crossed(options([True]), {SAID: responses(["wrong"]).assign(index=7)})
