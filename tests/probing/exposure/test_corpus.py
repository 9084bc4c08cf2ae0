"""Reading a corpus: every format has the same documents, and what is no text is refused."""

import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path, PurePath

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from probing.errors import BadInput, SourceUnavailable
from probing.exposure import corpus
from probing.exposure.corpus import CorpusFile, batches, corpus_files
from tests.hub.local_hub import Hub, serve

DOCUMENTS = ["Chad is in Africa.", "Peru", "São Tomé “is” an island.", "Egypt " * 50, "end"]
LINES = "".join(json.dumps({"text": document, "id": 1}) + "\n" for document in DOCUMENTS).encode()
PLAIN = "\n".join(DOCUMENTS).encode()


def zstandard(content: bytes) -> bytes:
    """Compress in two frames, as `zstd` does with files that are joined."""
    codec = pa.Codec("zstd")
    return b"".join(codec.compress(part, asbytes=True) for part in (content[:40], content[40:]))


def parquet(path: Path) -> None:
    pq.write_table(pa.table({"id": range(5), "text": DOCUMENTS}), path)


FORMATS: dict[str, Callable[[Path], object]] = {
    "a.txt": lambda path: path.write_bytes(PLAIN),
    "a.txt.gz": lambda path: path.write_bytes(gzip.compress(PLAIN[:50]) + gzip.compress(PLAIN[50:])),
    "a.txt.zst": lambda path: path.write_bytes(zstandard(PLAIN)),
    "a.jsonl": lambda path: path.write_bytes(LINES),
    "a.json.gz": lambda path: path.write_bytes(gzip.compress(LINES)),
    "a.ndjson.zst": lambda path: path.write_bytes(zstandard(LINES)),
    "a.parquet": parquet,
    "a.unknown": lambda path: path.write_bytes(PLAIN),
}


def documents(path: Path) -> list[str]:
    return documents_of(CorpusFile.of_path(path))


def documents_of(file: CorpusFile) -> list[str]:
    return [line for batch in batches(file) for line in batch.text.split("\n") if line]


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("block", [7, 2**20])
def test_every_format_has_the_same_documents(
    name: str, block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpus, "BLOCK", block)
    monkeypatch.setattr(corpus, "PARQUET_ROWS", 2)
    FORMATS[name](tmp_path / name)
    assert documents(tmp_path / name) == DOCUMENTS
    positions = [batch.position for batch in batches(CorpusFile.of_path(tmp_path / name))]
    assert positions == sorted(positions)
    assert positions[-1] == pytest.approx((tmp_path / name).stat().st_size)


def test_the_lines_of_a_document_are_one_document_and_half_characters_are_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "New\\nYork \\ud800"}\n\n{"text": ""}\n{"text": "\\ud83c\\uddf3"}\n')
    assert documents(path) == ["New York \ufffd", "🇳"]
    pq.write_table(pa.table({"text": ["New\nYork", None, "x"]}), tmp_path / "a.parquet")
    assert documents(tmp_path / "a.parquet") == ["New York", "x"]


def test_a_long_line_of_text_is_cut_between_two_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus, "BLOCK", 10)
    monkeypatch.setattr(corpus, "LONGEST_LINE", 30)
    (tmp_path / "a.txt").write_text("word " * 100)
    pieces = documents(tmp_path / "a.txt")
    assert "".join(pieces) == "word " * 100
    assert max(map(len, pieces)) <= 50
    (tmp_path / "a.jsonl").write_text(json.dumps({"text": "word " * 100}))
    with pytest.raises(BadInput, match="a line of more than 30 bytes"):
        documents(tmp_path / "a.jsonl")
    (tmp_path / "b.txt").write_text("x" * 100)
    with pytest.raises(BadInput, match="a line of more than 30 bytes"):
        documents(tmp_path / "b.txt")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", b"\xff\xfe\x00", "is not a text in UTF-8"),
        ("a.jsonl", b'{"text": "a"}\n{"content": "b"}\n', "line 2: no JSON object with the key 'text'"),
        ("a.jsonl", b"[1]\n", "line 1: no JSON object"),
        ("a.jsonl", b'{"text": 3}\n', "is not a text"),
        ("a.txt.gz", gzip.compress(PLAIN * 100)[:-9], "cannot be read"),
        ("a.txt.zst", b"no such thing", "cannot be read"),
        ("a.parquet", b"no such thing", "cannot be read"),
    ],
)
def test_what_is_no_text_is_refused(name: str, content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BadInput, match=message):
        documents(tmp_path / name)


def test_a_table_without_texts_is_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"content": ["a"]}), tmp_path / "a.parquet")
    with pytest.raises(BadInput, match="no column 'text'"):
        documents(tmp_path / "a.parquet")


def test_folders_and_patterns_stand_for_files_each_of_which_counts_once(tmp_path: Path) -> None:
    for name in ("a.txt", "b.jsonl.zst", "c.md", "more/d.parquet", "more/e.txt.gz"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()

    def found(*sources: str) -> list[str]:
        return [
            str(Path(file.name).relative_to(tmp_path))
            for file in corpus_files([str(tmp_path / name) for name in sources])
        ]

    assert found("") == ["a.txt", "b.jsonl.zst", "more/d.parquet", "more/e.txt.gz"]
    assert found("c.md", "*.txt", "a.txt") == ["c.md", "a.txt"]
    assert found("**/*.txt*") == ["a.txt", "more/e.txt.gz"]
    for missing in ("none.txt", "*.csv"):
        with pytest.raises(BadInput, match="There are no files of text"):
            found(missing)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A hub with a data set that has a file of each format."""
    for name, write in FORMATS.items():
        (tmp_path / "set" / "data").mkdir(parents=True, exist_ok=True)
        write(tmp_path / "set" / "data" / name)
    (tmp_path / "set" / "README.md").write_text("About it.")
    with serve() as hub:
        hub.add("owner/corpus", tmp_path / "set")
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        yield hub


def test_data_sets_of_the_hub_are_read_without_being_stored(hub: Hub) -> None:
    files = corpus_files(["hf://datasets/owner/corpus"])
    assert {PurePath(file.name).name for file in files} == FORMATS.keys() - {"a.unknown"}
    assert all(documents_of(file) == DOCUMENTS for file in files)
    (one,) = corpus_files(["hf://datasets/owner/corpus/data/*.parquet"])
    assert one in files
    with pytest.raises(BadInput, match="There are no files of text"):
        corpus_files(["hf://datasets/owner/corpus/data/*.csv"])
    with pytest.raises(SourceUnavailable, match="cannot be listed"):
        corpus_files(["hf://datasets/owner/none"])
