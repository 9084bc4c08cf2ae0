"""Counting a corpus file by file: the same by several processes, and only what is missing after an interruption."""

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from probing.benchmark import Benchmark
from probing.errors import BadInput
from probing.exposure import corpus as corpus_module
from probing.exposure import counting
from probing.exposure.corpus import CorpusFile
from probing.exposure.counting import count_exposure, count_file
from probing.exposure.named_facts import Fact, facts_of
from probing.results.checkpoint import partial_folder

TEXTS = ["Chad is in Africa.\n" * 3, "Egypt is in Africa. Chad is not.\n", "Africa has Chad.\n", ""]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    for number, text in enumerate(TEXTS):
        (folder / f"{number}.txt").write_text(text)
    return folder


@pytest.fixture
def facts(benchmark: Benchmark) -> tuple[Fact, ...]:
    return facts_of(benchmark)


def interrupted(*arguments: Any) -> None:
    raise KeyboardInterrupt


def counts(table: pd.DataFrame) -> dict[str, int]:
    stated = table[table["count"] > 0]
    return dict(zip(stated["subject"], stated["count"], strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("executor", [None, "processes:2"])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_table_has_every_fact(
    executor: str | None, ending: str, corpus: Path, facts: tuple[Fact, ...], tmp_path: Path
) -> None:
    out = tmp_path / f"counts.{ending}"
    table = count_exposure([str(corpus)], facts, out, executor=executor, progress=False)
    read = {"csv": pd.read_csv, "parquet": pd.read_parquet}[ending](out)
    pd.testing.assert_frame_equal(table, read, check_dtype=False)
    assert [*read] == ["relation", "index", "subject", "answer", "count"]
    assert len(read) == len(facts)
    assert counts(read) == {"Chad": 4, "Egypt": 1}
    assert not partial_folder(out).exists()


def test_finished_files_are_kept_and_changed_ones_counted_again(
    corpus: Path, facts: tuple[Fact, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    out, real = tmp_path / "counts.csv", counting.count_file

    def failing_at(name: str) -> Callable[..., Any]:
        def count(file: CorpusFile, *arguments: Any) -> Any:
            if Path(file.name).name == name:
                raise KeyboardInterrupt
            read.append(Path(file.name).name)
            return real(file, *arguments)

        return count

    monkeypatch.setattr(counting, "count_file", failing_at("2.txt"))
    with pytest.raises(KeyboardInterrupt):
        count_exposure([str(corpus)], facts, out, progress=False)
    assert read == ["0.txt", "1.txt"]
    assert not out.exists()
    (corpus / "0.txt").write_text("Chad is in Africa.\n")
    monkeypatch.setattr(counting, "count_file", failing_at("none"))
    table = count_exposure([str(corpus)], facts, out, progress=False)
    assert read == ["0.txt", "1.txt", "0.txt", "2.txt", "3.txt"]
    assert counts(table) == {"Chad": 2, "Egypt": 1}


def test_the_counts_of_another_unit_are_not_used(corpus: Path, facts: tuple[Fact, ...], tmp_path: Path) -> None:
    out = tmp_path / "counts.csv"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "write_tables", interrupted)
        with pytest.raises(KeyboardInterrupt):
            count_exposure([str(corpus)], facts, out, progress=False)
    assert len(list(partial_folder(out).iterdir())) == len(TEXTS)
    table = count_exposure([str(corpus)], facts, out, unit="document", progress=False)
    assert counts(table) == {"Chad": 5, "Egypt": 1}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"unit": "page"}, "is no unit"),
        ({"executor": "threads:2"}, "There is no executor"),
        ({"out": "counts.xlsx"}, "no known ending"),
        ({"corpus": ["none"]}, "There are no files of text"),
    ],
)
def test_bad_arguments_are_refused_and_leave_nothing(
    arguments: dict[str, Any], message: str, corpus: Path, facts: tuple[Fact, ...], tmp_path: Path
) -> None:
    before = sorted(tmp_path.iterdir())
    sources, out = arguments.pop("corpus", [str(corpus)]), tmp_path / arguments.pop("out", "counts.csv")
    with pytest.raises(BadInput, match=message):
        count_exposure(sources, facts, out, progress=False, **arguments)
    assert sorted(tmp_path.iterdir()) == before


def test_progress_goes_by_bytes(
    corpus: Path, facts: tuple[Fact, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[float] = []
    (corpus / "0.txt").write_text("Chad is in Africa.\n" * 200_000)
    file = CorpusFile.of_path(corpus / "0.txt")
    counting.count_file(file, facts, "sentence", steps.append)
    assert len(steps) > 3
    assert sum(steps) == file.size


def test_memory_does_not_grow_with_the_corpus(
    tmp_path: Path, facts: tuple[Fact, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpus_module, "BLOCK", 2**14)
    peaks = []
    for copies in (2_000, 20_000):
        (tmp_path / "a.txt").write_text("Chad is in Africa. Egypt is not.\n" * copies)
        tracemalloc.start()
        count_file(CorpusFile.of_path(tmp_path / "a.txt"), facts, "sentence")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.1 * peaks[0]
