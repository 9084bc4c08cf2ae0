"""Lengths of scored texts: equal to those of the statements that are written out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from probing.analysis.text_lengths import statement_lengths, text_lengths
from probing.template import Prompt, prompt

WORDS = st.text(st.sampled_from("abßéж'-"), min_size=1, max_size=4)
OPTIONS = st.lists(st.lists(WORDS, min_size=1, max_size=3).map(" ".join), min_size=1, max_size=4)
PARTS = st.sampled_from(["[X]", "[Y]", " is in ", "ʼ", " ", ".", "ßa ", "жd"])
TEMPLATES = st.lists(PARTS, max_size=6).map("".join).filter(lambda text: text.count("[Y]") == 1)


def slow(text: Prompt, options: list[str]) -> tuple[list[int], list[int]]:
    """Count the bytes and words of each statement, written out."""
    statements = [text.fill(option).text for option in options]
    return [len(text.encode("utf-8")) for text in statements], [len(text.split()) for text in statements]


@given(TEMPLATES, WORDS, OPTIONS)
def test_lengths_are_those_of_the_statements_written_out(template: str, subject: str, options: list[str]) -> None:
    text = prompt(template, subject)
    lengths = statement_lengths(text, options)
    assert (lengths.bytes.tolist(), lengths.words.tolist()) == slow(text, options)


@pytest.mark.parametrize(
    ("template", "option", "bytes_", "words"),
    [
        ("[X] lies in [Y].", "Perú", 18, 4),
        ("[Y]'s capital is [X].", "South Africa", 29, 5),
        ("[Y] is where [X] lies.", "ŉ", 26, 5),  # its upper case has two letters and three bytes
    ],
)
def test_known_lengths(template: str, option: str, bytes_: int, words: int) -> None:
    lengths = statement_lengths(prompt(template, "It is"), [option])
    slow_bytes, slow_words = slow(prompt(template, "It is"), [option])
    assert (lengths.bytes.tolist(), lengths.words.tolist()) == (slow_bytes, slow_words)


def test_a_blank_that_is_not_scored_has_no_length() -> None:
    lengths = statement_lengths(prompt("[X] is in [Y], which is in [Y].", "Lyon"), ["France"])
    assert lengths.bytes.tolist() == [len("Lyon is in France, which is in .")]


def test_texts_are_counted_by_themselves() -> None:
    lengths = text_lengths(("Côte d'Ivoire", "Chad"))
    assert np.array_equal(lengths.bytes, [14, 4])
    assert np.array_equal(lengths.words, [2, 1])
