"""What several pages share: pages, and their tables as files."""

from django.test import Client, RequestFactory

from leaderboard.pages.rendering import show
from tests.leaderboard.conftest import Site


def test_an_unknown_table_is_said_with_those_that_are_there(client: Client, site: Site) -> None:
    response = client.get("/?format=csv&table=nonsense")
    assert response.status_code == 404
    assert "overview" in response.content.decode()


def test_a_page_without_tables_has_no_csv() -> None:
    response = show(RequestFactory().get("/", {"format": "csv"}), "methods.html", {})
    assert response.status_code == 404
    assert b"Tables of this page: none." in response.content


def test_a_table_of_a_template_is_a_file() -> None:
    files = {"ranks": (["run", "rank"], [{"run": 3, "rank": 0.5}])}
    response = show(RequestFactory().get("/", {"format": "csv", "table": "ranks"}), "methods.html", {}, files=files)
    assert getattr(response, "content", b"") == b"run,rank\n3,0.5\n"
