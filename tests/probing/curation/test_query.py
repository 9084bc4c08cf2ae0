"""Tests of queries: their text, ranks and end times of values, pages and slices."""

from collections.abc import Callable

import pytest

from probing.curation.wikidata import Query, articles, best_value, current_value, label, sitelinks, stated_value
from tests.probing.curation.conftest import Source
from tests.probing.curation.world import SOMETHING, World


@pytest.fixture
def world() -> World:
    world = World()
    world.claim("Q1", "P36", "Q10", rank="preferred")
    world.claim("Q1", "P36", "Q11", end="1990-01-01")
    world.claim("Q2", "P36", "Q20", rank="deprecated")
    world.claim("Q2", "P36", "Q21")
    world.claim("Q3", "P36", "Q30", end="1871-01-01")
    world.claim("Q4", "P36", SOMETHING)
    return world


def pairs(source: Source, pattern: str) -> list[tuple[str, str]]:
    rows = source.endpoint().rows(Query("Capitals", ("subject", "object"), (pattern,)))
    return [(row["subject"], row["object"]) for row in rows]


def test_current_values_have_the_best_rank_and_have_not_ended(serve: Callable[[World], Source], world: World) -> None:
    values = pairs(serve(world), current_value("subject", "P36", "object"))
    assert sorted(values) == [("Q1", "Q10"), ("Q2", "Q21"), ("Q4", "")]


def test_stated_values_are_all_that_are_not_deprecated(serve: Callable[[World], Source], world: World) -> None:
    values = pairs(serve(world), stated_value("subject", "P36", "object"))
    assert sorted(values) == [("Q1", "Q10"), ("Q1", "Q11"), ("Q2", "Q21"), ("Q3", "Q30"), ("Q4", "")]


def test_the_best_values_may_have_ended(serve: Callable[[World], Source], world: World) -> None:
    values = pairs(serve(world), best_value("subject", "P36", "object"))
    assert sorted(values) == [("Q1", "Q10"), ("Q2", "Q21"), ("Q3", "Q30"), ("Q4", "")]


def test_the_text_of_a_query_begins_with_a_comment_about_it() -> None:
    query = Query("What these are", ("item", "kind"), (best_value("item", "P31", "kind"),), ("Q1", "Q2"))
    assert query.text == (
        "# What these are\n"
        "PREFIX wd: <http://www.wikidata.org/entity/>\n"
        "PREFIX wdt: <http://www.wikidata.org/prop/direct/>\n"
        "SELECT DISTINCT ?item ?kind WHERE {\n"
        "  VALUES ?item { wd:Q1 wd:Q2 }\n"
        "  ?item wdt:P31 ?kind .\n"
        "}\n"
        "LIMIT 10001\n"
    )


def test_queries_that_differ_only_in_items_have_the_same_shape() -> None:
    first, second = (
        Query("Kinds", ("item",), (best_value("item", "P31", "kind"),), items) for items in (("Q1",), ("Q2",))
    )
    assert first.shape == second.shape != first.text


def test_slices_by_halves_cover_every_number_of_sitelinks_once() -> None:
    waiting = [Query("Capitals", ("subject",), (current_value("subject", "P36", "object"),), least=30)]
    numbers: list[int] = []
    while waiting:
        query = waiting.pop(0)
        if len(query.links) == 1:
            numbers += query.links
        else:
            waiting = [*query.slices(), *waiting]
    assert numbers == list(range(999, 29, -1))


def test_items_without_an_article_are_in_the_rows_too(serve: Callable[[World], Source]) -> None:
    world = World()
    world.item("Q1", "One", en=10, fr=20, de=30)
    world.item("Q2", "Two")
    patterns = (sitelinks("item"), articles("item", ["en", "fr"]))
    rows = serve(world).endpoint().rows(Query("Articles", ("item", "site", "title"), patterns))
    assert [(row["item"], row.get("site")) for row in rows] == [
        ("Q1", "https://en.wikipedia.org/"),
        ("Q1", "https://fr.wikipedia.org/"),
        ("Q2", None),
    ]


def test_queries_for_labels_do_not_use_the_label_service() -> None:
    assert "SERVICE" not in Query("Labels", ("item",), (label("item", ["en"]),), ("Q1",)).text
