"""Files of sentences: reading a user's own, and word counts of a corpus.

No file of sentences is held in memory: there is one sentence in each line, and a corpus of plain text is read line by
line as well. How often words occur may also be a list of frequencies.

A corpus may also be a dump of Wikipedia's pages, as Wikimedia offers it (`*-pages-articles.xml.bz2`), which is read
page by page. Markup is taken away by rules that suffice for counting words: templates, tables, references and files go,
and of links their text stays.
"""

import bz2
import gzip
import re
import sys
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import chain, repeat
from pathlib import Path
from typing import IO, Any, cast
from xml.etree import ElementTree

from probing.errors import BadInput

STANDARD_INPUT = "-"
LONGEST_LINE = 1_000_000  # bytes: no model reads so long a text, and a file without line ends must not fill the memory
OPENERS: dict[str, Callable[[str, str], Any]] = {".gz": gzip.open, ".bz2": bz2.open}
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
WORD = re.compile(r"\w+")
LAST_SEPARATOR = re.compile(r"[\t,; ]+(?=[^\t,; ]*$)")
# Of dumps of Wikipedia: the endings of their names, and patterns of what is not counted.
DUMPS = (".xml", ".xml.bz2", ".xml.gz")
ARTICLES = "0"  # the namespace of articles; all others are about Wikipedia itself
GONE = re.compile(r"<!--.*?-->|<(ref|math|gallery|timeline)\b[^>]*?(/>|>.*?</\1>)|<[^>]+>|'{2,}", re.DOTALL)
INNERMOST = re.compile(r"\{\{[^{}]*\}\}|\{\|(?:(?!\{\|).)*?\|\}", re.DOTALL)  # templates and tables
FILE_LINK = re.compile(r"\[\[(?:File|Image|Category):(?:[^\[\]]|\[\[[^\[\]]*\]\])*\]\]", re.IGNORECASE)
LINK = re.compile(r"\[\[(?:[^\[\]|]*\|)?([^\[\]]*)\]\]")
ADDRESS = re.compile(r"\[?https?://[^\s\]]+")


def read_sentences(source: str) -> Iterator[str]:
    """Return the lines of a text file in UTF-8, which may be compressed, or of the standard input (`-`).

    Line number k of the file is sentence k - 1; spaces around it are removed. Raises `BadInput` at once where there is
    no such file or nothing but empty lines at its beginning, and for a later fault when its line is read.
    """
    lines = _lines(source)
    for empty, line in enumerate(lines):
        if line:
            return chain(repeat("", empty), [line], lines)
    raise BadInput(f"{_name(source)} has no sentences.", "Write one per line.")


def _lines(source: str) -> Iterator[str]:
    name = _name(source)
    with _readable(source) as file:
        number = 0
        while line := file.readline(LONGEST_LINE + 1):
            number += 1
            yield _text(line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line, f"{name}, line {number}")


@contextmanager
def _readable(source: str) -> Iterator[IO[bytes]]:
    """Open the file; raise `BadInput` for whatever goes wrong while it is read."""
    name = _name(source)
    try:
        with _opened(source) as file:
            yield file
    except FileNotFoundError as error:
        raise BadInput(f"{name} does not exist.", "Name a text file with one sentence per line.") from error
    except IsADirectoryError as error:
        raise BadInput(f"{name} is a folder.", "Name a text file with one sentence per line.") from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise BadInput(f"{name} is not a whole compressed file ({error}).", "Copy it again.") from error
    except OSError as error:
        raise BadInput(f"{name} cannot be read ({error.strerror}).", "Make it readable.") from error


def _opened(source: str) -> AbstractContextManager[IO[bytes]]:
    """Open the file; the standard input is left open afterwards."""
    if source == STANDARD_INPUT:
        return nullcontext(sys.stdin.buffer)
    return cast(IO[bytes], OPENERS.get(Path(source).suffix, open)(source, "rb"))


def _text(line: bytes, where: str) -> str:
    if len(line) > LONGEST_LINE:
        raise BadInput(f"{where}: longer than {LONGEST_LINE:,} bytes.", "Write one sentence per line.")
    if b"\0" in line:
        raise BadInput(f"{where}: not a text, but binary data.", "Name a text file with one sentence per line.")
    try:
        return line.decode().strip()
    except UnicodeDecodeError as error:
        raise BadInput(f"{where}: not UTF-8.", "Save the file as UTF-8.") from error


def _name(source: str) -> str:
    return "The standard input" if source == STANDARD_INPUT else source


def corpus_counts(source: str, names: Iterable[str], ignore_case: bool = False) -> dict[str, float]:
    """Return how often each name occurs in a text file, as whole words; names of several words count where all follow.

    The file may be compressed, or a dump of Wikipedia (`DUMPS`), and is read once. Marks between words do
    not matter.
    """
    spelled = {name: tuple(_spelled(word, ignore_case) for word in WORD.findall(name)) for name in names}
    single_words = {words[0] for words in spelled.values() if len(words) == 1}
    phrases = {words for words in spelled.values() if len(words) > 1}
    counts: Counter[str] = Counter()
    sequences: Counter[tuple[str, ...]] = Counter()
    lengths = sorted(set(map(len, phrases)))
    for line in _texts(source):
        text = WORD.findall(_spelled(line, ignore_case))
        counts.update(filter(single_words.__contains__, text))
        for length in lengths:
            sequences.update(
                filter(phrases.__contains__, zip(*(text[start:] for start in range(length)), strict=False))
            )
    totals = {name: counts[words[0]] if len(words) == 1 else sequences[words] for name, words in spelled.items()}
    return _refuse_none({name: float(count) for name, count in totals.items()}, source)


def _texts(source: str) -> Iterator[str]:
    """Yield the articles of a dump of Wikipedia, or the lines of any other text."""
    if not source.endswith(DUMPS):
        yield from read_sentences(source)
        return
    with _readable(source) as file:
        yield from articles(file, source)


def listed_counts(source: str, names: Iterable[str], ignore_case: bool = False) -> dict[str, float]:
    """Return each name's count in a list with a word and, behind a tab, comma or space, its count in each line.

    A first line without a number is taken for the head. A name that is not in the list occurs 0 times; words that are
    listed more than once are added up.
    """
    spelled = {name: _spelled(name, ignore_case) for name in names}
    keys = set(spelled.values())
    counts: dict[str, float] = defaultdict(float)
    for number, line in enumerate(read_sentences(source), 1):
        word, *rest = LAST_SEPARATOR.split(line, maxsplit=1)
        count = _number(rest[0]) if rest else None
        if count is None and line and number > 1:
            raise BadInput(
                f"{source}, line {number}: {line!r:.80} is not a word and its count.", "Write them such as Paris 1234."
            )
        key = _spelled(word.strip('"'), ignore_case)
        if count is not None and key in keys:
            counts[key] += count
    return _refuse_none({name: counts.get(key, 0.0) for name, key in spelled.items()}, source)


def _spelled(text: str, ignore_case: bool) -> str:
    return text.casefold() if ignore_case else text


def _number(text: str) -> float | None:
    """Return the number that a text states, None if it states none or one below 0."""
    try:
        number = float(text.strip('"'))
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None


def _refuse_none(counts: Mapping[str, float], source: str) -> dict[str, float]:
    """Return the counts unless all are 0, which no text about these names would give."""
    if not any(counts.values()):
        raise BadInput(
            f"{source} has none of the answers.", "Ignore case, or choose a text in the benchmark's language."
        )
    return dict(counts)


def articles(file: IO[bytes], name: str) -> Iterator[str]:
    """Yield the plain text of each article of a dump; raise `BadInput` where it is no XML. Redirects are left out."""
    try:
        events = ElementTree.iterparse(file, ("start", "end"))
        _, whole = next(events)
        for event, element in events:
            if (event, _tag(element)) != ("end", "page"):
                continue
            values = {_tag(part): part.text or "" for part in element.iter()}
            if values.get("ns") == ARTICLES and "redirect" not in values:
                yield plain_text(values.get("text", ""))
            whole.clear()
    except ElementTree.ParseError as error:
        raise BadInput(f"{name} is no whole dump of Wikipedia ({error}).", "Download it again.") from error


def plain_text(markup: str) -> str:
    """Return the text of an article without its markup."""
    text, replaced = GONE.sub("", markup), 1
    while replaced:
        text, replaced = INNERMOST.subn("", text)
    return LINK.sub(r"\1", ADDRESS.sub("", FILE_LINK.sub("", text)))


def _tag(element: ElementTree.Element) -> str:
    """Return the name of an element without its name space, which differs from dump to dump."""
    return element.tag.rpartition("}")[2]
