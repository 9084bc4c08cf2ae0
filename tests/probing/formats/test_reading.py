"""Reading a benchmark's files: every fault names the file, the line and a next step."""

import errno
import gzip
import hashlib
from pathlib import Path
from typing import Any

import pytest

from probing.errors import BadBenchmark
from probing.formats import reading
from probing.formats.reading import (
    JsonObject,
    digest,
    digest_of,
    parse_lines,
    present,
    read_lines,
    read_object,
    text_lines,
)


def line(**values: Any) -> JsonObject:
    return JsonObject(values, "P36.jsonl, line 2")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'{"sub_label": ', "line 2, column"),
        (b"[1, 2]", "line 2: not a JSON object"),
        (b'{"sub_label": "\xff"}', "line 2: not UTF-8"),
        (b"", "line 2: empty"),
        (b"[" * 100_000, "line 2: JSON that cannot be read"),
        (b'{"answer_idx": ' + b"9" * 5000 + b"}", "line 2: JSON that cannot be read"),
    ],
)
def test_a_malformed_line_is_named_with_its_number(content: bytes, words: str) -> None:
    with pytest.raises(BadBenchmark) as caught:
        parse_lines(b'{"a": 1}\n' + content + b'\n{"a": 2}', "P36.jsonl")
    assert f"P36.jsonl, {words}" in caught.value.message
    assert caught.value.next_step


def test_a_fault_in_an_object_of_several_lines_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "metadata.json").write_text('{\n"P30": 1,\n"P36" 2}')
    with pytest.raises(BadBenchmark, match=r"metadata\.json, line 3: not JSON"):
        read_object(tmp_path / "metadata.json")


@pytest.mark.parametrize(
    "text", ['{"capital": {}, "river": {}, "capital": {}}', '{"P36": {"capital": 1, "capital": 1}}']
)
def test_a_key_that_occurs_twice_is_refused(text: str, tmp_path: Path) -> None:
    """Readers of JSON drop the first value without a word."""
    (tmp_path / "metadata.json").write_text(text)
    with pytest.raises(BadBenchmark, match=r"metadata\.json: the key 'capital' occurs twice\. Keep it once\."):
        read_object(tmp_path / "metadata.json")


def test_lines_that_end_as_on_windows_are_read(tmp_path: Path) -> None:
    (tmp_path / "P36.jsonl").write_bytes(b'{"a": 1}\r\n{"a": 2}\r\n')
    assert [line.values for line in read_lines(tmp_path / "P36.jsonl")] == [{"a": 1}, {"a": 2}]


@pytest.mark.parametrize("content", [b"", b"\n", b" \n\n"])
def test_a_file_without_items_is_refused(content: bytes) -> None:
    with pytest.raises(BadBenchmark, match=r"P36\.jsonl: no items"):
        parse_lines(content, "P36.jsonl")


def test_an_editors_mark_in_front_and_a_newline_at_the_end_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "P36.jsonl").write_text('{"a": 1}\n{"a": "\u2028"}\n', encoding="utf-8-sig")
    objects = read_lines(tmp_path / "P36.jsonl")
    assert [json_object.values for json_object in objects] == [{"a": 1}, {"a": "\u2028"}]
    assert [json_object.location for json_object in objects] == ["P36.jsonl, line 1", "P36.jsonl, line 2"]


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "LARGEST_FILE", 100)
    (tmp_path / "fits.txt").write_bytes(b"x" * 100)
    assert text_lines(tmp_path / "fits.txt") == ["x" * 100]
    (tmp_path / "large.txt.gz").write_bytes(gzip.compress(b"x" * 101))
    with pytest.raises(BadBenchmark, match=r"large\.txt\.gz is larger than 100 bytes\. Split"):
        text_lines(tmp_path / "large.txt.gz")


def test_a_file_that_is_missing_or_must_not_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadBenchmark, match=rf"P36\.jsonl is missing in {tmp_path}"):
        read_lines(tmp_path / "P36.jsonl")
    with pytest.raises(BadBenchmark, match=rf"^{tmp_path} is a folder\. Put the file of this name in its place"):
        read_lines(tmp_path)

    def locked(self: Path, *_: Any) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(self))

    (tmp_path / "P36.jsonl").write_text("{}")
    monkeypatch.setattr(Path, "open", locked)
    with pytest.raises(BadBenchmark, match=r"P36\.jsonl cannot be read \(Permission denied\)\. Make it readable"):
        read_lines(tmp_path / "P36.jsonl")


def test_a_gzipped_file_is_found_and_has_the_digest_of_the_plain_one(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"one\ntwo\n")
    plain = digest([tmp_path / "a.txt"])
    assert present(tmp_path, "a.txt") == tmp_path / "a.txt"
    (tmp_path / "a.txt").unlink()
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"one\ntwo\n"))
    packed = present(tmp_path, "a.txt")
    assert packed == tmp_path / "a.txt.gz"
    assert digest([packed]) == plain
    assert text_lines(packed) == ["one", "two"]
    assert present(tmp_path, "b.txt") is None


def test_a_damaged_gzip_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"one" * 100)[:-9])
    with pytest.raises(BadBenchmark, match=r"a\.txt\.gz is not a whole gzip file .*Copy it again"):
        text_lines(tmp_path / "a.txt.gz")


def test_the_digest_is_that_of_what_sha256sum_prints_for_the_sorted_files() -> None:
    contents = {"b": b"two", "a": b"one"}
    printed = "".join(f"{hashlib.sha256(contents[name]).hexdigest()}  {name}\n" for name in "ab")
    assert digest_of(contents.items()) == hashlib.sha256(printed.encode()).hexdigest()


def test_a_field_may_be_missing_if_it_is_optional() -> None:
    assert (line().optional_text("sub_id"), line(sub_id=None).optional_text("sub_id")) == ("", "")
    assert line(sub_id="Q20").optional_text("sub_id") == "Q20"
    with pytest.raises(BadBenchmark, match="the field 'sub_id' is missing"):
        line().text("sub_id")


def test_a_field_of_several_texts_must_be_a_list_of_texts() -> None:
    assert line(notes=["a", "b"]).texts("notes") == ("a", "b")
    assert line().texts("notes") == ()
    with pytest.raises(BadBenchmark, match="'notes' is not a list"):
        line(notes="a").texts("notes")
    with pytest.raises(BadBenchmark, match="'notes' holds 3"):
        line(notes=["a", 3]).texts("notes")
