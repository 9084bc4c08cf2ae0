"""Files of sentences: read, and searched for words."""

import bz2
import gzip
import io
import sys
import tracemalloc
from itertools import islice
from pathlib import Path

import pytest

from probing.errors import BadInput
from probing.sentences.sentence_files import (
    LONGEST_LINE,
    corpus_counts,
    listed_counts,
    plain_text,
    read_sentences,
)


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


CORPUS = "Yate is in England. New York is not York,\nand New-York is New York. york\n\nEngland, England!\n"


def test_whole_words_and_names_of_several_words_are_counted(tmp_path: Path) -> None:
    (tmp_path / "corpus.txt").write_text(CORPUS)
    names = ["Yate", "England", "York", "New York", "Eng", "Rome"]
    counts = corpus_counts(str(tmp_path / "corpus.txt"), names)
    assert counts == {"Yate": 1, "England": 3, "York": 4, "New York": 3, "Eng": 0, "Rome": 0}


def test_case_can_be_ignored_and_a_corpus_be_gzipped(tmp_path: Path) -> None:
    (tmp_path / "corpus.txt.gz").write_bytes(gzip.compress(CORPUS.encode()))
    assert corpus_counts(str(tmp_path / "corpus.txt.gz"), ["York"], ignore_case=True) == {"York": 5}


@pytest.mark.parametrize("separator", ["\t", " ", ",", ";", ", "])
def test_a_list_has_a_word_and_its_count_in_each_line(separator: str, tmp_path: Path) -> None:
    lines = [("word", "count"), ("England", "30"), ("New York", "12.5"), ('"Yate"', "1"), ("England", "2")]
    (tmp_path / "list").write_text("".join(f"{word}{separator}{count}\n" for word, count in lines))
    names = ["England", "Yate", "New York", "Rome", "yate"]
    expected = {"England": 32, "Yate": 1, "New York": 12.5, "Rome": 0, "yate": 0}
    assert listed_counts(str(tmp_path / "list"), names) == expected


def test_a_list_in_lower_case_is_read_without_regard_to_case(tmp_path: Path) -> None:
    (tmp_path / "list").write_text("england 30\n")
    assert listed_counts(str(tmp_path / "list"), ["England"], ignore_case=True) == {"England": 30}


@pytest.mark.parametrize("line", ["Yate", "Yate many", "Yate -1", "Yate nan"])
def test_a_line_without_a_count_is_refused(line: str, tmp_path: Path) -> None:
    (tmp_path / "list").write_text(f"England 30\n{line}\n")
    with pytest.raises(BadInput, match="line 2"):
        listed_counts(str(tmp_path / "list"), ["England"])


def test_a_text_without_any_of_the_names_is_refused(tmp_path: Path) -> None:
    (tmp_path / "list").write_text("england 30\n")
    for count in (listed_counts, corpus_counts):
        with pytest.raises(BadInput, match="none of the answers"):
            count(str(tmp_path / "list"), ["England"])


DUMP = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/">
<page><title>Lyon</title><ns>0</ns><revision><text>Lyon is in [[France|the land of France]].</text></revision></page>
<page><title>Talk:Lyon</title><ns>1</ns><revision><text>Lyon Lyon</text></revision></page>
<page><title>Lyons</title><ns>0</ns><redirect title="Lyon" /><revision><text>Lyon</text></revision></page>
<page><title>Europe</title><ns>0</ns><revision><text>{{Box|name=Europe}} France is in Europe.</text></revision></page>
</mediawiki>"""


def test_words_of_articles_count_and_those_of_redirects_and_talk_pages_do_not(tmp_path: Path) -> None:
    dump = tmp_path / "wiki-pages-articles.xml.bz2"
    dump.write_bytes(bz2.compress(DUMP.encode()))
    assert corpus_counts(str(dump), ["Lyon", "France", "Europe"]) == {"Lyon": 1, "France": 2, "Europe": 1}


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("'''Lyon''' lies in [[France]].", "Lyon lies in France."),
        ("[[Gaul|Old France]] and {{nowrap|{{lang|fr|Lyon}}}}Paris", "Old France and Paris"),
        ('Lyon<ref name="a">Paris, p. 3</ref> and <ref name="a" />Nice<!-- Rome -->', "Lyon and Nice"),
        ("[[File:Lyon.jpg|thumb|The [[Rhone]] at Lyon]]Text", "Text"),
        ("a {| class=x\n| {{y}} cell\n|} b", "a  b"),
        ("see [https://example.org/Paris the site]", "see  the site]"),
        ("''x'' <b>bold</b>", "x bold"),
    ],
)
def test_markup_is_taken_away(markup: str, text: str) -> None:
    assert plain_text(markup) == text


def test_a_broken_dump_is_refused(tmp_path: Path) -> None:
    (tmp_path / "wiki.xml").write_text("<mediawiki><page>")
    with pytest.raises(BadInput, match="is no whole dump of Wikipedia"):
        corpus_counts(str(tmp_path / "wiki.xml"), ["Lyon"])
    with pytest.raises(BadInput, match="does not exist"):
        corpus_counts(str(tmp_path / "none.xml"), ["Lyon"])
