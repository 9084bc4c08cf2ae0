"""What all routes of /api/v1/ share: methods, one shape of error, unknown names refused, versions of answers."""

import pytest
from django.core.cache import cache
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from leaderboard.models import Model
from tests.leaderboard.conftest import Site


@pytest.mark.parametrize("route", ["nonsense", "runs/999", "leaderboard?benchmark=nonsense"])
def test_what_is_not_there_has_the_shape_of_an_error(client: Client, site: Site, route: str) -> None:
    response = client.get(f"/api/v1/{route}")
    assert response.status_code == 404
    assert set(response.json()["error"]) == {"code", "message", "next_step"}


def test_what_is_not_there_is_named(client: Client, site: Site) -> None:
    assert client.get("/api/v1/runs/999").json()["error"]["message"] == "There is no run 999."
    assert client.get("/api/v1/").json()["error"]["code"] == "not-found"


@pytest.mark.parametrize(
    ("route", "choice"),
    [
        ("leaderboard?benchmark=small&kind=foo", "masked"),
        ("leaderboard?benchmark=small&published=foo", "ranked"),
        ("leaderboard?benchmark=small&columns=domain:Geographic&columns=foo:bar", "domain:Geographic"),
        ("runs?state=nope", "finished"),
        ("runs?benchmark=nope", "small"),
        ("runs/{run}/items?relation=nope", "P36"),
        ("runs/{run}/items?domain=nope", "Political"),
        ("runs/{run}/items?correct=maybe", "yes"),
    ],
)
def test_a_filter_that_names_nothing_is_refused_with_a_choice(
    client: Client, site: Site, route: str, choice: str
) -> None:
    response = client.get(f"/api/v1/{route.format(run=site.first.pk)}")
    error = response.json()["error"]
    assert (response.status_code, error["code"]) == (400, "bad-input")
    assert choice in error["next_step"]


@pytest.mark.parametrize(
    ("method", "route", "allowed"),
    [("get", "submit", "POST"), ("put", "submit", "POST"), ("post", "runs", "GET, HEAD")],
)
def test_another_method_is_refused_with_those_that_would_do(method: str, route: str, allowed: str) -> None:
    response = getattr(Client(enforce_csrf_checks=True), method)(f"/api/v1/{route}")
    assert (response.status_code, response["Allow"]) == (405, allowed)
    assert response.json()["error"]["code"] == "method-not-allowed"


@pytest.mark.parametrize(
    ("route", "names", "choices"),
    [
        ("leaderboard?benchmark=small&knid=causal&pege=2", "'knid', 'pege'", "benchmark, kind, size"),
        ("runs?modle=org/first", "'modle'", "page, cursor, model, benchmark, probe, state"),
        ("runs/{run}?full=1", "'full'", "It has none."),
        ("runs/{run}/items?dimension=x", "'dimension'", "domain"),
        ("models?page=1", "'page'", "It has none."),
        ("compare?m=1&m=2&k=3", "'k'", "m, benchmark"),
    ],
)
def test_unknown_parameters_are_refused_by_name(
    client: Client, site: Site, route: str, names: str, choices: str
) -> None:
    response = client.get(f"/api/v1/{route.format(run=site.first.pk)}")
    error = response.json()["error"]
    assert (response.status_code, error["message"]) == (400, f"This route has no parameter {names}.")
    assert choices in error["next_step"]


@pytest.mark.parametrize("page", ["0", "-1", "two", "1e9"])
def test_a_page_that_is_no_number_is_refused_and_named(client: Client, site: Site, page: str) -> None:
    response = client.get("/api/v1/runs", {"page": page})
    assert response.status_code == 400
    assert response.json()["error"]["message"].startswith("page: ")


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
