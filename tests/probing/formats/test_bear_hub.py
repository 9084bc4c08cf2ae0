"""BEAR's data set of the hub: the same questions as in its repository, and clear words for a file that is not so."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from probing.benchmark import Benchmark
from probing.catalog import CATALOG, download, how_checked, open_benchmark
from probing.errors import BadBenchmark, SourceUnavailable
from probing.formats import bear, bear_hub, format_of
from probing.runner import run
from tests.conftest import BearFolder
from tests.fakes import FakeModel
from tests.hub.local_hub import Hub, serve

Rows = list[dict[str, Any]]


def rows_of(benchmark: Benchmark) -> Rows:
    """Return a benchmark as the rows of the data set, with the columns that its card names."""
    return [
        {
            "composite_id": f"{relation.id}-{item.index}-{number}",
            "relation": relation.id,
            "item": item.index,
            "template_index": number,
            "template": template,
            "subject": item.subject,
            "answer_options": list(relation.answer_space),
            "correct": item.answers[0],
            "text_options": [template] * len(relation.answer_space),
        }
        for relation in benchmark.relations
        for number, template in enumerate(relation.templates)
        for item in relation.items
    ]


def write(rows: Rows, folder: Path, parts: int = 2) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    size = -(-len(rows) // parts)
    for part in range(parts):
        table = pa.Table.from_pylist(rows[part * size : (part + 1) * size])
        pq.write_table(table, folder / f"test-{part:05}-of-{parts:05}.parquet")
    return folder


def assert_same_questions(actual: Benchmark, expected: Benchmark) -> None:
    for one, other in zip(actual.relations, expected.relations, strict=True):
        assert (one.id, one.templates, one.answer_space) == (other.id, other.templates, other.answer_space)
        assert [(i.index, i.subject, i.answers) for i in one.items] == [
            (i.index, i.subject, i.answers) for i in other.items
        ]


@pytest.fixture
def small(bear_folder: BearFolder) -> Benchmark:
    return bear.read(bear_folder.write())


def test_it_asks_what_the_files_of_the_repository_ask(small: Benchmark, tmp_path: Path) -> None:
    folder = write(rows_of(small), tmp_path / "hub")
    assert format_of(folder) == "bear_hub"
    benchmark = bear_hub.read(folder)
    assert_same_questions(benchmark, small)
    by_hub, by_files = (run(FakeModel(), one, progress=False) for one in (benchmark, small))
    assert by_hub.items["prediction"].tolist() == by_files.items["prediction"].tolist()


def test_the_whole_of_bear_is_read_from_such_files(real_bear: Path, tmp_path: Path) -> None:
    expected = bear.read(real_bear)
    assert_same_questions(bear_hub.read(write(rows_of(expected), tmp_path / "hub", parts=3)), expected)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"template": "no slots"}, r"row 0: the template lacks \[X\] or \[Y\]"),
        ({"correct": 99}, "row 0: the right answer 99 is no option"),
        ({"subject": None}, "row 0: subject is None"),
        ({"subject": ""}, "no proper name"),
        ({"relation": "../P1"}, "no proper name"),
        ({"answer_options": ["a", "a"]}, "not distinct"),
        ({"answer_options": ["a", "b"], "correct": 0}, "has other options"),
        ({"item": 77}, "a template is missing"),
    ],
)
def test_a_row_at_fault_is_named(change: dict[str, Any], fault: str, small: Benchmark, tmp_path: Path) -> None:
    rows = rows_of(small)
    rows[0] |= change
    with pytest.raises(BadBenchmark, match=fault):
        bear_hub.read(write(rows, tmp_path / "hub"))


def test_a_repeated_row_is_refused(small: Benchmark, tmp_path: Path) -> None:
    rows = rows_of(small)
    with pytest.raises(BadBenchmark, match="occurs twice"):
        bear_hub.read(write([*rows, rows[0]], tmp_path / "hub"))


def test_a_file_that_is_no_parquet_or_lacks_columns_is_refused(small: Benchmark, tmp_path: Path) -> None:
    folder = write(rows_of(small), tmp_path / "hub")
    (folder / "test-00000-of-00002.parquet").write_bytes(b"no Parquet")
    with pytest.raises(BadBenchmark, match="cannot be read"):
        bear_hub.read(folder)
    pq.write_table(pa.table({"relation": ["P1"]}), folder / "test-00000-of-00002.parquet")
    with pytest.raises(BadBenchmark, match="the column 'answer_options' is missing"):
        bear_hub.read(folder)
    with pytest.raises(BadBenchmark, match="holds no Parquet files"):
        bear_hub.read(tmp_path)


@pytest.fixture
def hub(small: Benchmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Serve a hub with the data set in two folders."""
    for name in ("BEAR", "BEAR_big"):
        write(rows_of(small), tmp_path / "data-set" / name)
    (tmp_path / "data-set" / "README.md").write_text("license: cc-by-sa-4.0")
    with serve() as server:
        server.add("lm-pub-quiz/BEAR", tmp_path / "data-set")
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        yield server


@pytest.mark.parametrize(("slug", "folder"), [("bear-hub", "BEAR"), ("bear-big-hub", "BEAR_big")])
def test_it_is_downloaded_from_the_hub(slug: str, folder: str, hub: Hub, small: Benchmark, tmp_path: Path) -> None:
    target = tmp_path / "var" / slug
    benchmark = download(slug, target)
    assert_same_questions(benchmark, small)
    assert (benchmark.slug, benchmark.title) == (slug, CATALOG[slug].title)
    assert open_benchmark(slug, tmp_path / "var") == benchmark
    assert "what its source gives at present" in how_checked(slug, target)
    files = [request for request in hub.requests if ".parquet" in request]
    assert len(files) == 2 and all(f"/datasets/lm-pub-quiz/BEAR/resolve/main/{folder}/" in file for file in files)


def test_a_hub_without_the_data_set_says_what_to_do(hub: Hub, tmp_path: Path) -> None:
    hub.repositories.clear()
    with pytest.raises(SourceUnavailable, match="could not be fetched") as caught:
        download("bear-hub", tmp_path / "bear-hub")
    assert "/datasets/lm-pub-quiz/BEAR/tree/main/BEAR" in caught.value.next_step


def test_a_folder_without_parquet_files_is_refused(hub: Hub, tmp_path: Path) -> None:
    for path in (tmp_path / "data-set" / "BEAR").iterdir():
        path.rename(path.with_suffix(".txt"))
    with pytest.raises(SourceUnavailable, match="no Parquet files"):
        download("bear-hub", tmp_path / "bear-hub")


def test_the_catalog_states_source_and_licence() -> None:
    for slug in ("bear-hub", "bear-big-hub"):
        assert CATALOG[slug].licence == "CC BY-SA 4.0"
        assert CATALOG[slug].source == "https://huggingface.co/datasets/lm-pub-quiz/BEAR"
