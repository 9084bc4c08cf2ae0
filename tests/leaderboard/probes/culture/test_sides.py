"""Both cultures of a pair: which scores belong to a row, and how pairs and runs are named."""

import shutil
from pathlib import Path

import pytest

from leaderboard.figures import benchmarks
from leaderboard.models import Benchmark, Model, Run, Score
from leaderboard.probes.culture.sides import Sides, objects_of, pair_title, predicate_cell, run_names, sides, versions
from tests.leaderboard import factories as make


def row(run: Run, **values: float) -> Sides:
    cultures = {name: Score(metric="p_at_1", value=value, n=10) for name, value in values.items()}
    return Sides(run, "arab-west", "en", "", cultures, None, None)


def run(pk: int, hub_id: str) -> Run:
    return Run(pk=pk, model=Model(hub_id=hub_id))


@pytest.mark.parametrize(
    ("pair", "title"), [("arab-west", "Arab and West"), ("south-america-west", "South America and West")]
)
def test_a_pair_is_named_in_words(pair: str, title: str) -> None:
    assert pair_title(pair) == title


def test_the_west_is_the_second_culture_of_a_pair() -> None:
    assert [name for name, _ in row(run(1, "org/a"), West=0.5, Zulu=0.4).ordered] == ["Zulu", "West"]


def test_one_run_needs_no_name() -> None:
    assert run_names([row(run(1, "org/a")), row(run(1, "org/a"))]) == {}


def test_runs_are_named_by_their_model_and_with_their_number_where_a_model_has_several() -> None:
    first, second, other = run(1, "org/a"), run(2, "org/a"), run(3, "org/b")
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
