"""What all routes of /api/v1/ share: methods, errors, unknown names refused, versions of answers, pages of lists."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from leaderboard.api import parameters
from leaderboard.models import Model, Run
from tests.leaderboard import factories as make
from tests.leaderboard.conftest import Site


def refused(client: Client, route: str, **parameters: str) -> dict[str, str]:
    """Return the error of an answer that refuses a request."""
    response = client.get(f"/api/v1/{route}", parameters or None)
    assert response.status_code == 400, route
    return dict(response.json()["error"])


def test_what_is_not_there_is_named_in_the_shape_of_an_error(client: Client, site: Site) -> None:
    for route in ("", "nonsense", "runs/999", "leaderboard?benchmark=nonsense"):
        response = client.get(f"/api/v1/{route}")
        assert (response.status_code, set(response.json()["error"])) == (404, {"code", "message", "next_step"}), route
    assert client.get("/api/v1/runs/999").json()["error"]["message"] == "There is no run 999."


def test_a_filter_that_names_nothing_is_refused_with_a_choice(client: Client, site: Site) -> None:
    items = f"runs/{site.first.pk}/items"
    choices = {
        "leaderboard?benchmark=small&kind=foo": "masked",
        "leaderboard?benchmark=small&published=foo": "ranked",
        "leaderboard?benchmark=small&columns=domain:Geographic&columns=foo:bar": "domain:Geographic",
        "runs?state=nope": "finished",
        "runs?benchmark=nope": "small",
        f"{items}?relation=nope": "P36",
        f"{items}?domain=nope": "Political",
        f"{items}?correct=maybe": "yes",
    }
    for route, choice in choices.items():
        error = refused(client, route)
        assert (error["code"], choice in error["next_step"]) == ("bad-input", True), route


@pytest.mark.parametrize(
    ("method", "route", "allowed"),
    [("get", "submit", "POST"), ("put", "submit", "POST"), ("post", "runs", "GET, HEAD")],
)
def test_another_method_is_refused_with_those_that_would_do(method: str, route: str, allowed: str) -> None:
    response = getattr(Client(enforce_csrf_checks=True), method)(f"/api/v1/{route}")
    assert (response.status_code, response["Allow"]) == (405, allowed)
    assert response.json()["error"]["code"] == "method-not-allowed"


def test_unknown_parameters_are_refused_by_name(client: Client, site: Site) -> None:
    for route, names, choices in (
        ("leaderboard?benchmark=small&knid=causal&pege=2", "'knid', 'pege'", "benchmark, kind, size"),
        ("runs?modle=org/first", "'modle'", "page, cursor, model, benchmark, probe, state"),
        (f"runs/{site.first.pk}?full=1", "'full'", "It has none."),
        (f"runs/{site.first.pk}/items?dimension=x", "'dimension'", "domain"),
        ("models?page=1", "'page'", "It has none."),
        ("compare?m=1&m=2&k=3", "'k'", "m, benchmark"),
    ):
        error = refused(client, route)
        assert error["message"] == f"This route has no parameter {names}."
        assert choices in error["next_step"], route


def test_a_page_that_is_no_number_is_refused_and_named(client: Client, site: Site) -> None:
    for page in ("0", "-1", "two", "1e9"):
        assert refused(client, "runs", page=page)["message"].startswith("page: "), page


def test_an_empty_parameter_is_none(client: Client, site: Site) -> None:
    assert client.get("/api/v1/runs?model=&page=").json() == client.get("/api/v1/runs").json()


@pytest.mark.parametrize("route", ["leaderboard?benchmark=small", "overview", "models", "runs", "runs/{run}/scores"])
def test_an_answer_is_not_sent_again_until_the_data_change(client: Client, site: Site, route: str) -> None:
    address = f"/api/v1/{route.format(run=site.first.pk)}"
    etag = client.get(address)["ETag"]
    repeated = client.get(address, headers={"If-None-Match": etag})
    assert (repeated.status_code, repeated.content) == (304, b"")
    Model.objects.filter(hub_id="org/first").update(licence="mit")
    changed = client.get(address, headers={"If-None-Match": etag})
    assert (changed.status_code, changed["ETag"] != etag) == (200, True)


def test_an_unchanged_answer_costs_one_query(
    client: Client, site: Site, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    etag = client.get("/api/v1/leaderboard?benchmark=small")["ETag"]
    cache.clear()  # another process may answer
    with django_assert_num_queries(1):
        response = client.get("/api/v1/leaderboard?benchmark=small", headers={"If-None-Match": etag})
    assert response.status_code == 304


def test_a_run_that_goes_on_has_a_version_and_says_when_to_look_again(client: Client, site: Site) -> None:
    address = f"/api/v1/runs/{site.running.pk}"
    response = client.get(address)
    assert response["Retry-After"] == "5"
    assert client.get(address, headers={"If-None-Match": response["ETag"]}).status_code == 304
    assert "Retry-After" not in client.get(f"/api/v1/runs/{site.first.pk}")


@pytest.fixture
def two_entries_per_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parameters, "ENTRIES_PER_PAGE", 2)


def pages(client: Client, address: str) -> Iterator[dict[str, Any]]:
    """Yield every page of a list, from one to the `next`."""
    following: str | None = address
    while following:
        answer = client.get(following).json()
        yield answer
        following = answer["next"]


@pytest.mark.usefixtures("two_entries_per_page")
@pytest.mark.parametrize(
    ("route", "entries"),
    [
        ("runs", "runs"),
        ("overview?sort=-small", "rows"),
        ("benchmarks/small/items?order=file", "items"),
        ("runs/{run}/items", "items"),
        ("runs/{run}/items?relation=P36", "items"),
    ],
)
def test_pages_by_cursor_are_pages_by_number(client: Client, site: Site, route: str, entries: str) -> None:
    address = f"/api/v1/{route.format(run=site.first.pk)}"
    by_cursor = list(pages(client, address))
    assert len(by_cursor) > 1
    for number, answer in enumerate(by_cursor, start=1):
        same = client.get(f"{address}{'&' if '?' in address else '?'}page={number}").json()
        assert (answer["page"], answer[entries]) == (number, same[entries])
        assert len(answer[entries]) == 2 or number == len(by_cursor)


@pytest.mark.usefixtures("two_entries_per_page")
def test_a_run_that_is_added_in_the_meantime_moves_nothing(client: Client, site: Site) -> None:
    before = [run["run"] for page in pages(client, "/api/v1/runs") for run in page["runs"]]
    first = client.get("/api/v1/runs").json()
    make.run(make.model("org/added"), site.benchmark, Run.State.QUEUED)
    rest = [run["run"] for page in pages(client, first["next"]) for run in page["runs"]]
    assert [run["run"] for run in first["runs"]] + rest == before


def test_a_cursor_that_names_nothing_is_refused(client: Client, site: Site) -> None:
    for route in ("runs", "overview", f"runs/{site.first.pk}/items", "benchmarks/small/items"):
        for cursor in ("nothing", "9" * 30, "9" * 200, "-1"):
            assert refused(client, route, cursor=cursor)["next_step"] == "Begin again without cursor.", route
    assert refused(client, "runs?cursor=3&page=2")["next_step"] == "Send one of them."
