"""Scores: stored in the database, slices as text, breakdowns by dimension, and the best of each group."""

import pandas as pd
import pytest

from leaderboard.figures.benchmarks import replace_scores
from leaderboard.figures.scores import Slice, breakdowns, main_score, main_scores, slice_scores, slices
from leaderboard.models import Benchmark, Score
from tests.leaderboard import factories as make


def score(dimension: str, group: str, value: float | None, metric: str = "accuracy") -> Score:
    return Score(metric=metric, dimension=dimension, group=group, value=value, n=10)


@pytest.mark.parametrize("text", ["domain:Arts", "fact_type:river: countries", "domain:", "overall:all"])
def test_a_slice_reads_the_text_that_it_writes(text: str) -> None:
    assert str(Slice.parse(text)) == text


def test_the_group_of_a_slice_may_have_colons() -> None:
    assert Slice.parse("domain:a:b") == Slice("domain", "a:b")


def test_dimensions_keep_their_order_with_relations_and_templates_last() -> None:
    scores = [score(name, "x", 0.5) for name in ("template", "relation", "domain", "overall", "culture")]
    assert list(breakdowns(scores, "accuracy")) == ["domain", "culture", "relation", "template"]


def test_groups_come_by_score_and_those_without_a_value_last() -> None:
    scores = [score("domain", "low", 0.1), score("domain", "none", None), score("domain", "high", 0.9)]
    scores += [score("domain", "other", 0.5, "p_at_1")]
    groups = breakdowns(scores, "accuracy")["domain"]
    assert [group.name for group in groups] == ["high", "low", "none", "other"]
    assert groups[3].main is None


def test_templates_keep_their_order() -> None:
    scores = [score("template", "0", 0.1), score("template", "1", 0.9)]
    assert [group.name for group in breakdowns(scores, "accuracy")["template"]] == ["0", "1"]
    scores = [score("size", "10–99", 0.1), score("size", "1,000–9,999", 0.9)]
    assert [group.name for group in breakdowns(scores, "accuracy")["size"]] == ["10–99", "1,000–9,999"]


def test_a_group_has_its_scores_by_metric() -> None:
    scores = [score("domain", "Arts", 0.5), score("domain", "Arts", 0.1, "chance")]
    (group,) = breakdowns(scores, "accuracy")["domain"]
    assert (group.scores, group.main) == ({"accuracy": scores[0], "chance": scores[1]}, scores[0])


def test_hidden_dimensions_have_no_breakdown() -> None:
    assert list(breakdowns([score("domain", "x", 0.5), score("cell", "x", 0.5)], "accuracy", ["cell"])) == ["domain"]


def test_slices_are_those_of_measured_runs_if_there_are_any(tiny: Benchmark) -> None:
    groups = [("domain", "Arts"), ("domain", "Printed"), ("relation", "P30")]
    make.printed(tiny, [{"dimension": dimension, "part": part, "value": 0.5} for dimension, part in groups])
    both = [Slice(*group) for group in groups]
    assert slices(tiny, "accuracy") == both
    make.finished(tiny)
    assert slices(tiny, "accuracy") == [both[0], both[2]]
    assert slices(tiny, "accuracy", hidden=["relation"]) == [both[0]]


def test_scores_of_a_slice_come_the_best_first_and_those_without_a_value_last(tiny: Benchmark) -> None:
    for name, value in {"org/low": 0.2, "org/none": None, "org/high": 0.8}.items():
        make.finished(tiny, value, make.model(name))
    scores = slice_scores(tiny, "accuracy", "relation", "P30")
    assert [score.hub_id for score in scores] == ["org/high", "org/low", "org/none"]


def test_the_overall_score_is_in_the_main_metric_of_each_benchmark(tiny: Benchmark) -> None:
    other = make.benchmark("other", probe="ranking")
    runs = [make.finished(tiny, 0.3), make.run(make.model(), other, make.Run.State.FINISHED)]
    make.score(runs[1], 0.4)
    make.score(runs[1], 0.7, metric="p_at_1")
    scores = main_scores(runs)
    assert {run: score.value for run, score in scores.items()} == {runs[0].pk: 0.3, runs[1].pk: 0.7}


@pytest.mark.parametrize(
    ("groups", "chosen"),
    [
        (["arab-west ar", "arab-west en"], "arab-west en"),
        (["asia-west en", "arab-west ar"], "arab-west ar"),
        (["asia-west ko", "asia-west en", "south-america-west en"], "asia-west en"),
    ],
)
def test_a_run_on_several_pairs_and_languages_has_the_figure_of_one(
    groups: list[str], chosen: str, tiny: Benchmark
) -> None:
    run = make.finished(tiny, 0.5)
    for place, group in enumerate(groups):
        make.score(run, 0.1 * place, "culture_pair_language", group)
    stored = main_scores([run])[run.pk]
    assert (stored.dimension, stored.group) == ("culture_pair_language", chosen)
    assert main_score(run.scores.all(), "accuracy") == stored


@pytest.mark.django_db
def test_scores_replace_the_older_ones_and_missing_values_are_null() -> None:
    run = make.finished(make.benchmark())
    columns = {"metric": "accuracy", "dimension": "relation", "low": None, "high": float("nan")}
    replace_scores(run, pd.DataFrame({**columns, "group": ["P30", "P36"], "value": [0.5, None], "n": [4, 2]}))
    rows = run.scores.order_by("group").values_list("group", "value", "n", "low", "high")
    assert list(rows) == [("P30", 0.5, 4, None, None), ("P36", None, 2, None, None)]
