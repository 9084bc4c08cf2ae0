"""How often words occur: in a corpus of plain text, which is read line by line, or by a list of frequencies."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from probing.errors import BadInput
from probing.sentences.reading import read_sentences

WORD = re.compile(r"\w+")
LAST_SEPARATOR = re.compile(r"[\t,; ]+(?=[^\t,; ]*$)")


def corpus_counts(place: str, names: Iterable[str], ignore_case: bool = False) -> dict[str, float]:
    """Return how often each name occurs in a text file, as whole words; names of several words count where all follow.

    The file may be gzipped, and is read once. Marks between words do not matter.
    """
    spelled = {name: tuple(_spelled(word, ignore_case) for word in WORD.findall(name)) for name in names}
    single = {words[0] for words in spelled.values() if len(words) == 1}
    several = {words for words in spelled.values() if len(words) > 1}
    counts: Counter[str] = Counter()
    sequences: Counter[tuple[str, ...]] = Counter()
    lengths = sorted(set(map(len, several)))
    for line in read_sentences(place):
        text = WORD.findall(_spelled(line, ignore_case))
        counts.update(filter(single.__contains__, text))
        for length in lengths:
            sequences.update(
                filter(several.__contains__, zip(*(text[start:] for start in range(length)), strict=False))
            )
    totals = {name: counts[words[0]] if len(words) == 1 else sequences[words] for name, words in spelled.items()}
    return _refuse_none({name: float(count) for name, count in totals.items()}, place)


def listed_counts(place: str, names: Iterable[str], ignore_case: bool = False) -> dict[str, float]:
    """Return each name's count in a list with a word and, behind a tab, comma or space, its count in each line.

    A first line without a number is taken for the head. A name that is not in the list occurs 0 times; words that are
    listed more than once are added up.
    """
    spelled = {name: _spelled(name, ignore_case) for name in names}
    keys = set(spelled.values())
    counts: dict[str, float] = defaultdict(float)
    for number, line in enumerate(read_sentences(place), 1):
        word, *rest = LAST_SEPARATOR.split(line, maxsplit=1)
        count = _number(rest[0]) if rest else None
        if count is None and line and number > 1:
            raise BadInput(
                f"{place}, line {number}: {line!r:.80} is not a word and its count.", "Write them such as Paris 1234."
            )
        key = _spelled(word.strip('"'), ignore_case)
        if count is not None and key in keys:
            counts[key] += count
    return _refuse_none({name: counts.get(key, 0.0) for name, key in spelled.items()}, place)


def _spelled(text: str, ignore_case: bool) -> str:
    return text.casefold() if ignore_case else text


def _number(text: str) -> float | None:
    """Return the number that a text states, None if it states none or one below 0."""
    try:
        number = float(text.strip('"'))
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None


def _refuse_none(counts: Mapping[str, float], place: str) -> dict[str, float]:
    """Return the counts unless all are 0, which no text about these names would give."""
    if not any(counts.values()):
        raise BadInput(
            f"{place} has none of the answers.", "Ignore case, or choose a text in the benchmark's language."
        )
    return dict(counts)
