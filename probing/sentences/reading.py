"""Reading of a user's own sentences, one in each line of a file, without holding the file in memory."""

import gzip
import sys
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from itertools import chain, repeat
from pathlib import Path
from typing import IO, cast

from probing.errors import BadInput

STANDARD_INPUT = "-"
LONGEST_LINE = 1_000_000  # bytes: no model reads so long a text, and a file without line ends must not fill the memory
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_sentences(place: str) -> Iterator[str]:
    """Return the lines of a text file in UTF-8, which may be gzipped, or of the standard input (`-`).

    Line number k of the file is sentence k - 1; spaces around it are removed. Raises `BadInput` at once where there is
    no such file or nothing but empty lines at its beginning, and for a later fault when its line is read.
    """
    lines = _lines(place)
    for empty, line in enumerate(lines):
        if line:
            return chain(repeat("", empty), [line], lines)
    raise BadInput(f"{_name(place)} has no sentences.", "Write one per line.")


def _lines(place: str) -> Iterator[str]:
    """Yield the lines of the file without the spaces around them."""
    name = _name(place)
    try:
        with _opened(place) as file:
            number = 0
            while line := file.readline(LONGEST_LINE + 1):
                number += 1
                yield _text(line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line, f"{name}, line {number}")
    except FileNotFoundError as error:
        raise BadInput(f"{name} does not exist.", "Name a text file with one sentence per line.") from error
    except IsADirectoryError as error:
        raise BadInput(f"{name} is a folder.", "Name a text file with one sentence per line.") from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise BadInput(f"{name} is not a whole gzip file ({error}).", "Copy it again.") from error
    except OSError as error:
        raise BadInput(f"{name} cannot be read ({error.strerror}).", "Make it readable.") from error


def _opened(place: str) -> AbstractContextManager[IO[bytes]]:
    """Open the file; the standard input is left open afterwards."""
    if place == STANDARD_INPUT:
        return nullcontext(sys.stdin.buffer)
    return cast(IO[bytes], gzip.open(place)) if place.endswith(".gz") else Path(place).open("rb")


def _text(line: bytes, where: str) -> str:
    if len(line) > LONGEST_LINE:
        raise BadInput(f"{where}: longer than {LONGEST_LINE:,} bytes.", "Write one sentence per line.")
    if b"\0" in line:
        raise BadInput(f"{where}: not a text, but binary data.", "Name a text file with one sentence per line.")
    try:
        return line.decode().strip()
    except UnicodeDecodeError as error:
        raise BadInput(f"{where}: not UTF-8.", "Save the file as UTF-8.") from error


def _name(place: str) -> str:
    return "The standard input" if place == STANDARD_INPUT else place
