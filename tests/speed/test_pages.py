"""The measurement of pages: limits, and a small site that is measured."""

from dataclasses import replace
from itertools import chain
from pathlib import Path

import pytest

from speed import pages
from speed.pages import PageFigures, Server, measure, report, served
from speed.web_load import Site, free_port

GOOD = PageFigures(
    "/",
    bare=10.0,
    anew=100.0,
    first=100.0,
    at_once=400.0,
    renewal=500.0,
    unchanged=12.0,
    processor=60.0,
    bare_processor=5.0,
    queries=8,
    raw=100_000,
    zipped=10_000,
)


@pytest.mark.parametrize(
    ("figures", "words"),
    [
        (GOOD, []),
        (replace(GOOD, anew=160.0), ["computed anew"]),
        (replace(GOOD, first=160.0), ["after new results"]),
        (replace(GOOD, at_once=501.0), ["at once after new results"]),
        (replace(GOOD, unchanged=21.0), ["unchanged"]),
        (replace(GOOD, queries=13), ["queries"]),
        (replace(GOOD, raw=300_001, zipped=60_001), ["bytes", "bytes compressed"]),
        (replace(GOOD, page="/?format=csv", raw=300_001, zipped=60_001), []),
    ],
)
def test_a_sentence_names_each_limit_that_is_missed(figures: PageFigures, words: list[str]) -> None:
    assert len(figures.misses) == len(words)
    assert all(word in miss for word, miss in zip(words, figures.misses, strict=True))


@pytest.mark.slow
def test_a_site_is_measured_from_outside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(pages, "ROUNDS", 2)
    monkeypatch.setattr(pages, "PAGES", ("/benchmarks/", "/runs/{large}/items/"))
    monkeypatch.setattr(pages, "RESULTS", tmp_path / "pages.json")
    site = Site(tmp_path, free_port())
    site.command("migrate", "--verbosity=0")
    few = {"--models": "5", "--benchmarks": "1", "--templates": "1", "--rows": "100", "--waiting": "1"}
    site.command("seed_scale", *chain.from_iterable(few.items()))
    assert report(site) in (0, 1)
    assert capsys.readouterr().out.count("| /") == 2
    stored = pages.RESULTS.read_text()
    assert report(site, ["/runs/{first}/"]) in (0, 1)
    assert capsys.readouterr().out.count("| /runs/") == 1
    assert pages.RESULTS.read_text() == stored
    with served(site) as process:
        figures = measure(Server(site.port, process.pid), "/benchmarks/")
    assert figures.first > 0 and figures.at_once > 0 and figures.renewal > 0
    assert 1 < figures.queries <= 12
    assert figures.raw > figures.zipped > 500
    assert figures.bare > 0
