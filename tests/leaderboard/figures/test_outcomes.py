"""Outcomes of single questions: stored when a run finishes, and counted over all runs."""

import pandas as pd
import pytest
from pytest_django import DjangoAssertNumQueries

from leaderboard.figures.outcomes import NOT_COUNTED, RIGHT, WRONG, answers_of, counts_of, outcomes_of, store_outcomes
from leaderboard.figures.ranks import refresh_standings
from leaderboard.models import Benchmark, RelationCounts, RelationOutcomes, Run
from tests.leaderboard import factories as make
from tests.leaderboard.conftest import Site

pytestmark = pytest.mark.django_db


def rows(*answers: tuple[int, int, bool | None], relation: str = "P30") -> pd.DataFrame:
    table = pd.DataFrame(answers, columns=["template", "index", "correct"])
    return table.assign(relation=relation, correct=table["correct"].astype("boolean"))


def finished(on: Benchmark, *answers: tuple[int, int, bool | None], **fields: object) -> Run:
    run = make.run(make.model(), on, Run.State.FINISHED, **fields)
    store_outcomes(run, rows(*answers))
    return run


def test_each_template_of_an_item_keeps_its_outcome(tiny: Benchmark) -> None:
    run = finished(tiny, (0, 7, True), (2, 7, False), (0, 900_000, None), (2, 900_000, True))
    outcomes = outcomes_of(run)["P30"]
    assert outcomes.of(7) == [RIGHT, NOT_COUNTED, WRONG]
    assert outcomes.of(900_000) == [NOT_COUNTED, NOT_COUNTED, RIGHT]
    assert outcomes.of(8) == outcomes.of(900_001) == []
    assert outcomes.shares.tolist() == [0.5, 1]


def test_the_share_of_an_item_that_never_counts_is_no_number(tiny: Benchmark) -> None:
    outcomes = outcomes_of(finished(tiny, (0, 1, None), (0, 2, True)))["P30"]
    assert pd.isna(outcomes.shares[0])
    assert outcomes.shares[1] == 1


def test_storing_outcomes_again_replaces_them(tiny: Benchmark) -> None:
    run = finished(tiny, (0, 1, True), (0, 2, True))
    store_outcomes(run, rows((0, 1, False)))
    assert outcomes_of(run)["P30"].of(1) == [WRONG]
    assert outcomes_of(run)["P30"].of(2) == []


def test_answers_are_counted_over_runs_that_were_asked_different_items_and_templates(tiny: Benchmark) -> None:
    finished(tiny, (0, 1, True), (0, 5, False))
    finished(tiny, (1, 1, True), (1, 3, None))
    finished(tiny, (0, 3, True), (0, 5, True), (1, 5, False))
    refresh_standings(tiny)
    counts = counts_of(tiny)["P30"]
    assert counts.items.tolist() == [1, 3, 5]
    assert counts.answered.tolist() == [[1, 1, 2], [1, 0, 1]]
    assert counts.right.tolist() == [[1, 1, 1], [1, 0, 0]]


def test_only_finished_runs_that_were_measured_here_are_counted(tiny: Benchmark) -> None:
    kept = finished(tiny, (0, 1, True))
    finished(tiny, (0, 1, False), provenance=Run.Provenance.THIRD_PARTY)
    unfinished = make.run(make.model(), tiny, Run.State.SCORING)
    store_outcomes(unfinished, rows((0, 1, False)))
    refresh_standings(tiny)
    assert counts_of(tiny)["P30"].answered.tolist() == [[1]]
    assert list(answers_of(tiny, ["P30"])["P30"]) == [kept.pk]


def test_a_deleted_run_is_no_longer_counted(tiny: Benchmark) -> None:
    finished(tiny, (0, 1, True)).delete()
    refresh_standings(tiny)
    assert not RelationOutcomes.objects.exists()
    assert not RelationCounts.objects.exists()


def test_outcomes_are_those_of_the_stored_items(site: Site) -> None:
    assert outcomes_of(site.first) == {}
    make.restore_figures(site.benchmark)
    stored = make.stored_rows(site.first)[["relation", "template", "index", "correct"]]
    outcomes = outcomes_of(site.first)
    for relation, template, index, correct in stored.itertuples(index=False):
        assert outcomes[relation].of(index)[template] == (RIGHT if correct else WRONG)


def test_answers_that_are_neither_right_nor_wrong_have_no_outcomes(tiny: Benchmark) -> None:
    tiny.probe = "perplexity"
    tiny.save()
    run = make.run(make.model(), tiny, Run.State.FINISHED)
    store_outcomes(run, pd.DataFrame({"relation": ["P30"], "template": [0], "index": [0], "true": [True]}))
    assert outcomes_of(run) == {}


def test_reading_the_answers_to_one_relation_takes_one_query(
    tiny: Benchmark, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(3):
        finished(tiny, (0, 1, True))
    with django_assert_num_queries(1):
        assert len(answers_of(tiny, ["P30", "P36"])["P30"]) == 3
