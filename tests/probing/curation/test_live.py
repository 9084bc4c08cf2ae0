"""Tests of the queries at Wikidata's public endpoint, which run only if CLOZEBOARD_TEST_WIKIDATA is set."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from probing.curation import culture, geography, graph, multiple_choice, specificity
from probing.curation.articles import Articles
from probing.curation.cultures import Culture, CulturePair
from probing.curation.endpoint import Endpoint
from probing.curation.http_cache import HttpCache
from probing.curation.query import Query

pytestmark = [
    pytest.mark.skipif(not os.environ.get("CLOZEBOARD_TEST_WIKIDATA"), reason="CLOZEBOARD_TEST_WIKIDATA is not set"),
    pytest.mark.slow,
    pytest.mark.timeout(1800),
]
MALTESE = CulturePair("small", (Culture("Maltese", "MALTA", {"Q233": ("mt", "en")}),), ("en", "es"))
QUERIES: list[Query] = [
    *culture.queries(culture.CulturePlan((MALTESE,))),
    *geography.queries(geography.GeographyPlan(top=5)),
    *specificity.queries(specificity.SpecificityPlan(("P361",), least_sitelinks=150)),
    *graph.queries(graph.GraphPlan(("P36",), least_sitelinks=200)),
    *multiple_choice.queries(multiple_choice.MultipleChoicePlan(("P36",), least_sitelinks=200)),
]


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[HttpCache]:
    with HttpCache(tmp_path / "answers.sqlite") as cache:
        yield cache


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.description)
def test_wikidata_answers_a_page_of_every_query_in_time(cache: HttpCache, query: Query) -> None:
    page = query if query.limit else replace(query, order=f"?{query.columns[0]}", limit=100)
    assert isinstance(Endpoint(cache).rows(page), list)


def test_a_small_culture_is_curated(cache: HttpCache, tmp_path: Path) -> None:
    plan = culture.CulturePlan((MALTESE,), predicates=("P36", "P37"), at_most=5)
    culture.curate(Endpoint(cache), Articles(cache), plan, tmp_path / "out")
    assert "Valletta" in (tmp_path / "out/small/dlama/en/P36_general_MALTA.jsonl").read_text()
