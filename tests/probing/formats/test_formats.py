"""Which format a folder is read as, and how much memory its items take."""

from collections.abc import Callable
from pathlib import Path
from sys import getsizeof

import pytest

from probing.benchmark import Benchmark
from probing.catalog import CATALOG, EMBEDDED
from probing.errors import BadBenchmark
from probing.formats import FORMATS, READERS, bear, dlama, format_of
from tests.made_up_benchmarks import write_bear, write_dlama
from tests.traced_memory import traced_memory

ITEMS = 3000
SHIPPED = [slug for slug, benchmark in CATALOG.items() if not benchmark.downloads]


def test_every_shipped_benchmark_is_recognised() -> None:
    recognised = {slug: format_of(EMBEDDED / slug) for slug in SHIPPED}
    assert recognised == {slug: CATALOG[slug].format for slug in SHIPPED}


def test_a_folder_that_no_reader_fits_is_refused_with_the_files_that_one_would(tmp_path: Path) -> None:
    (tmp_path / "triple.csv").write_text("fact_type,subject,objects\n")
    with pytest.raises(BadBenchmark, match="none of the files by which a benchmark is recognised") as caught:
        format_of(tmp_path)
    marks = ("metadata_relations.json", "relations.jsonl", "triples.csv", "relation_mapping.json", "templates.jsonl")
    assert all(mark in caught.value.next_step for mark in marks)


def test_a_file_in_place_of_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "questions.txt").write_text("question,answer\n")
    with pytest.raises(BadBenchmark, match=r"questions\.txt is not a folder\. Give the folder"):
        format_of(tmp_path / "questions.txt")


def test_every_reader_is_a_format() -> None:
    assert list(FORMATS) == sorted(READERS)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("read", "write", "most"), [(bear.read, write_bear, 140), (dlama.read, write_dlama, 200)], ids=["bear", "dlama"]
)
def test_each_further_item_takes_few_bytes_beside_its_texts(
    read: Callable[[Path], Benchmark], write: Callable[[Path, int], None], most: int, tmp_path: Path
) -> None:
    sizes = []
    for items in (ITEMS, 2 * ITEMS):
        write(tmp_path / str(items), items)
        with traced_memory() as held:
            benchmark = read(tmp_path / str(items))
            sizes.append((held() - bytes_of_texts(benchmark), benchmark.size))
    (few_bytes, few), (many_bytes, many) = sizes
    assert (many_bytes - few_bytes) / (many - few) < most


def bytes_of_texts(benchmark: Benchmark) -> int:
    items = [item for relation in benchmark.relations for item in relation.items]
    return sum(getsizeof(text) for item in items for text in (item.subject, item.subject_id))
