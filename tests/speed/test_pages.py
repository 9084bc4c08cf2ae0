"""The measurement of pages: a small site that is measured."""

import json
from pathlib import Path

import pytest

from speed import page_requests, pages, stored_results
from speed.page_requests import Server, measure
from speed.pages import report, served
from speed.web_load import Site, free_port


@pytest.mark.slow
def test_a_site_is_measured_from_outside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(page_requests, "ROUNDS", 2)
    monkeypatch.setattr(pages, "PAGES", ("/benchmarks/", "/runs/{large}/items/"))
    monkeypatch.setattr(stored_results, "RESULTS", tmp_path)
    site = Site(tmp_path, free_port())
    site.command("migrate", "--verbosity=0")
    site.fill(models=5, benchmarks=1, templates=1, rows=100, waiting=1)
    assert report(site) in (0, 1)
    assert capsys.readouterr().out.count("| /") == 2
    stored = (tmp_path / "pages.json").read_text()
    memory = json.loads(stored)["memory"]
    assert 50 * 10**6 < memory["before"] <= memory["peak"]
    assert report(site, ["/runs/{first}/"]) in (0, 1)
    assert capsys.readouterr().out.count("| /runs/") == 1
    assert (tmp_path / "pages.json").read_text() == stored
    with served(site) as process:
        figures = measure(Server(site.port, process.pid), "/benchmarks/")
    assert figures.first > 0 and figures.at_once > 0 and figures.renewal > 0
    assert 1 < figures.queries <= 12
    assert figures.raw > figures.zipped > 500
    assert figures.bare > 0
