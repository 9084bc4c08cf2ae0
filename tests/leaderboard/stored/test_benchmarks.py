from pathlib import Path

import pytest

from leaderboard.models import Benchmark
from leaderboard.stored import benchmarks
from probing.errors import BadBenchmark, BadInput
from tests.conftest import BearFolder

pytestmark = pytest.mark.django_db


def test_it_copies_the_files_of_every_version(bear_folder: BearFolder, data: Path) -> None:
    first, new = benchmarks.install("bear", bear_folder.write(), "small", "Small")
    bear_folder.lines["P36"].pop()
    second, also_new = benchmarks.install("bear", bear_folder.write(), "small", "Small")
    assert (new, also_new) == (True, True)
    assert benchmarks.current("small") == second
    assert list(Benchmark.objects.filter(current=True)) == [second]
    assert [benchmarks.read(version).size for version in (first, second)] == [6, 5]
    assert (data / first.path / "P36.jsonl").exists()


def test_the_same_files_again_change_nothing(bear_folder: BearFolder) -> None:
    first, _ = benchmarks.install("bear", bear_folder.write(), "small")
    assert benchmarks.install("bear", bear_folder.path, "small") == (first, False)


def test_an_older_version_can_become_current_again(bear_folder: BearFolder) -> None:
    first, _ = benchmarks.install("bear", bear_folder.write(), "small")
    line = bear_folder.lines["P36"].pop()
    benchmarks.install("bear", bear_folder.write(), "small")
    bear_folder.lines["P36"].append(line)
    again, new = benchmarks.install("bear", bear_folder.write(), "small")
    assert (again, new, again.current) == (first, True, True)


def test_a_known_benchmark_has_the_facts_of_the_catalog(bear_folder: BearFolder) -> None:
    benchmark, _ = benchmarks.install("bear", bear_folder.write(), "bear")
    assert (benchmark.title, benchmark.settings_with({}).templates) == ("BEAR", (0, 1, 2))
    assert "wiland2024bear" in benchmark.citation


def test_a_benchmark_with_no_blank_at_the_end_of_a_sentence_is_imported(tmp_path: Path) -> None:
    triple = '{"fact_type": "country_continent", "subject": "Kenya", "objects": ["Africa"]}\n'
    (tmp_path / "triples.jsonl").write_text(triple)
    benchmark, new = benchmarks.install("geography", tmp_path, "continents")
    assert (new, benchmark.items) == (True, 1)


def test_a_spoilt_folder_is_refused_and_leaves_no_trace(bear_folder: BearFolder, data: Path) -> None:
    bear_folder.write()
    (bear_folder.path / "P30.jsonl").write_text("{\n")
    with pytest.raises(BadBenchmark, match=r"P30\.jsonl"):
        benchmarks.install("bear", bear_folder.path, "small")
    assert not Benchmark.objects.exists()
    assert not (data / "benchmarks").exists()


def test_an_unknown_format_is_refused(bear_folder: BearFolder) -> None:
    with pytest.raises(BadInput, match="no format 'xml'"):
        benchmarks.install("xml", bear_folder.write())


def test_files_that_were_changed_afterwards_are_noticed(small: Benchmark, data: Path) -> None:
    (data / small.path / "P36.jsonl").unlink()
    metadata = data / small.path / "metadata_relations.json"
    metadata.write_text(metadata.read_text().replace("governs", "rules"))
    with pytest.raises(BadInput):
        benchmarks.read(small)


def test_a_benchmark_without_files_takes_no_runs(small: Benchmark) -> None:
    Benchmark.objects.update(path="")
    with pytest.raises(BadInput, match="no benchmark 'small'"):
        benchmarks.current("small")


def test_files_with_other_content_than_when_they_were_imported_are_refused(small: Benchmark, data: Path) -> None:
    (data / small.path / "P36.jsonl").write_text((data / small.path / "P36.jsonl").read_text().replace("Oslo", "Rome"))
    benchmarks._read_files.cache_clear()
    with pytest.raises(BadInput, match=r"The files of small in small@\w+ were changed\. Import the benchmark again"):
        benchmarks.read(small)
