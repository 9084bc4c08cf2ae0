"""The overview: which runs count, its filters, and what it shows of each benchmark."""

from types import SimpleNamespace

import pytest

from leaderboard.figures.filters import OverviewFilter
from leaderboard.figures.leaders import folded, leader, ranked
from leaderboard.figures.overview import (
    BenchmarkColumn,
    Measure,
    ModelKey,
    ModelRow,
    Overview,
    open_runs,
    overview,
    parts_by_slug,
    versions,
)
from leaderboard.figures.scores import OVERALL_SLICE, Slice
from leaderboard.models import Benchmark, Model, Run
from leaderboard.pages.overview_page import measures, parts_offered
from leaderboard.probes import PAGES
from leaderboard.probes.benchmark_words import TOPICS
from probing.analysis.culture_metrics import PAIR_IN_LANGUAGE
from tests.leaderboard import factories as make

METRICS = ("accuracy", "other_metric")


def shown(*benchmarks: Benchmark) -> Overview:
    return overview([Measure("Tiny", "Facts", benchmarks, METRICS, OVERALL_SLICE)])


def published(on: Benchmark, value: float, hub_id: str, parameters: int | None = None) -> Run:
    of = make.model(hub_id, source=Model.Source.PUBLISHED, parameters=parameters, kind="")
    return make.finished(on, value, of, provenance=Run.Provenance.PUBLISHED)


def test_a_benchmark_comes_with_the_version_of_its_published_figures(tiny: Benchmark) -> None:
    make.benchmark(version="v0", current=False)
    elsewhere = make.benchmark(version="published", current=False)
    alone = make.benchmark("alone", version="published")
    assert versions() == {"tiny": [tiny, elsewhere], "alone": [alone]}


def test_facts_about_the_model_come_from_what_was_measured(tiny: Benchmark) -> None:
    published(tiny, 0.9, "org/a", parameters=7)
    measured = make.finished(make.benchmark("other"), 0.4, make.model("org/a", parameters=8, kind="masked"))
    other = Measure("Other", "Facts", [measured.benchmark], METRICS, OVERALL_SLICE)
    (row,) = overview([Measure("Tiny", "Facts", [tiny], METRICS, OVERALL_SLICE), other]).rows
    assert (row.kind, row.parameters, row.coverage, row.measured) == ("masked", 8, 2, 1)


def test_a_result_from_elsewhere_comes_before_a_paper_and_after_a_measurement(tiny: Benchmark) -> None:
    for value, provenance in ((0.1, "published"), (0.2, "elsewhere")):
        make.finished(tiny, value, make.model("org/a"), provenance=provenance)
    assert shown(tiny).rows[0].figures["tiny"].value == 0.2
    make.finished(tiny, 0.3, make.model("org/a"))
    published(tiny, 0.4, "org/a")
    assert shown(tiny).rows[0].figures["tiny"].value == 0.3


def test_the_first_metric_that_a_model_has_is_the_column(tiny: Benchmark) -> None:
    run = make.run(make.model(), tiny, Run.State.FINISHED)
    make.score(run, 0.7, metric="other_metric")
    assert [(column.metric, column.chance) for column in shown(tiny).columns] == [("other_metric", None)]
    make.baseline(tiny, 0.1)
    make.finished(tiny, 0.5)
    assert [(column.metric, column.chance) for column in shown(tiny).columns] == [("accuracy", 0.1)]
    assert shown(tiny).rows[0].coverage == 1, "the figure in the other metric is not shown"


def test_a_model_that_waits_has_a_row_before_any_figure(tiny: Benchmark) -> None:
    make.running(make.model("org/waiting", parameters=7), tiny)
    (row,) = shown(tiny).rows
    assert (row.hub_id, row.parameters, row.coverage, row.published_apart) == ("org/waiting", 7, 0, set())
    (column,) = shown(tiny).columns
    assert not column.figures


def test_a_benchmark_without_models_has_no_column(tiny: Benchmark) -> None:
    make.baseline(tiny)
    make.finished(tiny, None)
    empty = shown(tiny)
    assert (empty.columns, empty.rows, empty.updated) == ([], [], None)


def test_a_published_guess_is_the_chance_where_none_was_computed(tiny: Benchmark) -> None:
    of = make.model("published/random-baseline")
    make.finished(tiny, 0.05, of, provenance=Run.Provenance.BASELINE)
    make.finished(tiny, 0.95, make.model("published/human"), provenance=Run.Provenance.BASELINE)
    published(tiny, 0.5, "org/a")
    assert shown(tiny).columns[0].chance == 0.05
    assert shown(tiny).columns[0].human.value == 0.95
    make.baseline(tiny, 0.1)
    assert shown(tiny).columns[0].chance == 0.1


def test_a_figure_about_other_items_gives_way_to_one_about_these(tiny: Benchmark) -> None:
    elsewhere = make.benchmark(version="published", current=False)
    published(elsewhere, 0.9, "org/a")
    (column,) = shown(tiny, elsewhere).columns
    assert not column.is_about_other_items(column.figures[ModelKey("org/a")])
    published(tiny, 0.3, "org/a")
    published(elsewhere, 0.8, "org/b")
    (column,) = shown(tiny, elsewhere).columns
    assert column.figures[ModelKey("org/a")].value == 0.3
    assert column.is_about_other_items(column.figures[ModelKey("org/b")])


def test_the_number_format_that_the_site_chose_is_usual(tiny: Benchmark) -> None:
    large = make.model("org/a", parameters=10**11, stored_dtype="bfloat16")
    make.finished(tiny, 0.5, large, settings={"probe": "multiple_choice", "dtype": "bfloat16"})
    small = make.model("org/b", parameters=10**7, stored_dtype="bfloat16")
    make.finished(tiny, 0.5, small, settings={"probe": "multiple_choice", "dtype": "bfloat16"})
    assert [row.hub_id for row in shown(tiny).rows] == ["org/a"]


def test_it_was_updated_when_the_last_measurement_finished(tiny: Benchmark) -> None:
    run = make.finished(tiny)
    assert shown(tiny).updated == run.finished


def test_quantised_weights_are_another_row_than_the_model(tiny: Benchmark) -> None:
    published(tiny, 0.9, "org/a")
    file = {"source": Model.Source.LOCAL, "weights_file": "a-Q4_1.gguf", "quantisation": "Q4_1"}
    make.finished(tiny, 0.4, make.model("org/a", **file))
    make.running(make.model("org/a", **file), make.benchmark("other"), done=25)
    rows = shown(tiny).rows
    of_file = ("org/a", "Q4_1, 4 bits, GGUF, local file")
    assert [(row.key, row.figures["tiny"].value) for row in rows] == [(of_file, 0.4), (("org/a", ""), 0.9)]
    assert {key: len(runs) for key, runs in open_runs(rows).items()} == {of_file: 1}


def test_figures_that_are_no_shares_have_no_best(tiny: Benchmark) -> None:
    make.finished(tiny, 0.5)
    of = shown(tiny)
    (column,) = of.columns
    (row,) = of.rows
    figure = row.figures["tiny"]._replace(value=1.5)
    other = BenchmarkColumn(column.measure, column.metric, column.version, None, {row.key: figure})
    assert ranked([ModelRow(row.key, "causal", 7, {"tiny": figure})], other) == []


@pytest.mark.parametrize(
    ("names", "firsts"),
    [
        (["org/a-7b", "org/a-7b-Instruct", "org/a-7b-GGUF"], ["org/a-7b"]),
        (["org/a-Instruct-v0.1", "org/a-v0.1"], ["org/a-Instruct-v0.1"]),
        (["org/a-4bit", "org/a-Q4_K_M", "org/a-base"], ["org/a-4bit"]),
        (["org/a-7b", "other/a-7b-Instruct", "org/a-8b"], ["org/a-7b", "other/a-7b-Instruct", "org/a-8b"]),
        (["org/bert-base-cased", "org/bert-large-cased"], ["org/bert-base-cased", "org/bert-large-cased"]),
    ],
)
def test_variants_are_told_by_their_names(names: list[str], firsts: list[str]) -> None:
    rows = [ModelRow(ModelKey(name), "causal", None, {}) for name in names]
    assert [key.hub_id for key in folded(rows)] == firsts


def test_models_of_another_size_are_no_variants() -> None:
    rows = [
        ModelRow(ModelKey(name), "causal", size, {}) for name, size in (("org/a", 10**9), ("org/a-chat", 2 * 10**9))
    ]
    assert len(folded(rows)) == 2
    alike = [ModelRow(ModelKey("org/a"), "causal", 10**9, {}), ModelRow(ModelKey("org/a", "Q4_1"), "causal", 10**9, {})]
    assert folded(alike) == {alike[0].key: [alike[1]]}


def test_a_stated_standard_error_makes_published_models_level(tiny: Benchmark) -> None:
    for name, value in (("a", 0.66), ("b", 0.65), ("c", 0.5)):
        run = make.published(tiny, value)
        run.scores.update(low=None, high=None)
        make.score(run, 0.01, metric="accuracy_sem")
        run.model.hub_id = f"org/{name}"
        run.model.save()
    of = shown(tiny)
    (column,) = of.columns
    best = leader(ranked(of.rows, column))
    assert best is not None
    assert ([row.hub_id for row in best.level], best.next) == (["org/b"], None)
    bold = {key.hub_id for key, figure in column.figures.items() if column.is_among_the_best(figure)}
    assert bold == {"org/a", "org/b"}


def test_without_any_interval_none_is_bold_and_the_next_is_named(tiny: Benchmark) -> None:
    for value in (0.631, 0.629):
        make.published(tiny, value).scores.update(low=None, high=None)
    of = shown(tiny)
    (column,) = of.columns
    assert not any(column.is_among_the_best(figure) for figure in column.figures.values())
    best = leader(ranked(of.rows, column))
    assert best is not None and best.next is not None
    assert (best.level, best.next[0].value) == ([], 0.629)


def row(
    hub_id: str, *provenances: str, kind: str = "causal", parameters: int | None = 10**8, weights: str = ""
) -> ModelRow:
    figures = {
        f"benchmark-{place}": SimpleNamespace(is_measured=provenance == "measured")
        for place, provenance in enumerate(provenances)
    }
    return ModelRow(ModelKey(hub_id, weights), kind, parameters, figures)


def test_a_range_of_sizes_begins_with_its_lower_end() -> None:
    size = OverviewFilter(chosen={"size": "1b"})
    assert size.holds(row("org/a", parameters=10**8))
    assert not size.holds(row("org/a", parameters=10**9))
    assert not size.holds(row("org/a", parameters=None))


@pytest.fixture
def culture(db: None) -> Benchmark:
    return make.benchmark("culture", probe="ranking")


def test_every_probe_has_a_topic_with_a_question() -> None:
    assert {pages.topic for pages in PAGES.values()} == set(TOPICS)


def test_benchmarks_with_languages_and_no_pairs_follow_the_language_of_the_chosen_pair(culture: Benchmark) -> None:
    languages = make.benchmark("languages", probe="ranking")
    for benchmark, dimension, parts in (
        (culture, PAIR_IN_LANGUAGE, ["arab-west ar", "arab-west ko"]),
        (languages, "language", ["es", "ar", "en"]),
    ):
        run = make.run(make.model(), benchmark, Run.State.FINISHED)
        for part in parts:
            make.score(run, 0.5, dimension, part, metric="p_at_1")
    by_slug = parts_by_slug(versions(), ["p_at_1"])
    assert [part.title for part in parts_offered(by_slug, "")] == [
        "Arab and West, in Arabic",
        "Arab and West, in Korean",
    ]
    for chosen, language in (("arab-west ar", "Arabic"), ("arab-west ko", "English")):  # of which it has no Korean
        assert measures(versions(), by_slug, chosen)[1].title == f"Languages, in {language}"


def test_measured_languages_go_before_the_pairs_of_published_figures(culture: Benchmark) -> None:
    published = make.run(make.model(), culture, Run.State.FINISHED, provenance=Run.Provenance.PUBLISHED)
    make.score(published, 0.5, PAIR_IN_LANGUAGE, "arab-west ar", metric="p_at_1")
    assert parts_by_slug(versions(), ["p_at_1"]) == {"culture": [Slice(PAIR_IN_LANGUAGE, "arab-west ar")]}
    run = make.run(make.model(), culture, Run.State.FINISHED)
    for language in ("ar", "en"):
        make.score(run, 0.5, "language", language, metric="p_at_1")
    assert parts_by_slug(versions(), ["p_at_1"]) == {"culture": [Slice("language", "en"), Slice("language", "ar")]}


def test_a_site_without_split_benchmarks_offers_no_parts(db: None) -> None:
    make.benchmark()
    assert parts_offered(parts_by_slug(versions(), ["accuracy"]), "") == []
