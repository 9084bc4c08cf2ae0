"""Lengths in bytes (UTF-8) and words of the texts that are scored, computed from a benchmark's prompts and options.

A word is what stands between spaces; languages that are written without spaces have few words.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from probing.arrays import Ints
from probing.template import Prompt

WORD = "x"  # a word of one byte


class TextLengths(NamedTuple):
    """Lengths of the texts of an item's options, each of shape (options,)."""

    bytes: Ints
    words: Ints


@lru_cache(maxsize=64)
def text_lengths(texts: tuple[str, ...]) -> TextLengths:
    """Return the lengths of each text. They are kept, as the items of a relation share their options."""
    return TextLengths(
        np.array([len(text.encode()) for text in texts], np.int64),
        np.array([len(text.split()) for text in texts], np.int64),
    )


def statement_lengths(text: Prompt, options: Iterable[str]) -> TextLengths:
    """Return the lengths of a prompt's statements; blanks that are not scored are left empty.

    The words of an option are added to those around it, of which a letter or an apostrophe that directly follows the
    blank is not one: "France's" is one word.
    """
    around = text.fill(WORD)
    options = tuple(options)
    if around.start == 0:  # an option at the beginning may get an upper-case letter, which may have more bytes
        statements = [text.fill(option) for option in options]
        options = tuple(statement.text[: statement.end] for statement in statements)
    own = text_lengths(options)
    bytes_around, words_around = len(around.text.encode()) - len(WORD), len(around.text.split()) - 1
    return TextLengths(own.bytes + bytes_around, own.words + words_around)
