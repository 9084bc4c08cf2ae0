"""Template sensitivity: range and flips, against slow versions."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from probing.analysis.accuracy import SCORE_COLUMNS
from probing.analysis.wording_sensitivity import by_wording, template_scores
from tests.probing.analysis.figures import value


def rows_of(tables: dict[str, list[list[int]]]) -> pd.DataFrame:
    """Rows of relations, each with its outcomes by item and template; a prediction is 1 where it is right."""
    rows = [
        {"relation": name, "template": template, "index": index, "correct": bool(right), "prediction": right}
        for name, items in tables.items()
        for index, outcomes in enumerate(items)
        for template, right in enumerate(outcomes)
    ]
    return pd.DataFrame(rows)


P1 = [[1, 1], [1, 0], [1, 0], [1, 0]]
P2 = [[0, 0], [0, 0], [1, 1], [0, 1]]


def test_the_range_is_that_of_the_templates_accuracies() -> None:
    scores = template_scores(rows_of({"P1": P1, "P2": P2}))
    assert list(scores.columns) == SCORE_COLUMNS
    assert value(scores, "template_range") == pytest.approx(5 / 8 - 3 / 8)
    assert value(scores, "template_range", "relation", "P1") == pytest.approx(1 - 1 / 4)
    assert value(scores, "template_range", "relation", "P2") == pytest.approx(1 / 2 - 1 / 4)


def test_the_ends_of_the_range_are_taken_overall_by_relation_and_by_tag() -> None:
    rows = rows_of({"P1": P1, "P2": P2}).assign(domain="Arts")
    scores = template_scores(rows, ["domain"])
    for place in (("overall", "all"), ("domain", "Arts")):
        ends = [value(scores, metric, *place) for metric in ("template_lowest", "template_highest")]
        assert ends == pytest.approx([3 / 8, 5 / 8])
    assert value(scores, "template_lowest", "relation", "P2") == pytest.approx(1 / 4)


def test_groups_whose_items_were_not_put_with_each_template_have_no_ends() -> None:
    scores = template_scores(rows_of({"P1": P1, "P2": [[0], [1]]}))
    ends = scores[scores.metric == "template_lowest"]
    assert list(zip(ends["dimension"], ends["group"], strict=True)) == [("relation", "P1")]


def test_an_item_flips_if_two_of_its_predictions_differ() -> None:
    scores = template_scores(rows_of({"P1": P1, "P2": P2}))
    assert value(scores, "template_flips") == pytest.approx(4 / 8)
    assert value(scores, "template_flips", "relation", "P2") == pytest.approx(1 / 4)
    flips = scores[(scores.metric == "template_flips") & (scores.dimension == "overall")].iloc[0]
    assert (flips["n"], flips["low"] < 0.5 < flips["high"]) == (8, True)


def test_two_wrong_predictions_can_flip_too() -> None:
    rows = rows_of({"P1": [[0, 0]]}).assign(prediction=[2, 3])
    assert value(template_scores(rows), "template_flips") == 1


def test_one_template_gives_no_scores() -> None:
    assert template_scores(rows_of({"P1": [[1], [0]]})).empty


def test_relations_with_other_numbers_of_templates_have_no_common_range() -> None:
    scores = template_scores(rows_of({"P1": P1, "P2": [[0], [1]]}))
    assert set(scores[scores.metric == "template_range"]["dimension"]) == {"relation"}
    assert set(scores[scores.dimension == "relation"]["group"]) == {"P1"}


def test_the_accuracy_of_each_wording_is_listed() -> None:
    table = by_wording(rows_of({"P1": P1, "P2": P2}))
    assert table.to_numpy().tolist() == [["P1", 0, 1, 4], ["P1", 1, 0.25, 4], ["P2", 0, 0.25, 4], ["P2", 1, 0.5, 4]]


def test_versions_of_a_relation_are_kept_apart() -> None:
    pairs = ["arab-west"] * 8 + ["asia-west"] * 8
    rows = rows_of({"P1": [*P1, *P2]}).assign(culture_pair=pairs, language="en")
    assert by_wording(rows)["relation"].unique().tolist() == ["arab-west en P1", "asia-west en P1"]
    groups = template_scores(rows).query("dimension == 'culture_pair_language_relation'")["group"]
    assert set(groups) == {"arab-west en P1", "asia-west en P1"}


def test_flips_and_ranges_equal_those_counted_one_by_one() -> None:
    generator = np.random.default_rng(3)
    tables = {f"P{n}": generator.integers(0, 2, (n + 2, 3)).tolist() for n in range(5)}
    rows = rows_of(tables)
    scores = template_scores(rows)
    items = [item for table in tables.values() for item in table]
    flips = [any(first != second for first, second in pairwise(item)) for item in items]
    assert value(scores, "template_flips") == pytest.approx(sum(flips) / len(items))
    shares = [sum(item[number] for item in items) / len(items) for number in range(3)]
    assert value(scores, "template_range") == pytest.approx(max(shares) - min(shares))
