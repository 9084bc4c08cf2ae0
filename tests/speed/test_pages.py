"""The measurement of pages: a small site that is measured, what is said of pages, and the limits that they miss."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from speed import pages, stored_results
from speed.pages import HEADER, DownloadFigures, PageFigures, measure, memory_misses, report
from speed.served_site import Site


@pytest.mark.slow
def test_a_site_is_measured_from_outside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(pages, "ROUNDS", 2)
    monkeypatch.setattr(pages, "PAGES", ("/benchmarks/", "/runs/{large}/items/"))
    monkeypatch.setattr(stored_results, "RESULTS", tmp_path)
    site = Site(tmp_path)
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
    with site.measured() as server:
        figures = measure(server, "/benchmarks/")
    assert figures.anew > 0
    assert 1 < figures.queries <= 12
    assert figures.raw > figures.zipped > 500
    assert figures.bare > 0


TIMES = {"bare": 10.0, "anew": 190.0, "unchanged": 12.0}
GOOD = PageFigures("/", **TIMES, processor=60.0, bare_processor=5.0, queries=8, raw=100_000, zipped=10_000)
DOWNLOAD = DownloadFigures("/?format=csv", bare=10.0, first_row=20.0, whole=900.0, rows=50, memory=10_000_000)


@pytest.mark.parametrize(
    ("figures", "words"),
    [
        (GOOD, []),
        (replace(GOOD, anew=201.0), ["computed anew"]),
        (replace(GOOD, unchanged=21.0), ["unchanged"]),
        (replace(GOOD, queries=16), ["queries"]),
        (replace(GOOD, raw=300_001, zipped=60_001), ["bytes", "bytes compressed"]),
        (replace(GOOD, page="/?format=csv", raw=300_001, zipped=60_001), []),
        (DOWNLOAD, []),
        (replace(DOWNLOAD, first_row=201.0), ["first row"]),
        (replace(DOWNLOAD, memory=50_000_001), ["more memory"]),
    ],
)
def test_a_sentence_names_each_limit_that_is_missed(figures: PageFigures | DownloadFigures, words: list[str]) -> None:
    assert len(figures.misses) == len(words)
    assert all(word in miss for word, miss in zip(words, figures.misses, strict=True))


def test_a_line_has_a_column_for_each_title() -> None:
    titles, dashes = HEADER.splitlines()
    assert GOOD.line.count("|") == titles.count("|") == dashes.count("|")
    assert "| 10.0 |" in " ".join(GOOD.line.split())  # times the bare view


def test_memory_is_stated_and_limited_in_millions_of_bytes() -> None:
    assert memory_misses(400_000_000) == []
    assert memory_misses(400_000_001) == ["Peak memory of the web process: 400 MB, must be 400 at most."]
    assert "10 MB more memory" in DOWNLOAD.line
