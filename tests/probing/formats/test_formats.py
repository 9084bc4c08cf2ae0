"""Which format a folder is read as."""

from pathlib import Path

import pytest

from probing.errors import BadBenchmark
from probing.formats import FORMATS, READERS, format_of
from probing.known_benchmarks import CATALOG, EMBEDDED

SHIPPED = [slug for slug, benchmark in CATALOG.items() if not benchmark.downloads]


@pytest.mark.parametrize("slug", SHIPPED)
def test_a_shipped_benchmark_is_recognised(slug: str) -> None:
    assert format_of(EMBEDDED / slug) == CATALOG[slug].format


def test_a_folder_that_no_reader_fits_is_refused_with_the_files_that_one_would(tmp_path: Path) -> None:
    (tmp_path / "triple.csv").write_text("fact_type,subject,objects\n")
    with pytest.raises(BadBenchmark, match="none of the files by which a benchmark is recognised") as caught:
        format_of(tmp_path)
    marks = ("metadata_relations.json", "relations.jsonl", "triples.csv", "relation_mapping.json", "templates.jsonl")
    assert all(mark in caught.value.next_step for mark in marks)


def test_a_file_in_place_of_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "questions.csv").write_text("question,answer\n")
    with pytest.raises(BadBenchmark, match=r"questions\.csv is not a folder\. Give the folder"):
        format_of(tmp_path / "questions.csv")


def test_every_reader_is_a_format() -> None:
    assert all(FORMATS[name] == reader.read for name, reader in READERS.items())
    assert list(FORMATS) == sorted(READERS)
