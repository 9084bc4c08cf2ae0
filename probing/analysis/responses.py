"""Texts that models write in answer to questions: which names they contain."""

import re
import unicodedata
from collections.abc import Iterable


def normalised_text(text: str) -> str:
    """Return the text case folded and in Unicode's compatibility composition (NFKC)."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def contains(response: str, labels: Iterable[str]) -> bool:
    return any(label in response for label in labels)


def names_word(response: str, names: Iterable[str]) -> bool:
    """Return whether one of the names stands in the response in whole words, once both are normalised.

    Names such as US would otherwise be found in many words.
    """
    text = normalised_text(response)
    return any(re.search(rf"(?<!\w){re.escape(normalised_text(name))}(?!\w)", text) for name in names if name.strip())
