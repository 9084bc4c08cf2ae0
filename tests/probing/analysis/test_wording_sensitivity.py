"""Template sensitivity: range, flips and components of variance, against slow versions."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from probing.analysis.accuracy import SCORE_COLUMNS
from probing.analysis.wording_sensitivity import (
    COMPONENTS,
    VARIANCE_SHARES,
    by_wording,
    template_scores,
    variance_components,
    variance_shares,
)
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


def test_the_worked_example_of_the_methods_page() -> None:
    first, second = [[1, 1], [1, 1], [1, 0], [1, 0]], [[0, 0], [0, 0], [0, 0], [1, 1]]
    components = variance_components(rows_of({"P1": first, "P2": second}))
    assert components == pytest.approx({"relation": 1 / 16, "item": 1 / 8, "template": 1 / 24, "item_template": 1 / 12})
    shares = variance_shares(components)
    assert [round(shares[name], 3) for name in COMPONENTS] == [0.2, 0.4, 0.133, 0.267]


def slow_components(rows: pd.DataFrame) -> dict[str, float]:
    """Set the sums of squares equal to their expectations, with a projection matrix for each line of the ANOVA."""
    item = rows["relation"] + " " + rows["index"].astype(str)
    template = rows["relation"] + " " + rows["template"].astype(str)
    cell = item + " " + rows["template"].astype(str)
    designs = [indicators(labels) for labels in (rows["relation"], item, template, cell)]
    mean = projection(np.ones((len(rows), 1)))
    relations, items, templates = (projection(design) for design in designs[:3])
    within = items + templates - relations
    lines = [relations - mean, items - relations, templates - relations, np.eye(len(rows)) - within]
    outcomes = rows["correct"].to_numpy(dtype=float)
    expected = [[np.trace(line @ design @ design.T) for design in designs] for line in lines]
    squares = [outcomes @ line @ outcomes for line in lines]
    return dict(zip(COMPONENTS, np.linalg.solve(expected, squares), strict=True))


def indicators(labels: pd.Series) -> NDArray[np.float64]:
    return pd.get_dummies(labels).to_numpy(dtype=float)


def projection(design: NDArray[np.float64]) -> NDArray[np.float64]:
    return design @ np.linalg.pinv(design)


outcomes = st.tuples(st.integers(2, 5), st.integers(2, 4)).flatmap(
    lambda size: st.lists(
        st.lists(st.integers(0, 1), min_size=size[1], max_size=size[1]), min_size=size[0], max_size=size[0]
    )
)


@given(st.lists(outcomes, min_size=2, max_size=4))
def test_components_equal_those_of_projection_matrices(tables: list[list[list[int]]]) -> None:
    rows = rows_of({f"P{number}": table for number, table in enumerate(tables)})
    assert variance_components(rows) == pytest.approx(slow_components(rows), abs=1e-9)


@pytest.mark.slow
def test_components_are_unbiased() -> None:
    generator = np.random.default_rng(7)
    truth = {"relation": 0.5, "item": 1.0, "template": 0.25, "item_template": 2.0}
    estimates = [variance_components(simulated(generator, truth)) for _ in range(300)]
    for name in COMPONENTS:
        values = [estimate[name] for estimate in estimates]
        assert abs(np.mean(values) - truth[name]) < 4 * np.std(values) / len(values) ** 0.5


def simulated(generator: np.random.Generator, truth: dict[str, float]) -> pd.DataFrame:
    """Outcomes with these components; they need not be 0 or 1."""
    frames = []
    for name, n, k in (("P1", 6, 3), ("P2", 12, 3), ("P3", 4, 2), ("P4", 9, 3), ("P5", 5, 2)):
        parts = {part: variance**0.5 for part, variance in truth.items()}
        values = generator.normal(0, parts["relation"]) + generator.normal(0, parts["item_template"], (n, k))
        values += generator.normal(0, parts["item"], (n, 1)) + generator.normal(0, parts["template"], (1, k))
        places = np.indices((n, k)).reshape(2, -1)
        frames.append(
            pd.DataFrame({"relation": name, "index": places[0], "template": places[1], "correct": values.ravel()})
        )
    return pd.concat(frames, ignore_index=True)


def test_a_single_relation_has_no_component_of_relations() -> None:
    assert set(variance_components(rows_of({"P1": P1}))) == {"item", "template", "item_template"}


def test_outcomes_that_do_not_vary_have_no_shares() -> None:
    scores = template_scores(rows_of({"P1": [[1, 1], [1, 1]], "P2": [[1, 1], [1, 1]]}))
    assert not set(VARIANCE_SHARES.values()) & set(scores["metric"])


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=4).filter(lambda values: max(values) > 1e-6))
def test_shares_are_never_negative_and_sum_to_one(values: list[float]) -> None:
    shares = variance_shares(dict(zip(COMPONENTS, values, strict=False)))
    assert sum(shares.values()) == pytest.approx(1)
    assert min(shares.values()) >= 0


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
