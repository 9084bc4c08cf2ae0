"""What the overview shows of each benchmark."""

import pytest

from leaderboard.figures.overview import parts_by_slug, versions
from leaderboard.figures.scores import Slice
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


def test_a_site_without_split_benchmarks_offers_no_parts(db: None) -> None:
    make.benchmark()
    assert parts_offered(parts_by_slug(["accuracy"]), "") == []
