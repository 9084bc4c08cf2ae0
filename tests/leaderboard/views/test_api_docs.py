"""/api/ : the routes of the API."""

import re

from django.test import Client

from leaderboard.urls import v1
from leaderboard.views import api
from leaderboard.views.api_docs import ROUTES


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
        assert (response.status_code, response["Allow"]) == (405, "GET, HEAD" if route.method == "GET" else "POST")
