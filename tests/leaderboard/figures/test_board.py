"""The table of figures that pages read: what is in it, and when it is read again."""

import pytest
from django.core.cache import cache
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from pytest_django.fixtures import Settings

from leaderboard.figures.board import board, ends, groups_of, rows_of, with_value
from leaderboard.figures.verdicts import are_level, level_with
from leaderboard.models import Benchmark, Run
from tests.leaderboard import factories as make


def test_a_row_has_what_lists_say_of_a_score_its_run_and_its_model(tiny: Benchmark) -> None:
    model = make.model("openai/gpt2", parameters=7, weights_file="a.gguf", quantisation="Q4_1")
    run = make.finished(tiny, 0.5, model, settings={"pll": "original"}, settings_digest="d")
    make.score(run, 0.01, metric="accuracy_sem")
    (row,) = rows_of(board([tiny.pk], ["accuracy"]))
    assert (row.run, row.hub_id, row.family, row.parameters, row.step) == (run.pk, "openai/gpt2", "GPT-2", 7, None)
    assert (row.value, row.n, row.error, row.is_measured) == (0.5, 100, 0.01, True)
    assert (row.weights, row.settings) == ("Q4_1, 4 bits, GGUF", (("pll", "PLL original"),))
    groups = rows_of(board([tiny.pk], ["accuracy"], ["domain", "relation"]))
    assert [(row.dimension, row.group) for row in groups] == [("domain", "Arts"), ("relation", "P30")]


def test_only_figures_of_finished_runs_and_of_last_steps_are_there(tiny: Benchmark) -> None:
    for step in (1, 2):
        make.finished(tiny, step / 10, make.model("org/trained", step=step), settings_digest="d")
    make.score(make.running(make.model(), tiny), 0.5)
    make.finished(make.benchmark("other"))
    assert [row.value for row in rows_of(board([tiny.pk], ["accuracy"]))] == [0.2]
    assert rows_of(board([tiny.pk], ["another"])) == []


def test_a_score_without_a_value_is_there_and_not_known(tiny: Benchmark) -> None:
    make.finished(tiny, None)
    scores = board([tiny.pk], ["accuracy"])
    assert [row.value for row in rows_of(scores)] == [None]
    assert rows_of(with_value(scores)) == []


def test_some_groups_are_read_alone(tiny: Benchmark) -> None:
    run = make.finished(tiny)
    make.score(run, 0.75, "relation", "P36")
    scores = groups_of([tiny.pk], ["accuracy"], ["relation"], ["P36"])
    assert [(row.group, row.value) for row in rows_of(scores)] == [("P36", 0.75)]


def test_a_figure_is_level_with_the_best_by_both_intervals_or_standard_errors(tiny: Benchmark) -> None:
    for value, error in ((0.66, 0.01), (0.65, None), (0.6, None)):
        make.printed(tiny, [{"value": value, "error": error}])
    best, second, third = rows_of(board([tiny.pk], ["accuracy"]))
    assert ends(best) == pytest.approx((0.6404, 0.6796), abs=1e-4)
    assert [are_level(best, figure) for figure in (second, third)] == [True, False]
    assert level_with(best, [best, second, third]) == {best.run, second.run}
    assert not are_level(second, best), "nothing says how sure it is"


@pytest.fixture
def memory(settings: Settings) -> None:
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
    cache.clear()


@pytest.fixture
def measured(transactional_db: None, memory: None) -> Run:
    return make.finished(make.benchmark())


def values(benchmark: Benchmark) -> list[float]:
    return [row.value for row in rows_of(board([benchmark.pk], ["accuracy"]))]


def test_the_table_is_read_once_until_the_data_change(measured: Run) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            values(measured.benchmark)
        return len(captured)

    assert [queries(), queries()] == [5, 1]
    make.running(make.model(), measured.benchmark)
    assert [queries(), queries()] == [5, 1]
    measured.scores.update(value=0.75)
    assert values(measured.benchmark) == [0.75]


def test_nothing_is_kept_inside_a_transaction(measured: Run) -> None:
    try:
        with transaction.atomic():
            make.finished(measured.benchmark, 0.25)
            assert values(measured.benchmark) == [0.5, 0.25]
            raise RuntimeError
    except RuntimeError:
        assert values(measured.benchmark) == [0.5]
