"""/api/ : the routes of the API."""

import json
import re
from typing import Any

from django.conf import settings
from django.test import Client

from leaderboard.urls import v1
from leaderboard.views import api
from leaderboard.views.api_docs import ROUTES
from tests.leaderboard.conftest import Site

ANSWERS = settings.BASE_DIR / "docs" / "api-answers.json"


def cut(answer: Any) -> Any:
    """Cut every list to its first member."""
    if isinstance(answer, dict):
        return {name: cut(member) for name, member in answer.items()}
    return [cut(member) for member in answer[:1]] if isinstance(answer, list) else answer


def shape(answer: Any) -> Any:
    """Return an answer with the kind of each value in its place."""
    if isinstance(answer, dict):
        return {name: shape(member) for name, member in answer.items()}
    if isinstance(answer, list):
        return [shape(member) for member in answer]
    return "number" if isinstance(answer, int | float) and not isinstance(answer, bool) else type(answer).__name__


def test_the_answers_on_the_page_have_the_fields_of_real_ones(client: Client, site: Site) -> None:
    first, second = site.first.pk, site.second.pk
    routes = {
        "benchmarks": "benchmarks",
        "leaderboard?benchmark=small": "leaderboard?benchmark=small&provenance=measured",
        "runs/1/scores": f"runs/{first}/scores",
        "runs/1/items": f"runs/{first}/items",
        "compare?m=1&m=2": f"compare?m={first}&m={second}",
        "runs/999999": "runs/999999",
    }
    real = {name: cut(client.get(f"/api/v1/{route}").json()) for name, route in routes.items()}
    stored = json.loads(ANSWERS.read_text(encoding="utf-8"))
    assert shape(stored) == shape(real), f"Store this in {ANSWERS.name}:\n{json.dumps(real, indent=2)}"
    page = client.get("/api/").content.decode()
    assert all(f"GET {name}" in page.replace("&amp;", "&") for name in routes)


def test_exactly_the_routes_that_exist_are_described(client: Client, db: None) -> None:
    routes = {
        re.sub(r"<\w+:(\w+)>", r"<\1>", str(pattern.pattern)).replace("<pk>", "<id>")
        for pattern in v1
        if pattern.callback != api.no_such_route
    }
    assert routes == {route.path for route in ROUTES}
    page = client.get("/api/").content.decode()
    assert all(route.gives in page for route in ROUTES)


def test_a_route_is_described_with_the_method_that_it_takes(client: Client, db: None) -> None:
    for route in ROUTES:
        other = client.post if route.method == "GET" else client.get
        response = other("/api/v1/" + re.sub(r"<\w+>", "1", route.path))
        allowed = "GET, HEAD" if route.method == "GET" else route.method
        assert (response.status_code, response["Allow"]) == (405, allowed)
