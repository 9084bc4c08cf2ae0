"""Reading of own sentences: line by line, whatever the file, and every bad file refused in one sentence."""

import gzip
import io
import sys
import tracemalloc
from itertools import islice
from pathlib import Path

import pytest

from probing.errors import BadInput
from probing.sentences.sentence_files import LONGEST_LINE, read_sentences


def refusal(place: Path | str) -> str:
    with pytest.raises(BadInput) as error:
        list(read_sentences(str(place)))
    return str(error.value)


def test_lines_are_sentences_without_the_spaces_around_them(tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_bytes("\ufeff\n Oslo \r\n\n東京\nمرحبا".encode())
    assert list(read_sentences(str(tmp_path / "own.txt"))) == ["", "Oslo", "", "東京", "مرحبا"]


def test_a_gzipped_file_is_unpacked(tmp_path: Path) -> None:
    (tmp_path / "own.txt.gz").write_bytes(gzip.compress(b"Oslo\nLima\n"))
    assert list(read_sentences(str(tmp_path / "own.txt.gz"))) == ["Oslo", "Lima"]


def test_a_dash_stands_for_the_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("Élysée\n".encode())))
    assert list(read_sentences("-")) == ["Élysée"]


@pytest.mark.parametrize("content", [b"", b"\n\n", b" \n\t\n"])
def test_a_file_without_sentences_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "own.txt").write_bytes(content)
    assert "own.txt has no sentences. Write one per line." in refusal(tmp_path / "own.txt")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("own.txt", "Oslo\nÉlysée\n".encode("latin-1"), "own.txt, line 2: not UTF-8."),
        ("own.txt", "Oslo\n".encode("utf-16"), "own.txt, line 1: not a text, but binary data."),
        ("own.bin", b"\x7fELF\x02\x00\x00", "own.bin, line 1: not a text, but binary data."),
        ("own.txt", b"x" * (LONGEST_LINE + 1), "own.txt, line 1: longer than 1,000,000 bytes."),
        ("own.txt.gz", b"Oslo\n", "own.txt.gz is not a whole compressed file"),
        ("own.txt.gz", gzip.compress(b"Oslo\n" * 99, mtime=0)[:-9], "own.txt.gz is not a whole compressed file"),
    ],
)
def test_a_file_that_is_no_text_is_refused(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    assert message in refusal(tmp_path / name)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    assert "none.txt does not exist." in refusal(tmp_path / "none.txt")
    assert f"{tmp_path} is a folder." in refusal(tmp_path)


@pytest.mark.slow
def test_a_million_lines_are_read_without_holding_them(tmp_path: Path) -> None:
    with (tmp_path / "own.txt").open("w") as file:
        for thousand in range(1000):
            file.write("".join(f"Sentence {thousand} {number} has some words.\n" for number in range(1000)))
    lines = read_sentences(str(tmp_path / "own.txt"))
    tracemalloc.start()
    try:
        read = sum(1 for _ in islice(lines, 100_000))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert read + sum(1 for _ in lines) == 1_000_000
    assert peak < 2**20
