"""Text of strangers, such as names, licences and messages, with its invisible characters written out."""

import unicodedata

LINES = "\n\t"  # what several lines of a log may contain
SEPARATORS = "\u2028\u2029"


def visible(text: str, keep: str = "") -> str:
    """Return a text in which characters that cannot be seen are written as escapes, for example `\\u202e`.

    They are control characters, marks that change the direction of the text, characters of no width, and line
    separators: a stranger could use them to make a name look like another one. Those in `keep` stay as they are.
    """
    if text.isprintable():  # far the most texts: none of those characters counts as printable
        return text
    return "".join(_escaped(letter) if _hidden(letter) and letter not in keep else letter for letter in text)


def _hidden(character: str) -> bool:
    return unicodedata.category(character).startswith("C") or character in SEPARATORS


def _escaped(character: str) -> str:
    number = ord(character)
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
