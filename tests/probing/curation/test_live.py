"""The queries at Wikidata's own endpoint: only where CLOZEBOARD_TEST_WIKIDATA is set, for they ask a public service."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from probing.curation import culture, geography, graph, multiple_choice, specificity
from probing.curation.articles import Articles
from probing.curation.cultures import Culture, Pair
from probing.curation.endpoint import Endpoint
from probing.curation.http_cache import HttpCache
from probing.curation.query import Query

pytestmark = [
    pytest.mark.skipif(not os.environ.get("CLOZEBOARD_TEST_WIKIDATA"), reason="CLOZEBOARD_TEST_WIKIDATA is not set"),
    pytest.mark.slow,
    pytest.mark.timeout(1800),
]
MALTESE = Pair("small", (Culture("Maltese", "MALTA", {"Q233": ("mt", "en")}),), ("en", "es"))
QUERIES: list[Query] = [
    *culture.queries(culture.Plan((MALTESE,))),
    *geography.queries(geography.Plan(top=5)),
    *specificity.queries(specificity.Plan(("P361",), least=150)),
    *graph.queries(graph.Plan(("P36",), least=200)),
    *multiple_choice.queries(multiple_choice.Plan(("P36",), least=200)),
]


@pytest.fixture
def answers(tmp_path: Path) -> Iterator[HttpCache]:
    with HttpCache(tmp_path / "answers.sqlite") as answers:
        yield answers


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.about)
def test_wikidata_answers_a_page_of_every_query_in_time(answers: HttpCache, query: Query) -> None:
    page = query if query.limit else replace(query, order=f"?{query.columns[0]}", limit=100)
    assert isinstance(Endpoint(answers).rows(page), list)


def test_a_small_culture_is_curated(answers: HttpCache, tmp_path: Path) -> None:
    plan = culture.Plan((MALTESE,), ("P36", "P37"), at_most=5)
    culture.curate(Endpoint(answers), Articles(answers), plan, tmp_path / "out")
    assert "Valletta" in (tmp_path / "out/small/dlama/en/P36_general_MALTA.jsonl").read_text()
