"""Word counts from corpora and from lists of frequencies."""

import gzip
from pathlib import Path

import pytest

from probing.errors import BadInput
from probing.sentences.sentence_files import corpus_counts, listed_counts

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
