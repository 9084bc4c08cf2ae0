"""What several pages share: tables as CSV, the sections of a probe, and who submits."""

import pytest
from django.http import QueryDict
from django.test import Client, RequestFactory

from leaderboard.models import Run
from leaderboard.pages.rendering import probe_sections, show
from leaderboard.probes.probe_pages import ProbePages
from leaderboard.ui.sections import Section, Switch
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


@pytest.mark.parametrize(("state", "names"), [("finished", ["leaks on"]), ("scoring", []), ("failed", [])])
def test_only_a_finished_run_has_the_sections_of_its_probe(state: str, names: list[str]) -> None:
    pages = ProbePages(
        switches=[Switch("leaks", "none", "All", "None")],
        run_sections=lambda run, no_leaks: [Section("leaks on" if no_leaks else "leaks off", "Leaks")],
    )
    sections = probe_sections(Run(state=state), pages, QueryDict("leaks=none"))
    assert [section.name for section in sections] == names
