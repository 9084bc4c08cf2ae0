"""Which format a folder is read as."""

from pathlib import Path

import pytest

from probing.formats import FORMATS, READERS, format_of
from probing.known_benchmarks import CATALOG, EMBEDDED

SHIPPED = [slug for slug, benchmark in CATALOG.items() if not benchmark.downloads]


@pytest.mark.parametrize("slug", SHIPPED)
def test_a_shipped_benchmark_is_recognised(slug: str) -> None:
    assert format_of(EMBEDDED / slug) == CATALOG[slug].format


def test_a_folder_that_no_reader_fits_is_left_to_bears(tmp_path: Path) -> None:
    assert not any(reader.fits(tmp_path) for reader in READERS.values())
    assert format_of(tmp_path) == "bear"


def test_every_reader_is_a_format() -> None:
    assert all(FORMATS[name] == reader.read for name, reader in READERS.items())
    assert list(FORMATS) == sorted(READERS)
