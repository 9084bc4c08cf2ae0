"""What an address that does not exist answers."""

import pytest
from django.test import Client

from tests.leaderboard import factories as make
from tests.leaderboard.conftest import Site


@pytest.mark.parametrize("address", ["/models/org/frist/", "/models/org/FIRST1/", "/frist", "/org/first"])
def test_a_name_that_is_nearly_right_leads_to_the_model(client: Client, site: Site, address: str) -> None:
    response = client.get(address)
    assert response.status_code == 404
    assert 'href="/models/org/first/"' in response.content.decode()


def test_a_benchmark_with_a_near_name_is_offered(client: Client, site: Site) -> None:
    response = client.get("/benchmarks/smal/")
    assert (response.status_code, 'href="/benchmarks/small/"' in response.content.decode()) == (404, True)


def test_a_name_that_is_near_to_nothing_has_a_search_only(client: Client, site: Site) -> None:
    response = client.get("/models/xx/qqqqqqqqqqqq/")
    page = response.content.decode()
    assert response.status_code == 404
    assert "Did you mean" not in page
    assert 'role="search"' in page


def test_a_hostile_name_is_shown_inert(client: Client, db: None) -> None:
    make.model("org/<b>bold")
    page = client.get("/models/org/<b>bald/").content.decode()
    assert "&lt;b&gt;bold" in page
    assert "<b>bold" not in page
