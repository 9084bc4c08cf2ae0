"""/api/v1/ : its routes, their errors, versions of answers, pages of items, and where former routes lead."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test import Client

from leaderboard import api
from leaderboard.models import Model, Run
from leaderboard.urls import GONE_FROM_API
from tests.leaderboard.conftest import Site

READING = ("models", "benchmarks", "runs/{run}", "runs/{run}/scores", "runs/{run}/items")


def refused(client: Client, route: str, **parameters: str) -> dict[str, str]:
    """Return the error of an answer that refuses a request."""
    response = client.get(f"/api/v1/{route}", parameters or None)
    assert response.status_code == 400, route
    return dict(response.json()["error"])


def test_the_page_names_every_route_and_no_other(client: Client, db: None) -> None:
    page = client.get("/api/").content.decode()
    listed = set(re.findall(r"<code>(?:GET|POST) (.*?)</code>", page))
    numbered = {route.replace("{run}", "&lt;number&gt;") for route in READING}
    secret = {f"submissions/&lt;secret&gt;{action}" for action in ("", "/cancel", "/retry")}
    assert listed == {*numbered, "submit", *secret}


def test_a_run_comes_with_model_benchmark_scores_and_items(client: Client, site: Site) -> None:
    root = f"/api/v1/runs/{site.first.pk}"
    run = client.get(root).json()
    assert run["provenance_record"]["dtype"] == "float32"
    assert (run["model"]["hub_id"], run["benchmark"]["name"], run["state"]) == ("org/first", "small", "finished")
    overall = site.first.scores.get(metric="accuracy", dimension="overall")
    assert (run["score"]["value"], run["score"]["low"]) == (overall.value, overall.low)
    assert [event["state"] for event in run["events"]] == list(site.first.events.values_list("state", flat=True))
    scores = client.get(f"{root}/scores").json()["scores"]
    assert [score["value"] for score in scores] == list(
        site.first.scores.order_by("pk").values_list("value", flat=True)
    )
    assert client.get(f"{root}/items?relation=P36").json()["found"] == 4


def test_models_and_benchmarks_are_all_there(client: Client, site: Site) -> None:
    models = client.get("/api/v1/models").json()["models"]
    assert len(models) == Model.objects.count()
    assert next(model for model in models if model["hub_id"] == "org/first")["kind"] == site.first.model.kind
    (benchmark,) = client.get("/api/v1/benchmarks").json()["benchmarks"]
    assert (benchmark["name"], benchmark["digest"]) == ("small", site.benchmark.digest)
    assert {"same_relations", "like_relations", "pairs"} == set(benchmark["smallest_difference"])


def test_what_is_not_there_is_named_in_the_shape_of_an_error(client: Client, site: Site) -> None:
    for route in ("", "nonsense", "runs/999"):
        response = client.get(f"/api/v1/{route}")
        assert (response.status_code, set(response.json()["error"])) == (404, {"code", "message", "next_step"}), route
    assert client.get("/api/v1/runs/999").json()["error"]["message"] == "There is no run 999."


@pytest.mark.parametrize("route", GONE_FROM_API)
def test_a_former_route_leads_to_an_address_that_answers(client: Client, site: Site, route: str) -> None:
    parts = {"<benchmark:name>": "small", "<path:question>": "P36-0", "<str:relation>": "P36"}
    for part, value in {**parts, "<str:org>": "org", "<model:name>": "first"}.items():
        route = route.replace(part, value)
    query = f"m={site.first.pk}&m={site.second.pk}" if route == "compare" else "page=2"
    response = client.get(f"/api/v1/{route}?{query}")
    error = response.json()["error"]
    assert (response.status_code, error["code"]) == (410, "gone")
    address = error["next_step"].removeprefix("Ask for ")
    answer = client.get(address)
    if "/training/" in address:  # this model has no series
        assert answer.status_code == 404
        return
    assert (answer.status_code, "page=2" in address) == (200, False)
    kind = "application/json" if "format=json" in address else "text/html" if address.endswith("/api/") else "parquet"
    assert kind in answer["Content-Type"]


def test_the_choices_of_a_former_route_are_those_of_its_table(client: Client, site: Site) -> None:
    error = client.get("/api/v1/leaderboard?benchmark=small&kind=masked&cursor=3").json()["error"]
    assert error["next_step"] == "Ask for http://testserver/?format=json&benchmark=small&kind=masked"


@pytest.mark.parametrize("method", ["post", "delete"])
def test_results_that_programs_send_are_the_operators_to_import(method: str) -> None:
    response = getattr(Client(enforce_csrf_checks=True), method)("/api/v1/results")
    assert (response.status_code, "import_result" in response.json()["error"]["next_step"]) == (410, True)


def test_a_filter_that_names_nothing_is_refused_with_a_choice(client: Client, site: Site) -> None:
    for query, choice in {"relation=nope": "P36", "domain=nope": "Political", "correct=maybe": "yes"}.items():
        error = refused(client, f"runs/{site.first.pk}/items?{query}")
        assert (error["code"], choice in error["next_step"]) == ("bad-input", True), query


@pytest.mark.parametrize(
    ("method", "route", "allowed"),
    [("get", "submit", "POST"), ("put", "submit", "POST"), ("post", "models", "GET, HEAD")],
)
def test_another_method_is_refused_with_those_that_would_do(method: str, route: str, allowed: str) -> None:
    response = getattr(Client(enforce_csrf_checks=True), method)(f"/api/v1/{route}")
    assert (response.status_code, response["Allow"]) == (405, allowed)
    assert response.json()["error"]["code"] == "method-not-allowed"


def test_unknown_parameters_are_refused_by_name(client: Client, site: Site) -> None:
    for route, names, choices in (
        (f"runs/{site.first.pk}?full=1", "'full'", "It has none."),
        (f"runs/{site.first.pk}/items?dimension=x&knid=y", "'dimension', 'knid'", "domain, page, cursor"),
        ("models?page=1", "'page'", "It has none."),
    ):
        error = refused(client, route)
        assert error["message"] == f"This route has no parameter {names}."
        assert choices in error["next_step"], route


def test_a_page_that_is_no_number_is_refused_and_named(client: Client, site: Site) -> None:
    for page in ("0", "-1", "two", "1e9", "²"):
        assert refused(client, f"runs/{site.first.pk}/items", page=page)["message"].startswith("page: "), page


def test_an_empty_parameter_is_none(client: Client, site: Site) -> None:
    items = f"/api/v1/runs/{site.first.pk}/items"
    assert client.get(f"{items}?relation=&page=").json() == client.get(items).json()


def test_an_endless_search_is_refused(client: Client, site: Site) -> None:
    assert refused(client, f"runs/{site.first.pk}/items", search="a" * 101)["code"] == "bad-input"


def test_items_of_an_unfinished_run_are_an_error_with_a_code(client: Client, site: Site) -> None:
    assert refused(client, f"runs/{site.running.pk}/items")["code"] == "items-missing"


@pytest.mark.parametrize("route", ["models", "benchmarks", "runs/{run}/scores", "runs/{run}/items"])
def test_an_answer_is_not_sent_again_as_long_as_it_is_the_same(client: Client, site: Site, route: str) -> None:
    address = f"/api/v1/{route.format(run=site.first.pk)}"
    etag = client.get(address)["ETag"]
    repeated = client.get(address, headers={"If-None-Match": etag})
    assert (repeated.status_code, repeated.content) == (304, b"")


def test_an_answer_is_sent_again_after_a_change(client: Client, site: Site) -> None:
    etag = client.get("/api/v1/models")["ETag"]
    Model.objects.filter(hub_id="org/first").update(licence="mit")
    connection.check_constraints()  # runs the triggers that PostgreSQL defers to the end of the test's transaction
    changed = client.get("/api/v1/models", headers={"If-None-Match": etag})
    assert (changed.status_code, changed["ETag"] != etag) == (200, True)


def test_a_run_that_goes_on_has_a_version_and_says_when_to_look_again(client: Client, site: Site) -> None:
    address = f"/api/v1/runs/{site.running.pk}"
    response = client.get(address)
    assert response["Retry-After"] == "5"
    assert client.get(address, headers={"If-None-Match": response["ETag"]}).status_code == 304
    assert "Retry-After" not in client.get(f"/api/v1/runs/{site.first.pk}")


def test_a_database_that_is_away_is_worth_another_try(
    client: Client, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(pk: int) -> Run:
        raise OperationalError("away")

    monkeypatch.setattr(api, "find_run", away)
    response = client.get(f"/api/v1/runs/{site.first.pk}")
    assert (response.status_code, response.json()["error"]["code"]) == (503, "database-unavailable")
    assert int(response["Retry-After"]) > 0


def pages(client: Client, address: str) -> Iterator[dict[str, Any]]:
    """Yield every page of a list, from one to the `next`."""
    following: str | None = address
    while following:
        answer = client.get(following).json()
        yield answer
        following = answer["next"]


@pytest.mark.parametrize("query", ["", "relation=P36"])
def test_pages_by_cursor_are_pages_by_number(
    client: Client, site: Site, monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    monkeypatch.setattr(api, "ITEMS_PER_PAGE", 2)
    address = f"/api/v1/runs/{site.first.pk}/items?{query}"
    by_cursor = list(pages(client, address))
    assert len(by_cursor) > 1
    assert sum(len(answer["items"]) for answer in by_cursor) == by_cursor[0]["found"]
    for number, answer in enumerate(by_cursor, start=1):
        same = client.get(f"{address}&page={number}").json()
        assert (answer["page"], answer["items"]) == (number, same["items"])
    for number in (len(by_cursor) + 1, 10**30):
        assert client.get(f"{address}&page={number}").json()["items"] == by_cursor[-1]["items"]


def test_a_cursor_that_names_nothing_is_refused(client: Client, site: Site) -> None:
    items = f"runs/{site.first.pk}/items"
    for cursor in ("nothing", "9" * 30, "9" * 200, "-1"):
        assert refused(client, items, cursor=cursor)["next_step"] == "Begin again without cursor."
    assert refused(client, f"{items}?cursor=3&page=2")["next_step"] == "Send one of them."
