"""Tests of all kinds of queries at Wikidata's public endpoint, which run only if CLOZEBOARD_TEST_WIKIDATA is set.

Its value is a contact, an e-mail address or a web page, because Wikimedia's policy on user agents demands one. The
message of the first failure says what to send to the project; the tests after it are skipped.
"""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from probing.curation import (
    choice_questions,
    culture_facts,
    geography_facts,
    graph_triples,
    specificity_pairs,
    translation,
)
from probing.curation.articles import Articles
from probing.curation.culture_facts import CulturePlan
from probing.curation.cultures import Culture, CulturePair
from probing.curation.http_cache import HttpCache
from probing.curation.wikidata import Query
from tests.probing.curation.live_report import WatchedEndpoint

CONTACT = os.environ.get("CLOZEBOARD_TEST_WIKIDATA", "")
pytestmark = [
    pytest.mark.skipif(not CONTACT, reason="CLOZEBOARD_TEST_WIKIDATA is not set to a contact"),
    pytest.mark.slow,
    pytest.mark.timeout(1800),
]
MALTESE = CulturePair("small", (Culture("Maltese", "MALTA", {"Q233": ("mt", "en")}),), ("en", "es"))
QUERIES: list[Query] = [
    *culture_facts.queries(CulturePlan((MALTESE,))),
    *geography_facts.queries(geography_facts.GeographyPlan(top=5)),
    *specificity_pairs.queries(specificity_pairs.SpecificityPlan(("P361",), least_sitelinks=150)),
    *graph_triples.queries(graph_triples.GraphPlan(("P36",), least_sitelinks=200)),
    *choice_questions.queries(choice_questions.MultipleChoicePlan(("P36",), least_sitelinks=200)),
    *translation.queries(translation.TranslationPlan(Path(), ("fr",))),
]


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WatchedEndpoint]:
    """Yield one endpoint for all tests, so that requests are spaced out and a failure ends them."""
    with HttpCache(tmp_path_factory.mktemp("live") / "answers.sqlite", contact=CONTACT) as cache:
        yield WatchedEndpoint(cache)


def test_wikidata_answers_a_page_of_every_query_in_time(endpoint: WatchedEndpoint, subtests: pytest.Subtests) -> None:
    for query in QUERIES:
        with subtests.test(query.description):
            page = query if query.limit else replace(query, order=f"?{query.columns[0]}", limit=100)
            assert isinstance(endpoint.rows(page), list)


def test_a_small_culture_is_curated(endpoint: WatchedEndpoint, tmp_path: Path) -> None:
    plan = CulturePlan((MALTESE,), predicates=("P36", "P37"), at_most=5)
    culture_facts.curate(endpoint, Articles(endpoint.cache), plan, tmp_path / "out")
    assert "Valletta" in (tmp_path / "out/small/dlama/en/P36_general_MALTA.jsonl").read_text()
