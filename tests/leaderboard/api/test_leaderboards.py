"""/api/v1/leaderboard, models, benchmarks and changes have the numbers of the pages."""

import pytest
from django.test import Client

from tests.leaderboard.conftest import Site


def test_the_leaderboard_has_the_numbers_of_the_page(client: Client, site: Site) -> None:
    answer = client.get("/api/v1/leaderboard?benchmark=small").json()
    lines = client.get("/benchmarks/small/?format=csv").getvalue().decode().splitlines()[1:]
    assert [row["model"]["hub_id"] for row in answer["rows"]] == [line.split(",")[1] for line in lines]
    assert answer["benchmark"]["digest"] == site.benchmark.digest


@pytest.mark.parametrize("route", ["models", "benchmarks", "runs?model=org/first"])
def test_lists_answer(client: Client, site: Site, route: str) -> None:
    assert "org/first" in client.get(f"/api/v1/{route}").content.decode() or route == "benchmarks"
