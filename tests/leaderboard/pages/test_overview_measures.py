"""What the overview shows of each benchmark."""

import pytest

from leaderboard.figures.overview import parts_by_slug, versions
from leaderboard.figures.scores import OVERALL_SLICE, Slice
from leaderboard.models import Benchmark, Run
from leaderboard.pages.overview_page import measures, parts_offered
from leaderboard.probes import PAGES
from leaderboard.probes.benchmark_words import TOPICS
from probing.analysis.culture_metrics import PAIR_IN_LANGUAGE
from tests.leaderboard import factories as make


@pytest.fixture
def culture(db: None) -> Benchmark:
    return make.benchmark("culture", probe="ranking")


def test_every_probe_has_a_topic_with_a_question() -> None:
    assert {pages.topic for pages in PAGES.values()} == set(TOPICS)


def test_benchmarks_come_topic_by_topic(culture: Benchmark) -> None:
    make.benchmark("graph", probe="perplexity")
    make.benchmark("facts")
    assert [measure.slug for measure in measures(versions(), {}, "")] == ["facts", "culture", "graph"]


def test_only_split_benchmarks_are_about_the_chosen_part(culture: Benchmark) -> None:
    make.benchmark("facts")
    make.score(
        make.run(make.model(), culture, Run.State.FINISHED), 0.5, PAIR_IN_LANGUAGE, "asia-west ko", metric="p_at_1"
    )
    facts, pairs = measures(versions(), parts_by_slug(["p_at_1"]), "arab-west en")
    assert facts.part == OVERALL_SLICE
    assert (pairs.part, set(pairs.narrowed_by)) == (
        Slice(PAIR_IN_LANGUAGE, "arab-west en"),
        {"pair", "language"},
    )


def test_benchmarks_with_languages_and_no_pairs_follow_the_language_of_the_chosen_pair(culture: Benchmark) -> None:
    languages = make.benchmark("languages", probe="ranking")
    for benchmark, dimension, parts in (
        (culture, PAIR_IN_LANGUAGE, ["arab-west ar", "arab-west ko"]),
        (languages, "language", ["es", "ar", "en"]),
    ):
        run = make.run(make.model(), benchmark, Run.State.FINISHED)
        for part in parts:
            make.score(run, 0.5, dimension, part, metric="p_at_1")
    by_slug = parts_by_slug(["p_at_1"])
    assert [part.title for part in parts_offered(by_slug, "")] == [
        "Arab and West, in Arabic",
        "Arab and West, in Korean",
    ]
    for chosen, language in (("arab-west ar", "Arabic"), ("arab-west ko", "English")):  # of which it has no Korean
        assert measures(versions(), by_slug, chosen)[1].title == f"Languages, in {language}"


def test_measured_languages_go_before_the_pairs_of_published_figures(culture: Benchmark) -> None:
    published = make.run(make.model(), culture, Run.State.FINISHED, provenance=Run.Provenance.PUBLISHED)
    make.score(published, 0.5, PAIR_IN_LANGUAGE, "arab-west ar", metric="p_at_1")
    assert parts_by_slug(["p_at_1"]) == {"culture": [Slice(PAIR_IN_LANGUAGE, "arab-west ar")]}
    run = make.run(make.model(), culture, Run.State.FINISHED)
    for language in ("ar", "en"):
        make.score(run, 0.5, "language", language, metric="p_at_1")
    assert parts_by_slug(["p_at_1"]) == {"culture": [Slice("language", "en"), Slice("language", "ar")]}


def test_the_parts_are_named_in_words_and_the_first_is_chosen(culture: Benchmark) -> None:
    for parts in (["asia-west ko", "arab-west ar"], ["asia-west ko"]):
        run = make.run(make.model(), culture, Run.State.FINISHED)
        for part in parts:
            make.score(run, 0.5, PAIR_IN_LANGUAGE, part, metric="p_at_1")
    by_slug = parts_by_slug(["p_at_1"])
    offered = parts_offered(by_slug, "")
    assert [(part.title, part.chosen) for part in offered] == [
        ("Arab and West, in Arabic", True),
        ("Asia and West, in Korean", False),
    ]
    assert [part.chosen for part in parts_offered(by_slug, "asia-west ko")] == [False, True]


def test_a_site_without_split_benchmarks_offers_no_parts(db: None) -> None:
    make.benchmark()
    assert parts_offered(parts_by_slug(["accuracy"]), "") == []
