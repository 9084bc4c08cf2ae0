"""Accuracy, ties and baselines, against slow counts and the figures of papers."""

from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import sem

from probing.analysis.accuracy import SCORE_COLUMNS, baseline_scores, tied, ties_in_words, with_ties
from probing.analysis.details import without_details
from probing.baselines import UniformModel
from probing.benchmark import Benchmark
from probing.formats import bear
from probing.probes.choices import choice_row
from probing.probes.multiple_choice import MultipleChoice
from probing.runner import run
from probing.settings import Settings
from probing.template import prompt
from tests.fakes import FakeModel
from tests.few_relations import few_relations
from tests.probing.analysis.figures import value

PROBE = MultipleChoice()


@pytest.fixture
def rows(benchmark: Benchmark, model: FakeModel) -> pd.DataFrame:
    parts = [(relation, template) for relation in benchmark.relations for template in range(3)]
    frames = [PROBE.frame(list(PROBE.rows(model, relation, template, Settings()))) for relation, template in parts]
    return pd.concat(frames, ignore_index=True)


def test_scores_are_tidy_with_chance_and_what_follows_from_ranks(rows: pd.DataFrame) -> None:
    scores = PROBE.scores(rows)
    assert list(scores.columns) == SCORE_COLUMNS
    assert not scores.duplicated(["metric", "dimension", "group"]).any()
    dimensions = set(without_details(scores)["dimension"])
    assert dimensions == {"overall", "template", "relation", "domain", "cardinality"}
    assert value(scores, "chance") == pytest.approx((4 / 3 + 2 / 2) / 6)
    assert value(scores, "chance", "relation", "P36") == pytest.approx(0.5)
    assert value(scores, "precision_at_5") == 1
    assert value(scores, "mean_reciprocal_rank") == pytest.approx((1 / rows["rank"]).mean())


def test_overall_accuracy_is_the_mean_over_templates(rows: pd.DataFrame) -> None:
    by_template = rows.groupby("template")["correct"].mean()
    scores = PROBE.scores(rows)
    assert value(scores, "accuracy") == pytest.approx(by_template.mean())
    assert value(scores, "accuracy_sem") == pytest.approx(sem(by_template))
    assert value(scores, "accuracy", "template", "1") == pytest.approx(by_template[1])
    assert set(scores[scores.dimension == "overall"]["n"]) == {6}


def test_items_with_fewer_templates_than_others_and_a_single_template_have_no_spread(rows: pd.DataFrame) -> None:
    some = rows[(rows.template == 0) | (rows.relation == "P30")]
    for part in (some, rows[rows.template == 0]):
        assert "accuracy_sem" not in set(PROBE.scores(part)["metric"])


def test_unknown_ranks_give_no_ranking(rows: pd.DataFrame) -> None:
    rows.loc[0, "rank"] = pd.NA
    assert {"precision_at_5", "mean_reciprocal_rank"}.isdisjoint(PROBE.scores(rows)["metric"])


def test_rows_read_back_from_parquet_give_the_same_scores(rows: pd.DataFrame) -> None:
    stored = BytesIO()
    rows.to_parquet(stored)
    pd.testing.assert_frame_equal(PROBE.scores(pd.read_parquet(stored)), PROBE.scores(rows))


def test_the_real_bear_has_the_papers_supports_and_chance(real_bear: Path) -> None:
    rows = [
        {"relation": relation.id, "template": 0}
        | choice_row(
            relation,
            prompt(relation.templates[0], item.subject),
            item,
            -np.arange(size, dtype=float),
            np.ones(size, dtype=bool),
        )
        for relation in bear.read(real_bear).relations
        for size in [len(relation.answer_space)]
        for item in relation.items
    ]
    scores = PROBE.scores(PROBE.frame(rows))
    domains = scores[(scores.metric == "accuracy") & (scores.dimension == "domain")].set_index("group")["n"]
    assert domains.to_dict() == {
        **{"Biographical": 2028.5, "Arts": 1368, "Geographic": 1226, "Movies": 975, "Economic": 770},
        **{"Sports": 455, "Historical": 393.5, "Scientific": 360, "Political": 155},
    }
    assert value(scores, "chance") == pytest.approx(0.046824, abs=5e-7)
    # Always the first option is right as often as chance where answers are balanced.
    assert value(scores, "accuracy") == pytest.approx(value(scores, "chance"))


few_values = st.lists(st.sampled_from([-3.0, -2.5, -1.0]), min_size=1, max_size=6)


@given(st.lists(few_values, min_size=1, max_size=8))
def test_ties_equal_a_slow_count(scores: list[list[float]]) -> None:
    assert tied(pd.Series(scores)).tolist() == [values.count(max(values)) > 1 for values in scores]


def scored(*scores: list[float], templates: int = 1) -> pd.DataFrame:
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
    table = scored(*[[-3.0, -2.5, -2.5, -7.0]] * 2, *[[-1.0, -2.0]] * 38)
    (score,) = with_ties(pd.DataFrame(), table).to_dict("records")
    assert (score["metric"], score["dimension"], score["group"]) == ("ties", "overall", "all")
    assert (score["value"], score["n"]) == (0.05, 40)
    assert ties_in_words(score["value"], score["n"]).startswith("Ties: of 2 of 40 items (5.00%) several options share")


def test_templates_share_the_weight_of_an_item() -> None:
    table = scored([-1.0, -1.0], [-1.0, -2.0], [-1.0, -2.0], [-1.0, -2.0], [-1.0, -2.0], [-1.0, -2.0], templates=3)
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
    scores = run(UniformModel(), few_relations(slug), probe=probe, sample=2, progress=False).scores
    (share,) = scores.loc[scores["metric"] == "ties", "value"]
    assert share == 1


def test_a_model_that_prefers_one_option_has_no_ties(benchmark: Benchmark) -> None:
    scores = run(FakeModel(), benchmark, progress=False).scores
    assert scores.loc[scores["metric"] == "ties", "value"].tolist() == [0]


def rows_of(relations: dict[str, list[str]], templates: int = 1) -> pd.DataFrame:
    """Rows of relations, each with the labels of its items' answers; options are these labels in the alphabet."""
    rows = []
    for relation, labels in relations.items():
        space = sorted(set(labels))
        for index, label in enumerate(labels):
            answer = space.index(label)
            item = {"relation": relation, "index": index, "answer": answer, "answers": [answer], "answer_label": label}
            rows += [{**item, "template": number, "scores": [0.0] * len(space)} for number in range(templates)]
    return pd.DataFrame(rows)


# The worked example of the methods page.
RELATIONS = {"P1": ["a", "a", "a", "b"], "P2": ["b", "b", "b", "a", "a", "c"]}


def values(scores: pd.DataFrame, metric: str, dimension: str = "overall") -> list[float]:
    matching = scores[(scores.metric == metric) & (scores.dimension == dimension)]
    return matching["value"].tolist()


def test_the_worked_example_of_the_methods_page() -> None:
    scores = baseline_scores(rows_of(RELATIONS), [])
    assert list(scores.columns) == SCORE_COLUMNS
    assert values(scores, "majority_answer", "relation") == [3 / 4, 3 / 6]
    assert values(scores, "majority_answer") == pytest.approx([6 / 10])
    assert values(scores, "most_frequent_answer", "relation") == [3 / 4, 2 / 6]
    assert values(scores, "most_frequent_answer") == pytest.approx([5 / 10])


def test_items_count_once_however_many_templates_they_have() -> None:
    once, thrice = (baseline_scores(rows_of(RELATIONS, templates), []) for templates in (1, 3))
    pd.testing.assert_frame_equal(once, thrice)


def test_they_are_broken_down_by_tags() -> None:
    rows = rows_of(RELATIONS)
    scores = baseline_scores(rows.assign(domain=[["Arts", "Sports"]] * 4 + [["Arts"]] * 6), ["domain"])
    assert values(scores, "majority_answer", "domain") == pytest.approx([(3 / 2 + 3) / (4 / 2 + 6), 3 / 4])


def test_any_of_several_right_answers_counts() -> None:
    rows = rows_of({"P1": ["a", "b", "c"]})
    rows["answers"] = [[0], [1, 2], [2]]
    assert values(baseline_scores(rows, []), "majority_answer") == pytest.approx([2 / 3])


def test_options_that_differ_between_items_have_no_baselines() -> None:
    rows = rows_of({"P1": ["a", "b"]})
    assert baseline_scores(rows.assign(answer=0), []).empty
    assert baseline_scores(rows.assign(scores=[[0.0], [0.0, 0.0]]), []).empty


def test_two_versions_of_a_relation_have_answer_spaces_of_their_own() -> None:
    rows = rows_of({"P1": ["a", "b", "b", "c", "d", "d"]})
    rows["answer"] = [0, 1, 1, 0, 1, 1]
    rows["answers"] = rows["answer"].map(lambda answer: [answer])
    versions = rows.assign(culture_pair=["x"] * 3 + ["y"] * 3, language="en", scores=[[0.0, 0.0]] * 6)
    assert values(baseline_scores(versions, []), "majority_answer") == pytest.approx([4 / 6])
