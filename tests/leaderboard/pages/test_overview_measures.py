"""What the overview shows of each benchmark."""

import pytest

from leaderboard.figures.overview import versions
from leaderboard.figures.scores import OVERALL_SLICE, Slice
from leaderboard.models import Benchmark, Run
from leaderboard.pages.overview_page import measures, parts_offered
from leaderboard.probes import PAGES
from leaderboard.probes.benchmark_words import TOPICS
from tests.leaderboard import factories as make


@pytest.fixture
def culture(db: None) -> Benchmark:
    return make.benchmark("culture", probe="ranking")


def test_every_probe_has_a_topic_with_a_question() -> None:
    assert {pages.topic for pages in PAGES.values()} == set(TOPICS)


def test_benchmarks_come_topic_by_topic(culture: Benchmark) -> None:
    make.benchmark("graph", probe="perplexity")
    make.benchmark("facts")
    assert [measure.slug for measure in measures(versions(), "")] == ["facts", "culture", "graph"]


def test_only_split_benchmarks_are_about_the_chosen_part(culture: Benchmark) -> None:
    make.benchmark("facts")
    facts, pairs = measures(versions(), "arab-west en")
    assert facts.part == OVERALL_SLICE
    assert (pairs.part, set(pairs.narrowed_by)) == (
        Slice("culture_pair_language", "arab-west en"),
        {"pair", "language"},
    )


def test_the_parts_are_named_in_words_and_that_of_the_most_runs_is_chosen(culture: Benchmark) -> None:
    for parts in (["asia-west ko", "arab-west ar"], ["asia-west ko"]):
        run = make.run(make.model(), culture, Run.State.FINISHED)
        for part in parts:
            make.score(run, 0.5, "culture_pair_language", part, metric="p_at_1")
    offered = parts_offered(versions(), "")
    assert [(part.title, part.chosen) for part in offered] == [
        ("Arab and West, in Arabic", False),
        ("Asia and West, in Korean", True),
    ]
    assert [part.chosen for part in parts_offered(versions(), "arab-west ar")] == [True, False]


def test_a_site_without_split_benchmarks_offers_no_parts(db: None) -> None:
    make.benchmark()
    assert parts_offered(versions(), "") == []
