"""/api/v1/runs : runs with their scores and items."""

from django.test import Client

from tests.leaderboard.conftest import Site


def test_a_run_comes_with_scores_and_items(client: Client, site: Site) -> None:
    root = f"/api/v1/runs/{site.first.pk}"
    assert client.get(root).json()["provenance_record"]["dtype"] == "float32"
    assert len(client.get(f"{root}/scores").json()["scores"]) == site.first.scores.count()
    assert client.get(f"{root}/items?relation=P36").json()["found"] == 4


def test_an_endless_search_is_refused(client: Client, site: Site) -> None:
    response = client.get(f"/api/v1/runs/{site.first.pk}/items", {"search": "a" * 101})
    assert (response.status_code, response.json()["error"]["code"]) == (400, "bad-input")


def test_items_of_an_unfinished_run_are_an_error_with_a_code(client: Client, site: Site) -> None:
    response = client.get(f"/api/v1/runs/{site.running.pk}/items")
    assert (response.status_code, response.json()["error"]["code"]) == (400, "items-missing")
