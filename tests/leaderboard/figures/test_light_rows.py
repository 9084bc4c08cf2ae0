"""Rows of tables with only some of their fields."""

from types import SimpleNamespace

from leaderboard.figures.runs import finished_runs, light_rows, read_field, read_records, runs_on
from leaderboard.models import Benchmark, Model, Run
from tests.leaderboard import factories as make


def test_a_light_row_reads_a_left_out_field_when_it_is_used(db: None, django_assert_num_queries) -> None:
    make.model("org/a", licence="mit")
    with django_assert_num_queries(1):
        (row,) = light_rows(Model, Model._default_manager.all(), without=["licence"])
        assert row.hub_id == "org/a"
    with django_assert_num_queries(1):
        assert row.licence == "mit"


def test_a_field_is_read_for_all_rows_at_once(db: None, django_assert_num_queries) -> None:
    for licence in ("mit", "apache-2.0"):
        make.model(licence=licence)
    rows = light_rows(Model, Model._default_manager.order_by("pk"), without=["licence"])
    with django_assert_num_queries(1):
        read_field(rows, "licence")
        read_field(rows, "licence")
        assert [row.licence for row in rows] == ["mit", "apache-2.0"]


def test_the_runs_of_a_benchmark_say_the_same_as_whole_rows(tiny: Benchmark) -> None:
    make.published(tiny, provenance_record={"source": {"title": "A paper"}})
    make.finished(tiny, 0.5, make.model("org/a", weights_file="a.gguf", quantisation="Q4_1"))
    make.finished(tiny, 0.6, make.model("org/b"), settings={"seed": 3})
    make.finished(tiny, 0.6, make.model("org/b"), provenance_record={"device": "cpu"})

    def facts(runs: list[Run]) -> list[tuple[object, ...]]:
        return [
            (run.pk, run.name, run.settings, run.settings_group, run.finished, run.benchmark, run.provenance_record)
            for run in sorted(runs, key=lambda run: run.pk)
        ]

    assert facts(runs_on(tiny)) == facts(list(finished_runs(tiny)))


def test_records_of_measured_runs_are_read_for_the_rows_of_a_page_alone(
    tiny: Benchmark, django_assert_num_queries
) -> None:
    make.published(tiny), make.finished(tiny)
    with django_assert_num_queries(1):
        runs = runs_on(tiny)
        assert [run.provenance_record for run in runs if run.is_published] == [{}]
    with django_assert_num_queries(1):
        read_records(SimpleNamespace(run=run) for run in runs)
        assert [run.provenance_record for run in runs] == [{}, {}]
