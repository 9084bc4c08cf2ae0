"""The figures of the measurement of pages: what they say, and the limits that they miss."""

from dataclasses import replace

import pytest

from speed.page_figures import HEADER, DownloadFigures, MemoryFigures, PageFigures

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
DOWNLOAD = DownloadFigures("/?format=csv", bare=10.0, first_row=20.0, whole=900.0, rows=50, memory=10_000_000)
MEMORY = MemoryFigures(before=200_000_000, peak=350_000_000)


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


@pytest.mark.parametrize(
    ("figures", "words"),
    [
        (DOWNLOAD, []),
        (replace(DOWNLOAD, first_row=160.0), ["first row"]),
        (replace(DOWNLOAD, memory=50_000_001), ["more memory"]),
        (MEMORY, []),
        (replace(MEMORY, peak=400_000_001), ["web process"]),
    ],
)
def test_limits_of_a_download_and_of_the_memory(figures: DownloadFigures | MemoryFigures, words: list[str]) -> None:
    assert len(figures.misses) == len(words)
    assert all(word in miss for word, miss in zip(words, figures.misses, strict=True))


def test_a_line_has_a_column_for_each_title() -> None:
    titles, dashes = HEADER.splitlines()
    assert GOOD.line.count("|") == titles.count("|") == dashes.count("|")
    assert "| 10.0 |" in " ".join(GOOD.line.split())  # times the bare view


def test_memory_is_stated_in_millions_of_bytes() -> None:
    assert MEMORY.line == "Peak memory of the web process: 350 MB; before the first page 200 MB."
    assert "10 MB more memory" in DOWNLOAD.line
