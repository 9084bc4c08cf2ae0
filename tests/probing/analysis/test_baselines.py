"""Baselines that know how often answers are right."""

import pandas as pd
import pytest

from probing.analysis.accuracy import SCORE_COLUMNS, baseline_scores


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
