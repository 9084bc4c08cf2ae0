"""Lists of benchmarks, models and runs."""

from leaderboard.figures.runs import (
    ANY_VERSION,
    benchmarks,
    finished_runs,
    measured_runs,
    model_versions,
    models_named,
    read_records,
    runs_beside,
    runs_on,
    runs_with_items,
    with_printed,
)
from leaderboard.figures.standings import published_version
from leaderboard.models import Benchmark, Model, Run
from tests.leaderboard import factories as make


def test_benchmarks_count_models_and_the_most_measured_come_first(tiny: Benchmark) -> None:
    other, printed = make.benchmark("other"), make.benchmark("printed")
    twice = make.model()
    for of in (twice, twice, make.model()):
        make.finished(other, of=of)
    make.finished(tiny)
    make.published(printed)
    make.running(make.model(), tiny)
    rows = [(benchmark.slug, benchmark.measured, benchmark.published) for benchmark in benchmarks()]
    assert rows == [("other", 2, 0), ("tiny", 1, 0), ("printed", 0, 1)]


def test_figures_of_no_particular_version_are_counted_with_the_current_one_and_listed_apart(tiny: Benchmark) -> None:
    version = make.benchmark(version=ANY_VERSION, current=False)
    printed = make.published(version)
    same = make.published(tiny)
    make.published(tiny, baseline=True)
    assert with_printed(tiny) == [same]
    assert with_printed(version) == [printed]
    assert published_version(tiny) == version
    assert published_version(version) is None
    assert benchmarks().get().published == 2


def test_a_version_without_figures_is_not_the_published_one(tiny: Benchmark) -> None:
    make.benchmark(version=ANY_VERSION, current=False)
    assert published_version(tiny) is None


def test_runs_of_older_versions_are_not_listed(tiny: Benchmark) -> None:
    make.finished(make.benchmark(version="v0", current=False))
    assert not finished_runs(tiny).exists()
    assert [benchmark.version for benchmark in benchmarks()] == ["v1"]


def test_only_measured_runs_that_are_finished_are_measured_runs(tiny: Benchmark) -> None:
    make.published(tiny)
    make.running(make.model(), tiny)
    older, newer = make.finished(tiny), make.finished(tiny)
    assert list(measured_runs()) == [newer, older]


def test_runs_with_items_were_measured_here_or_measured_elsewhere(tiny: Benchmark) -> None:
    make.published(tiny)
    make.finished(tiny)
    measured = make.finished(tiny, artefact="runs/1")
    uploaded = make.finished(tiny, artefact="runs/2", provenance=Run.Provenance.ELSEWHERE)
    assert list(runs_with_items()) == [uploaded, measured]


def test_a_run_tells_its_commit_where_its_model_was_measured_at_another_one(tiny: Benchmark) -> None:
    first = make.finished(tiny, of=make.model("org/a", commit="a" * 40))
    assert finished_runs(tiny).get().variant == ""
    make.finished(make.benchmark("other"), of=make.model("org/a", commit="c" * 40))
    assert finished_runs(tiny).get().variant == "", "only commits on the same benchmark need to be told apart"
    second = make.finished(tiny, of=make.model("org/a", commit="b" * 40))
    variants = {run: run.variant for run in finished_runs(tiny)}
    assert variants == {first: "commit aaaaaaa", second: "commit bbbbbbb"}


def test_a_run_that_was_read_otherwise_does_not_tell_its_commit(tiny: Benchmark) -> None:
    for commit in "ab":
        make.finished(tiny, of=make.model("org/a", commit=commit * 40))
    assert [run.several_commits for run in Run.objects.all()] == [False, False]


def test_runs_of_the_same_model_stand_beside_a_run(tiny: Benchmark) -> None:
    of = make.model("org/a")
    runs = [make.finished(tiny, of=of), make.finished(tiny, of=of)]
    make.finished(tiny)
    assert runs_beside(runs[1]) == runs


def test_a_model_that_is_only_published_comes_after_its_commits(db: None) -> None:
    commits = [make.model("org/a") for _ in range(2)]
    printed = make.model("org/a", commit="", source=Model.Source.PUBLISHED)
    assert list(model_versions("org/a")) == [commits[1], commits[0], printed]


def test_models_are_named_once_and_baselines_never(tiny: Benchmark) -> None:
    for _ in range(2):
        make.finished(tiny, of=make.model("org/chancellor"))
    make.published(tiny, of=make.model("org/chance"), baseline=True)
    make.published(tiny, of=make.model("org/chances"))
    make.model("org/chance-without-a-run")
    assert [model.hub_id for model in models_named("CHANCE")] == ["org/chancellor", "org/chances"]


def test_the_records_of_runs_are_read_at_once(tiny: Benchmark, django_assert_num_queries) -> None:
    for device in ("cpu", "cuda"):
        make.finished(tiny, provenance_record={"device": device})
    runs = runs_on(tiny)
    with django_assert_num_queries(1):
        read_records(runs)
        read_records(runs)
        assert {run.provenance_record["device"] for run in runs} == {"cpu", "cuda"}


def test_the_runs_of_a_benchmark_say_the_same_as_whole_rows(tiny: Benchmark) -> None:
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
    make.finished(tiny)
    with django_assert_num_queries(1):
        runs = runs_on(tiny)
    with django_assert_num_queries(1):
        read_records(runs)
        assert [run.provenance_record for run in runs] == [{}]
