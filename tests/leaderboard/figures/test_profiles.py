"""Profiles of models: their families, their figures beside those of similar size, what they know best and least."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from leaderboard.figures.board import board, rows_of
from leaderboard.figures.profiles import medians, profile
from leaderboard.figures.scores import main_scores
from leaderboard.pages.model_page import extremes
from leaderboard.tables import Row
from tests.leaderboard import factories as make

SAME_SETTINGS = "5" * 64  # a digest


def test_a_training_stands_beside_a_model_with_its_last_step(db: None) -> None:
    tiny = make.benchmark()
    own = make.finished(tiny, 0.5, make.model("org/own", parameters=100))
    for step, value in ((20, 0.7), (10, 0.3)):  # the earlier step was measured last
        trained = make.model("org/trained", step=step, parameters=100)
        make.finished(tiny, value, trained, settings_digest=SAME_SETTINGS)
    (row,) = profile("org/own", [own], 100)
    assert [figure.value for figure in row["similar"]] == [0.7]


def plans(captured: CaptureQueriesContext) -> list[str]:
    """Return for each query how SQLite finds its rows."""
    with connection.cursor() as cursor:
        return [str(cursor.execute(f"EXPLAIN QUERY PLAN {query['sql']}").fetchall()) for query in captured]


def test_medians_are_those_of_measured_runs_in_the_groups_that_are_named(db: None) -> None:
    tiny = make.benchmark()
    runs = [make.finished(tiny, value, make.model(f"org/{value}")) for value in (0.2, 0.4, 0.9)]
    for run, value in zip(runs, (0.1, 0.3, 0.8), strict=True):
        make.score(run, value, "domain", "Sport")
    make.published(tiny, 0.99)
    figures = rows_of(board([tiny.pk], ["accuracy"]))
    assert medians(figures, "accuracy", "domain", ["Arts"]) == {"Arts": 0.4}
    assert medians(figures, "accuracy", "domain", ["Arts", "Sport"]) == {"Arts": 0.4, "Sport": 0.3}


@pytest.mark.skipif(connection.vendor != "sqlite", reason="Only SQLite describes its plan in these words.")
def test_scores_are_looked_up_run_by_run(db: None) -> None:
    """To read the scores of all runs and choose among them takes ten times as long with a thousand models."""
    tiny = make.benchmark()
    runs = [make.finished(tiny, 0.5, make.model(f"org/{number}")) for number in range(3)]
    figures = rows_of(board([tiny.pk], ["accuracy"]))
    with CaptureQueriesContext(connection) as captured:
        assert len(main_scores(runs)) == len(runs)
        assert medians(figures, "accuracy", "domain", ["Arts"])
    assert len(captured) == 2
    by_run = re.compile(r"metric=\? AND run_id=\?|run_id=\? AND metric=\?")
    assert all(by_run.search(plan) for plan in plans(captured))


def test_the_figure_of_a_benchmark_with_parts_is_of_the_part_that_all_pages_show_first(db: None) -> None:
    culture = make.benchmark("culture", probe="ranking")
    of = make.model("published/name", commit="", source="published")
    about = {"dimension": "culture_pair_language", "metric": "p_at_1"}
    runs = [
        make.printed(culture, [{**about, "part": pair, "value": value}], of)
        for pair, value in (("arab-west en", 0.3), ("south-america-west en", 0.4))
    ]
    (row,) = profile(of.hub_id, runs, None)
    assert (row["score"].group, row["score"].value) == ("arab-west en", 0.3)


def group(name: str, value: float, n: float, low: float, chance: float = 0.25) -> Row:
    return {"title": name, "value": value, "n": n, "low": low, "chance": chance}


@pytest.mark.parametrize(
    ("groups", "best", "least"),
    [
        (
            [group("Few", 1.0, 6, 0.6), group("Arts", 0.7, 50, 0.5), group("Sport", 0.2, 50, 0.1)],
            ["Arts"],
            ["Sport"],
        ),
        ([group("Arts", 0.3, 50, 0.2), group("Sport", 0.2, 50, 0.1)], [], ["Sport"]),
        ([group("Arts", 0.7, 50, 0.5), group("Few", 0.0, 3, 0.0)], [], []),
    ],
)
def test_superlatives_rest_on_enough_questions(groups: list[Row], best: list[str], least: list[str]) -> None:
    named_best, named_least = extremes(groups)
    assert [one["title"] for one in named_best] == best
    assert [one["title"] for one in named_least] == least
