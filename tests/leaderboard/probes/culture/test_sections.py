"""Sections about culture pairs: rows, columns and charts of both sides, and how pairs and runs are named."""

import shutil
from pathlib import Path

import pytest

from leaderboard.figures import benchmarks
from leaderboard.models import Benchmark, Model, Run, Score
from leaderboard.probes.culture.pair_sections import gaps, languages
from leaderboard.probes.culture.sides import (
    ChartLine,
    Sides,
    both_sides,
    gaps_forest,
    legend,
    objects_of,
    pair_title,
    predicate_cell,
    run_names,
    side_columns,
    sides,
    versions,
)
from tests.leaderboard import factories as make
from tests.leaderboard.ui.charts.plotted import plotted

BENCHMARK = Benchmark(slug="culture", probe="ranking")


def run(pk: int, hub_id: str = "org/a", provenance: Run.Provenance = Run.Provenance.MEASURED) -> Run:
    return Run(pk=pk, model=Model(hub_id=hub_id), benchmark=BENCHMARK, provenance=provenance)


def row(of: Run, gap: float | None = None, language: str = "en", **values: float | None) -> Sides:
    """Both cultures of a pair with these values, and with the ends of the gap's interval, `low` and `high`."""
    ends = {name: values.pop(name, None) for name in ("low", "high")}
    shown = values or {"Arab": 0.5, "West": 0.5}
    cultures = {name: Score(metric="p_at_1", value=value, n=10) for name, value in shown.items()}
    score = None if gap is None else Score(metric="culture_gap", value=gap, n=20, **ends)
    return Sides(of, "arab-west", language, "", cultures, score, None)


def test_no_rows_have_no_sections() -> None:
    assert (gaps([]), languages([])) == (None, None)


def test_a_single_language_is_not_set_beside_itself() -> None:
    assert languages([row(run(1), 0.1)]) is None


def test_the_summary_counts_the_intervals_that_exclude_zero() -> None:
    rows = [row(run(1), 0.2, low=0.1, high=0.3), row(run(1), 0.1, "ar", low=-0.1, high=0.3), row(run(1), 0.1, "fr")]
    section = gaps(rows)
    assert section
    assert section.chart
    assert section.chart.summary == ("P@1 of the first culture minus that of the West; 1 of 2 intervals exclude zero.")


def test_a_chart_needs_two_gaps_but_the_table_has_every_row() -> None:
    section = gaps([row(run(1), 0.2), row(run(1), None, "ar")])
    assert section
    assert section.table
    assert (section.chart, len(section.table.rows)) == (None, 2)


def test_columns_of_rows_with_different_cultures_have_general_names() -> None:
    rows = [row(run(1), 0.1, Arab=0.5, West=0.4), row(run(1), 0.1, Asia=0.5, West=0.4)]
    titles = {column.name: column.title for column in side_columns(rows)}
    assert (titles["first"], titles["second"]) == ("First culture", "West")


def test_a_column_of_the_first_culture_never_holds_the_west() -> None:
    turned = row(run(1), 0.1, West=0.4, Arab=0.5)
    values = {column.name: column.cell(turned).value for column in side_columns([turned])}
    assert (values["first"], values["second"], values["gap"], values["p"]) == (0.5, 0.4, 0.1, None)


def test_both_sides_are_drawn_and_a_missing_score_leaves_a_gap() -> None:
    line = ChartLine(row(run(1), None, Arab=None, West=0.4), "Arab and West", "en")
    first, second = plotted(both_sides([line], ["first culture", "West"])).data
    assert first.x[0] is None
    assert (second.name, second.x[0]) == ("West", 0.4)


def test_a_line_without_a_gap_is_not_drawn() -> None:
    lines = [ChartLine(row(run(1), gap, Arab=0.5, West=0.4), "Arab and West", str(gap)) for gap in (0.1, None)]
    assert sum(len(trace.x) for trace in plotted(gaps_forest(lines)).data if trace.x is not None) == 1


def test_published_figures_are_hollow_and_all_others_are_filled() -> None:
    lines = [ChartLine(row(run(1), 0.1, Arab=0.5, West=0.4), "Arab and West", name) for name in ("here", "paper")]
    lines[1].row.run.provenance = Run.Provenance.PUBLISHED
    first, second = plotted(both_sides(lines, ["first culture", "West"])).data
    assert list(first.marker.symbol) == ["triangle-up", "triangle-up-open"], "cultures differ by shape as well"
    assert list(second.marker.symbol) == ["triangle-down", "triangle-down-open"]
    symbols = {trace.y[0]: trace.marker.symbol for trace in plotted(gaps_forest(lines)).data}
    assert symbols == {"Arab and West, here": "circle", "Arab and West, paper": "circle-open"}
    assert legend(line.row.run for line in lines) == " Hollow markers are published figures."
    assert legend([lines[0].row.run]) == ""


@pytest.mark.parametrize(
    ("pair", "title"), [("arab-west", "Arab and West"), ("south-america-west", "South America and West")]
)
def test_a_pair_is_named_in_words(pair: str, title: str) -> None:
    assert pair_title(pair) == title


def test_the_west_is_the_second_culture_of_a_pair() -> None:
    assert [name for name, _ in row(run(1), West=0.5, Zulu=0.4).ordered] == ["Zulu", "West"]


def test_one_run_needs_no_name() -> None:
    assert run_names([row(run(1, "org/a")), row(run(1, "org/a"))]) == {}


def test_runs_are_named_by_their_model_and_with_their_number_where_several_have_one_name() -> None:
    first, second, other = run(1, "org/a"), run(2, "group/a"), run(3, "org/b")
    assert run_names([row(first), row(other)]) == {1: "a", 3: "b"}
    assert run_names([row(first), row(second)]) == {1: "a, run 1", 2: "a, run 2"}


def test_runs_are_about_augmented_objects_unless_their_settings_say_otherwise() -> None:
    on = Benchmark(slug="culture", probe="ranking")
    assert objects_of(Run(benchmark=on, settings={})) == "augmented"
    assert objects_of(Run(benchmark=on, settings={"options": {"objects": "original"}})) == "original"


def test_scores_of_pairs_and_of_predicates_are_apart_and_one_culture_alone_is_left_out(db: None) -> None:
    done = make.run(make.model(), make.benchmark(probe="ranking"), Run.State.FINISHED)

    def score(dimension: str, group: str, value: float, metric: str = "p_at_1") -> None:
        make.score(done, value, dimension, group, metric=metric, low=None, high=None)

    score("culture_pair_language_culture", "arab-west en Arab", 0.3)
    score("culture_pair_language_culture", "arab-west en West", 0.5)
    score("culture_pair_language", "arab-west en", 0.2, "culture_gap")
    score("culture_pair_language_relation_culture", "arab-west en P37 Arab", 0.4)
    score("culture_pair_language_relation_culture", "arab-west en P37 West", 0.6)
    score("culture_pair_language_culture", "asia-west en Asia", 0.3)
    score("domain", "Arts", 0.9)
    (whole,), (predicate,) = sides([done])
    assert (whole.pair, whole.language, whole.relation, whole.difference) == ("arab-west", "en", "", 0.2)
    assert {name: score.value for name, score in predicate.cultures.items()} == {"Arab": 0.4, "West": 0.6}
    assert (predicate.relation, predicate.gap) == ("P37", None)


def test_a_predicate_of_files_that_are_not_here_links_nowhere(db: None) -> None:
    without_files: Benchmark = make.benchmark(probe="ranking")
    cell = predicate_cell(without_files, ("arab-west", "en", "augmented", "P37"))
    assert (cell.text, cell.href, cell.note) == ("Official language", "", "")


def test_a_benchmark_whose_files_cannot_be_read_has_no_versions(culture: Benchmark, data: Path) -> None:
    assert ("arab-west", "en", "augmented", "P37") in versions(culture.pk)
    versions.cache_clear()
    benchmarks._read_files.cache_clear()
    shutil.rmtree(data / culture.path)
    assert versions(culture.pk) == {}
