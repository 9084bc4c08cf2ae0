"""Queries and the endpoint that answers them: ranks and end times, slices, labels, and answers that are not rows."""

from dataclasses import replace

import pytest

from probing.curation import wikidata as endpoints
from probing.curation.wikidata import (
    Binding,
    Endpoint,
    Query,
    articles,
    best_value,
    current_value,
    label,
    sitelinks,
    stated_value,
)
from probing.errors import BadInput, SourceUnavailable
from tests.probing.curation.conftest import Serve, Source
from tests.probing.curation.servers import Fault
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


def test_best_values_may_have_ended_current_ones_not_and_stated_ones_are_all_but_the_deprecated(
    serve: Serve, world: World
) -> None:
    source = serve(world)
    current, best, stated = (
        sorted(pairs(source, pattern("subject", "P36", "object")))
        for pattern in (current_value, best_value, stated_value)
    )
    assert current == [("Q1", "Q10"), ("Q2", "Q21"), ("Q4", "")]
    assert best == sorted([*current, ("Q3", "Q30")])
    assert stated == sorted([*best, ("Q1", "Q11")])


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


def test_items_without_an_article_are_in_the_rows_too(serve: Serve) -> None:
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


CAPITALS = Query("Capitals", ("subject", "object"), (current_value("subject", "P36", "object"),))
EGYPT: list[Binding] = [{"subject": "Q79", "object": "Q85"}]
OVER_LIMIT = "java.util.concurrent.TimeoutException"


def test_an_answer_of_more_than_a_page_is_fetched_in_slices(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoints, "PAGE", 3)
    world = World()
    for number in range(20):
        world.claim(f"Q{number}", "P36", f"Q{100 + number}")
    source = serve(world)
    values = pairs(source, current_value("subject", "P36", "object"))
    assert values == [(f"Q{number}", f"Q{100 + number}") for number in range(20)]
    assert len(source.sparql.requests) == 11
    assert all("LIMIT 4" in text for text in source.sparql.requests)


def test_slices_of_slices_lose_nothing(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoints, "PAGE", 1)
    world, items = World(), [7, 17, 107, 1007, 27, 4]
    for number in items:
        world.claim(f"Q{number}", "P36", "Q1000")
    values = pairs(serve(world), current_value("subject", "P36", "object"))
    assert values == [(f"Q{number}", "Q1000") for number in sorted(items)]


def test_well_known_subjects_are_sliced_by_their_sitelinks_first(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoints, "PAGE", 2)
    world = World()
    for number, links in ((1, 20), (2, 20), (3, 20), (4, 21), (5, 24), (6, 19)):
        world.claim(world.item(f"Q{number}", "x", links=links), "P36", "Q1000")
    source = serve(world)
    columns = ("subject", "object", "subject_sitelinks")
    query = Query("Capitals", columns, (current_value("subject", "P36", "object"),), least=20)
    rows = source.endpoint().rows(query)
    assert [(row["subject"], row["subject_sitelinks"]) for row in rows] == [
        *(("Q1", "20"), ("Q2", "20"), ("Q3", "20")),
        *(("Q4", "21"), ("Q5", "24")),
    ]
    whole, *others = source.sparql.requests
    assert "FILTER(?subject_sitelinks >= 20)" in whole
    assert "VALUES ?subject_sitelinks { 20 }" in next(text for text in others if "STRENDS" in text)
    assert sum("STRENDS" in text for text in others) == 10
    assert len(source.sparql.requests) <= 1 + 2 * 10 + 10


@pytest.mark.slow
def test_an_interruption_loses_nothing(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoints, "PAGE", 2)
    world = World()
    for number, links in ((1, 20), (2, 20), (3, 20), (4, 700), (5, 701), (6, 702)):
        world.claim(world.item(f"Q{number}", "x", links=links), "P36", "Q1000")
    source = serve(world)
    query = Query("Capitals", ("subject", "object"), (current_value("subject", "P36", "object"),), least=20)
    whole, requests = source.endpoint().rows(query), list(source.sparql.requests)
    source.forget()
    source.sparql.faults.extend(([Fault(503)] * 4 + [Fault()]) * len(requests))
    for _ in requests:
        with pytest.raises(SourceUnavailable):
            source.endpoint().rows(query)
    assert source.endpoint().rows(query) == whole
    assert source.sparql.requests == [text for text in requests for _ in range(5)]


def test_if_sorting_takes_too_long_the_best_known_items_come_from_slices(serve: Serve) -> None:
    world = World()
    for number, links in ((1, 5), (2, 8), (3, 7), (4, 7), (5, 6)):
        world.item(f"Q{number}", "x", links=links)
        world.claim(f"Q{number}", "P31", "Q100")
    order = "DESC(?item_sitelinks) ?item"
    columns, where = ("item", "item_sitelinks"), (best_value("item", "P31", "kind"),)
    query = Query("The best known", columns, where, least=5, order=order, limit=3)
    source = serve(world)
    quick = source.endpoint().rows(query)
    source.forget()
    source.sparql.faults.extend([Fault(504), Fault(504)])
    assert source.endpoint().rows(query) == quick
    assert [(row["item"], row["item_sitelinks"]) for row in quick] == [("Q2", "8"), ("Q3", "7"), ("Q4", "7")]
    assert len(source.sparql.requests) == 4


def test_an_answer_that_no_slicing_makes_small_enough_is_an_error(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoints, "PAGE", 3)
    world = World()
    world.claim("Q9", "P530", *(f"Q{number}" for number in range(20)))
    with pytest.raises(SourceUnavailable, match="more than 3 rows"):
        serve(world).endpoint().rows(Query("Relations", ("a", "b"), (current_value("a", "P530", "b"),)))


def test_labels_are_in_the_requested_languages_or_the_default_of_their_script(serve: Serve) -> None:
    world = World()
    world.item("Q79", "Egypt", languages="en ar ko")
    world.item("Q85", "Cairo", languages="ko")
    world.labels["Q85"]["en"] = " "
    world.item("Q1", "Ada", languages="en")
    world.labels["Q1"] = {"mul": "Ada Lovelace", "es": "Ada, condesa"}
    labels = serve(world).endpoint().labels(["Q79", "Q85", "Q99", "Q1"], ["ar", "en", "es"])
    assert labels == {
        **{"Q79": {"en": "Egypt", "ar": "Egypt (ar)"}, "Q85": {}, "Q99": {}},
        "Q1": {"en": "Ada Lovelace", "es": "Ada, condesa"},
    }


def test_labels_of_many_items_take_several_queries(serve: Serve) -> None:
    world = World()
    items = [world.item(f"Q{number}", f"Item {number}") for number in range(1, 451)]
    source = serve(world)
    assert all(source.endpoint().labels(items, ["en"]).values())
    assert len(source.sparql.requests) == 3


@pytest.mark.parametrize(
    "fault",
    [Fault(504, body=OVER_LIMIT), Fault(500, body=OVER_LIMIT), Fault(keep=0.5, body=OVER_LIMIT)],
    ids=["504", "500", "truncated"],
)
def test_a_query_that_twice_exceeds_the_time_limit_of_the_engine_stays_sliced(source: Source, fault: Fault) -> None:
    source.sparql.faults.extend([fault, fault])
    assert source.endpoint().rows(CAPITALS) == EGYPT
    assert len(source.sparql.requests) == 12
    assert 'STRENDS(STR(?subject), "9")' in source.sparql.requests[-1]
    assert source.endpoint().rows(CAPITALS) == EGYPT
    assert len(source.sparql.requests) == 12


def test_a_query_that_twice_times_out_at_a_gateway_is_sliced_only_this_time(source: Source) -> None:
    source.sparql.faults.extend([Fault(504), Fault(504)])
    assert source.endpoint().rows(CAPITALS) == EGYPT
    assert len(source.sparql.requests) == 2 + 10
    assert source.endpoint().rows(CAPITALS) == EGYPT
    assert len(source.sparql.requests) == 2 + 10 + 1
    assert "STRENDS" not in source.sparql.requests[-1]


@pytest.mark.parametrize("fault", [Fault(504), Fault(500, body=OVER_LIMIT)], ids=["gateway", "engine"])
def test_a_timeout_of_a_query_that_cannot_be_sliced_is_an_error_and_not_stored(source: Source, fault: Fault) -> None:
    smallest_slice = replace(CAPITALS, ending="Q79")
    source.sparql.faults.extend([fault, fault])
    with pytest.raises(SourceUnavailable, match="twice took too long"):
        source.endpoint().rows(smallest_slice)
    assert source.endpoint().rows(smallest_slice) == EGYPT


def test_a_query_for_well_known_subjects_that_takes_too_long_is_sent_in_few_slices(source: Source) -> None:
    source.sparql.faults.extend([Fault(500, body=OVER_LIMIT)] * 2)
    source.endpoint().rows(replace(CAPITALS, least=50))
    assert len(source.sparql.requests) == 2 + 2


@pytest.mark.parametrize(
    ("status", "reason"),
    [(400, "badly formed"), (401, "Check the credentials"), (404, "given endpoint"), (403, ""), (414, "")],
)
def test_a_refusal_says_what_its_status_means(source: Source, status: int, reason: str) -> None:
    source.sparql.faults.append(Fault(status, body="not like this"))
    with pytest.raises(BadInput, match=rf"request: {status} not like this\..*{reason}") as raised:
        source.endpoint().rows(CAPITALS)
    assert raised.value.next_step
    assert len(source.sparql.requests) == 1, "it is not repeated"


def test_rows_are_read_as_json_whatever_the_server_calls_them(source: Source) -> None:
    source.sparql.faults.append(Fault(headers={"Content-Type": "application/sparql-results+xml"}))
    assert source.endpoint().rows(CAPITALS) == EGYPT


@pytest.mark.parametrize("body", ["[]", "{}", '{"results": 1}', '{"boolean": true}'])
def test_json_without_rows_is_an_error(source: Source, body: str) -> None:
    source.sparql.faults.append(Fault(keep=0, body=body))
    with pytest.raises(SourceUnavailable, match=r"something other than rows \(.*Check the address"):
        source.endpoint().rows(CAPITALS)
    assert len(source.sparql.requests) == 1


def test_an_answer_without_rows_is_an_error(source: Source) -> None:
    with pytest.raises(SourceUnavailable, match=r"something other than rows.*Check the address"):
        Endpoint(source.cache(), source.wikipedia_url.format(site="en") + "/rest.php/v1/page/Egypt").rows(CAPITALS)
