"""The front page's columns: which runs count, which metric and which items they are about."""

from dataclasses import replace

import pytest

from leaderboard.figures.overview import Column, Row, figures_on, model_rows, parts_by_slug, read, versions
from leaderboard.figures.scores import OVERALL_SLICE, Slice
from leaderboard.models import Benchmark, Model, Run
from leaderboard.pages.overview_page import all_columns
from leaderboard.probes import PAGES
from leaderboard.probes.benchmark_words import TOPICS
from probing.analysis.culture_metrics import PAIR_IN_LANGUAGE
from tests.leaderboard import factories as make


def shown(*benchmarks: Benchmark) -> Column:
    """Return the column of one benchmark, given its versions."""
    metrics = ("accuracy", "other_metric")
    column = Column(benchmarks, "Tiny", "Facts", metrics, OVERALL_SLICE)
    (shown,) = read([column], figures_on({column.slug: benchmarks}, metrics))
    return shown


def rows_on(*benchmarks: Benchmark) -> list[Row]:
    return model_rows([shown(benchmark) for benchmark in benchmarks])


def published(on: Benchmark, value: float, hub_id: str, parameters: int | None = None) -> None:
    of = make.model(hub_id, source=Model.Source.PUBLISHED, parameters=parameters, kind="")
    make.published(on, value, of)


def test_a_benchmark_comes_with_the_version_of_its_published_figures(tiny: Benchmark) -> None:
    make.benchmark(version="v0", current=False)
    elsewhere = make.benchmark(version="published", current=False)
    alone = make.benchmark("alone", version="published")
    assert versions() == {"tiny": [tiny, elsewhere], "alone": [alone]}


def test_facts_about_the_model_come_from_what_was_measured(tiny: Benchmark) -> None:
    published(tiny, 0.9, "org/a", parameters=7)
    measured = make.finished(make.benchmark("other"), 0.4, make.model("org/a", parameters=8, kind="masked"))
    (row,) = rows_on(tiny, measured.benchmark)
    assert (row["kind"], row["parameters"], row["coverage"], row["measured"]) == ("masked", 8, 2, 1)


def test_a_result_from_elsewhere_comes_before_a_paper_and_after_a_measurement(tiny: Benchmark) -> None:
    published(tiny, 0.1, "org/a")
    make.finished(tiny, 0.2, make.model("org/a"), provenance=Run.Provenance.ELSEWHERE)
    assert rows_on(tiny)[0]["figures"]["tiny"].value == 0.2
    make.finished(tiny, 0.3, make.model("org/a"))
    published(tiny, 0.4, "org/a")
    assert rows_on(tiny)[0]["figures"]["tiny"].value == 0.3


def test_the_first_metric_that_a_model_has_is_the_column(tiny: Benchmark) -> None:
    run = make.run(make.model(), tiny, Run.State.FINISHED)
    make.score(run, 0.7, metric="other_metric")
    assert (shown(tiny).metric, shown(tiny).references) == ("other_metric", {})
    make.baseline(tiny, 0.1)
    make.finished(tiny, 0.5)
    assert (shown(tiny).metric, shown(tiny).references["chance"]) == ("accuracy", 0.1)
    assert len(shown(tiny).figures) == 1, "the figure in the other metric is not shown"


def test_a_model_that_waits_has_a_row_before_any_figure(tiny: Benchmark) -> None:
    make.running(make.model("org/waiting", parameters=7), tiny)
    (row,) = rows_on(tiny)
    assert (row["hub_id"], row["parameters"], row["coverage"], row["apart"]) == ("org/waiting", 7, 0, set())


def test_a_benchmark_without_models_has_no_column(tiny: Benchmark) -> None:
    make.baseline(tiny)
    make.finished(tiny, None)
    column = Column([tiny], "Tiny", "Facts", ["accuracy"], OVERALL_SLICE)
    assert read([column], figures_on({"tiny": [tiny]}, ["accuracy"])) == []


def test_what_people_reach_is_known_from_papers_on_any_version(tiny: Benchmark) -> None:
    elsewhere = make.benchmark(version="published", current=False)
    make.published(elsewhere, 0.97, name="Human", baseline=True)
    make.published(elsewhere, 0.6, name="Freq", baseline=True)
    make.finished(tiny, 0.5)
    column = shown(tiny, elsewhere)
    assert (column.references, len(column.figures)) == ({"human": 0.97}, 1)


def test_a_figure_about_other_items_gives_way_to_one_about_these(tiny: Benchmark) -> None:
    elsewhere = make.benchmark(version="published", current=False)
    published(elsewhere, 0.9, "org/a")
    column = shown(tiny, elsewhere)
    assert column.comparable == column.figures
    published(tiny, 0.3, "org/a")
    published(elsewhere, 0.8, "org/b")
    column = shown(tiny, elsewhere)
    assert {hub_id: figure.value for (hub_id, _), figure in column.comparable.items()} == {"org/a": 0.3}
    assert len(column.figures) == 2


def test_the_number_format_that_the_site_chose_is_usual(tiny: Benchmark) -> None:
    for hub_id, parameters in (("org/a", 10**11), ("org/b", 10**7)):
        of = make.model(hub_id, parameters=parameters, stored_dtype="bfloat16")
        make.finished(tiny, 0.5, of, settings={"probe": "multiple_choice", "dtype": "bfloat16"})
    assert [row["hub_id"] for row in rows_on(tiny)] == ["org/a"]


def test_quantised_weights_are_another_row_than_the_model(tiny: Benchmark) -> None:
    published(tiny, 0.9, "org/a")
    file = {"source": Model.Source.LOCAL, "weights_file": "a-Q4_1.gguf", "quantisation": "Q4_1"}
    make.finished(tiny, 0.4, make.model("org/a", **file))
    make.running(make.model("org/a", **file), make.benchmark("other"), done=25)
    of_file = ("org/a", "Q4_1, 4 bits, GGUF, local file")
    assert [(row["key"], row["figures"]["tiny"].value) for row in rows_on(tiny)] == [
        (of_file, 0.4),
        (("org/a", ""), 0.9),
    ]
    assert list(shown(Benchmark.objects.get(slug="other")).waiting) == [of_file]


def test_figures_that_are_no_shares_have_no_best(tiny: Benchmark) -> None:
    for value in (0.5, 0.6):
        make.finished(tiny, value)
    column = shown(tiny)
    assert len(column.best_of(column.figures)) == 2
    above_one = {key: figure._replace(value=figure.value + 1) for key, figure in column.figures.items()}
    assert replace(column, figures=above_one).best_of(above_one) == set()


@pytest.mark.parametrize(("error", "number"), [(0.01, 2), (None, 0)])
def test_a_stated_standard_error_tells_which_published_figures_are_the_best(
    tiny: Benchmark, error: float | None, number: int
) -> None:
    for value in (0.66, 0.65, 0.5):
        make.printed(tiny, [{"value": value, "error": error}])
    column = shown(tiny)
    assert len(column.best_of(column.figures)) == number


def test_every_probe_has_a_topic_with_a_question() -> None:
    assert {pages.topic for pages in PAGES.values()} == set(TOPICS)


def test_benchmarks_with_languages_and_no_pairs_follow_the_language_of_the_chosen_pair(db: None) -> None:
    culture, languages = (make.benchmark(slug, probe="ranking") for slug in ("culture", "languages"))
    for benchmark, dimension, parts in (
        (culture, PAIR_IN_LANGUAGE, ["arab-west ar", "arab-west ko"]),
        (languages, "language", ["es", "ar", "en"]),
    ):
        run = make.run(make.model(), benchmark, Run.State.FINISHED)
        for part in parts:
            make.score(run, 0.5, dimension, part, metric="p_at_1")
    for chosen, language in (("arab-west ar", "Arabic"), ("arab-west ko", "English")):  # of which it has no Korean
        columns, parts_offered = all_columns(chosen)
        assert [part["title"] for part in parts_offered] == ["Arab and West, in Arabic", "Arab and West, in Korean"]
        assert [part["value"] for part in parts_offered if part["is_chosen"]] == [chosen]
        assert columns[1].title == f"Languages, in {language}"


def parts() -> dict[str, list[Slice]]:
    return parts_by_slug(versions(), figures_on(versions(), ["p_at_1"]))


def test_measured_languages_go_before_the_pairs_of_published_figures(db: None) -> None:
    culture = make.benchmark("culture", probe="ranking")
    make.printed(culture, [{"value": 0.5, "dimension": PAIR_IN_LANGUAGE, "part": "arab-west ar", "metric": "p_at_1"}])
    assert parts() == {"culture": [Slice(PAIR_IN_LANGUAGE, "arab-west ar")]}
    run = make.run(make.model(), culture, Run.State.FINISHED)
    for language in ("ar", "en"):
        make.score(run, 0.5, "language", language, metric="p_at_1")
    assert parts() == {"culture": [Slice("language", "en"), Slice("language", "ar")]}
