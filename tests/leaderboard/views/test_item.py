"""/runs/<id>/items/<relation>/<template>/<index>/ : one item."""

import pytest
from django.test import Client

from tests.leaderboard.conftest import Site


def test_an_item_shows_every_option(client: Client, site: Site) -> None:
    html = client.get(f"/runs/{site.first.pk}/items/P30/0/1/").content.decode()
    assert "Egypt is located in" in html
    for option in ("Africa", "Asia", "Europe"):
        assert option in html


@pytest.mark.parametrize("place", ["P30/0/99", "P30/9/0", "P99/0/0"])
def test_an_item_that_is_not_there_is_not_found(client: Client, site: Site, place: str) -> None:
    assert client.get(f"/runs/{site.first.pk}/items/{place}/").status_code == 404


def test_an_item_of_a_run_without_stored_items_is_not_found_and_says_why(client: Client, site: Site) -> None:
    response = client.get(f"/runs/{site.published.pk}/items/P30/0/1/")
    assert response.status_code == 404
    assert "no items to show" in response.content.decode()


def test_an_item_of_an_unknown_run_is_not_found(client: Client, db: None) -> None:
    assert client.get("/runs/99/items/P30/0/1/").status_code == 404
