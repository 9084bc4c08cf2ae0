"""Both cultures of a pair: their rows, their chart, and how pairs, runs and relations are named."""

import shutil
from pathlib import Path

import pytest

from leaderboard.figures import benchmarks
from leaderboard.models import Benchmark, Run
from leaderboard.probes.culture.sides import both_sides, legend, named, objects_of, pair_title, sides, versions
from leaderboard.tables import Row
from tests.leaderboard import factories as make
from tests.leaderboard.ui.charts.plotted import plotted

pytestmark = pytest.mark.django_db


@pytest.fixture
def done() -> Run:
    """A run with figures of a pair, of one of its relations, and of what is no pair of two cultures."""
    run: Run = make.run(make.model("org/a"), make.benchmark(probe="ranking"), Run.State.FINISHED)
    for dimension, group, value, metric in (
        ("culture_pair_language_culture", "arab-west en West", 0.5, "p_at_1"),
        ("culture_pair_language_culture", "arab-west en Arab", 0.3, "p_at_1"),
        ("culture_pair_language", "arab-west en", 0.2, "culture_gap"),
        ("culture_pair_language_relation_culture", "arab-west en P37 Arab", 0.4, "p_at_1"),
        ("culture_pair_language_relation_culture", "arab-west en P37 West", 0.6, "p_at_1"),
        ("culture_pair_language_culture", "asia-west en Asia", 0.3, "p_at_1"),
        ("domain", "Arts", 0.9, "p_at_1"),
    ):
        make.score(run, value, dimension, group, metric=metric, low=None, high=None)
    return run


def of_run(run: Run) -> list[Row]:
    return named(sides([run]), run.benchmark)


def test_all_relations_come_first_the_west_is_second_and_one_culture_alone_is_left_out(done: Run) -> None:
    rows = [
        (row["relation"], row["cultures"], row["first"], row["second"], row["gap"], row["p"]) for row in sides([done])
    ]
    assert rows == [
        ("all", ["Arab", "West"], 0.3, 0.5, 0.2, None),
        ("P37", ["Arab", "West"], 0.4, 0.6, None, None),
    ]


def test_relations_have_names_and_link_nowhere_without_files(done: Run) -> None:
    assert [(row["title"], row["href"], row["template"]) for row in of_run(done)] == [
        ("All relations", "", ""),
        ("Official language", "", ""),
    ]


def test_both_cultures_are_drawn_and_a_missing_figure_leaves_a_gap(done: Run) -> None:
    done.scores.filter(group="arab-west en P37 Arab").update(value=None)
    chart = both_sides("predicates", "Arab and West", of_run(done))
    first, second = plotted(chart.figure).data
    assert (first.name, first.x[1], second.name, second.x[1]) == ("Arab", None, "West", 0.6)
    assert "in 0 of 1 relation" in chart.summary


def test_published_figures_are_hollow_and_those_of_several_runs_stand_under_their_relation(done: Run) -> None:
    rows = of_run(done)[1:]
    paper = make.published(done.benchmark)
    rows += [{**row, "run": paper, "model": "paper"} for row in rows]
    chart = both_sides("predicates", "Arab and West", rows)
    first, _ = plotted(chart.figure).data
    assert list(first.marker.symbol) == ["triangle-up", "triangle-up-open"]
    assert plotted(chart.figure).layout.yaxis.ticktext == ("<b>Official language</b><br>a", "paper")
    assert chart.summary.endswith(" Hollow markers are published figures.")
    assert legend([done]) == ""


def test_runs_are_told_apart_by_their_numbers_where_their_models_have_one_name(done: Run) -> None:
    rows = sides([done])
    other = make.run(make.model("group/a"), done.benchmark, Run.State.FINISHED)
    both = named([*rows, {**rows[0], "run": other}], done.benchmark)
    assert {row["model"] for row in both} == {f"a, run {done.pk}", f"a, run {other.pk}"}


@pytest.mark.parametrize(
    ("pair", "title"), [("arab-west", "Arab and West"), ("south-america-west", "South America and West")]
)
def test_a_pair_is_named_in_words(pair: str, title: str) -> None:
    assert pair_title(pair) == title


def test_runs_are_about_augmented_objects_unless_their_settings_say_otherwise() -> None:
    on = Benchmark(slug="culture", probe="ranking")
    assert objects_of(Run(benchmark=on, settings={})) == "augmented"
    assert objects_of(Run(benchmark=on, settings={"options": {"objects": "original"}})) == "original"


def test_a_benchmark_whose_files_cannot_be_read_has_no_versions(culture: Benchmark, data: Path) -> None:
    address, template = versions(culture)["arab-west", "en", "augmented", "P37"]
    assert address.endswith("/relations/P37.arab-west.en/") and "[X]" in template
    benchmarks._read_files.cache_clear()
    shutil.rmtree(data / culture.path)
    assert versions(culture) == {}
