"""Finding facts in a text: the units in which a name of the subject stands together with a name of an answer.

Names are found in one pass of an Aho-Corasick automaton (Aho and Corasick 1975), very short ones by looking up words.
The rules are those of the matcher of Christoph, Ploner, Haller and Akbik (2025, "From Data to Knowledge",
arXiv:2506.16912); docs/methods/exposure.md says where it differs:

- **Boundaries.** A name is a whole word or several: neither a letter, nor a digit, nor an underscore stands directly
  before or behind it. Languages that write no spaces between words are therefore not served.
- **Case.** A name of fewer than four characters must be written exactly so, as "US" is not "us". The case of all other
  names is ignored. Accents count, and so does the form in which a letter with an accent is encoded.
- **Overlaps.** Every occurrence counts, also inside of a longer name: "South Africa" names Africa as well. The subject
  and the answer may share words.
- **Units.** A fact is counted once in each unit that has both, however often they stand there, and a name must lie
  within the unit. Units do not overlap.

Tabs and no-break spaces are spaces, and so are the ends of lines within a document.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import chain, groupby
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from probing.arrays import Bools, Ints
from probing.errors import BadInput
from probing.exposure.named_facts import Fact
from probing.extras import extra_package

SHORT = 4  # characters from which on the case of a name is ignored
SENTENCE, DOCUMENT, WINDOW = "sentence", "document", "window:"
UNITS = "Choose sentence, document or window:N, such as window:50."
# The full stop behind another, behind a single letter or behind one of these ends no sentence.
ABBREVIATIONS = ("St", "Mt", "Dr", "Mr", "Mrs", "Ms", "Jr", "Sr", "Prof", "Gen", "vs")
NO_END = "".join(rf"(?<!\b{end}\.)" for end in (r"[^\W\d_]", *ABBREVIATIONS)) + r"(?<!\.\.)"
SENTENCE_END = re.compile(rf"[.!?。！？]{NO_END}(?:[\"'”’»)\]]*\s|(?<=[。！？]))")
CODES, CODE_BITS = 0x110000, 21  # the number of code points, and the bits of one
SPACE, LINE_END = ord(" "), ord("\n")
Codes = NDArray[np.uint32]  # the code points of a text


class Lists(NamedTuple):
    """Lists of numbers in one array: list k is `values[starts[k]:starts[k + 1]]`."""

    starts: Ints
    values: Ints

    @classmethod
    def of(cls, lists: Sequence[Sequence[int]]) -> "Lists":
        return cls(np.cumsum([0, *map(len, lists)]), np.fromiter(chain.from_iterable(lists), np.int64))

    def take(self, numbers: Ints) -> tuple[Ints, Ints]:
        """Return the values of these lists one after the other, and for each of them its place among the numbers."""
        lengths = self.starts[numbers + 1] - self.starts[numbers]
        places = np.repeat(np.arange(len(numbers)), lengths)
        before = np.cumsum(lengths) - lengths
        return self.values[np.arange(len(places)) + (self.starts[numbers] - before)[places]], places


class Matcher:
    """Counts facts in texts; its memory grows with their names alone. `unit`: sentence, document or window:N."""

    def __init__(self, facts: Sequence[Fact], unit: str = SENTENCE) -> None:
        self._words = window_words(unit)
        self._unit = unit
        subjects = [sorted(set(map(spelled, fact.subject_names)) - {""}) for fact in facts]
        answers = [tuple(sorted(set(map(spelled, fact.answer_names)) - {""})) for fact in facts]
        names = sorted({*chain(*subjects), *chain(*answers)}, key=lambda name: (len(name), name))
        numbers = {name: number for number, name in enumerate(names)}
        groups = {names: number for number, names in enumerate(dict.fromkeys(answers))}  # facts may share all answers
        self._group = np.array([groups[names] for names in answers], dtype=np.int64)
        self._facts = _having(numbers, subjects)
        self._groups = _having(numbers, list(groups))
        self._all_groups = len(groups)
        by_length = groupby(names, len)
        self._short = [
            _ShortNames(length, {name: numbers[name] for name in own}) for length, own in by_length if length < SHORT
        ]
        self._long = sum(len(name) < SHORT for name in names)  # the number of the first long name
        library = extra_package("ahocorasick_rs", "exposure", "Counting facts in a corpus")
        self._automaton = library.AhoCorasick(names[self._long :])

    def count(self, text: str) -> Ints:
        """Return in how many units of the text each fact is stated; every line is a document."""
        for space in "\t\r\xa0":
            text = text.replace(space, " ")
        codes: Codes = np.frombuffer(text.encode("utf-32-le"), np.uint32)
        names, starts, ends = self._occurrences(text, codes)
        begins = unit_starts(text, codes, self._unit, self._words)
        units, last = (np.searchsorted(begins, places, "right") for places in (starts, ends - 1))
        units, names = units[units == last], names[units == last]
        facts, places = self._facts.take(names)
        units_of_facts, facts = np.divmod(np.unique(units[places] * len(self._group) + facts), len(self._group))
        groups, places = self._groups.take(names)
        answered = np.isin(
            units_of_facts * self._all_groups + self._group[facts], units[places] * self._all_groups + groups
        )
        return np.bincount(facts[answered], minlength=len(self._group))

    def _occurrences(self, text: str, codes: Codes) -> tuple[Ints, Ints, Ints]:
        """Return the number of each name that occurs as whole words, and where it begins and ends."""
        matches = self._automaton.find_matches_as_indexes(folded(text), overlapping=True)
        table = np.fromiter(chain.from_iterable(matches), np.int64, 3 * len(matches)).reshape(-1, 3)
        in_word = np.pad(np.take(word_characters(), codes, mode="clip"), 1)  # around the text are no words
        long = table[~(in_word[table[:, 1]] | in_word[table[:, 2] + 1])] + [self._long, 0, 0]
        short = (names.occurrences(codes, in_word) for names in self._short)
        names, starts, ends = np.concatenate([long, *short]).T
        return names, starts, ends


class _ShortNames:
    """All names of one length that are too short for the automaton, which would find them within most words."""

    def __init__(self, length: int, numbers: Mapping[str, int]) -> None:
        self._length = length
        letters = np.array([[ord(letter) for letter in name] for name in numbers]).T
        self._ends = np.isin(np.arange(2**16), _mixed(letters[0], letters[-1]))
        packed = self._packed(letters)
        order = np.argsort(packed)
        self._names, self._numbers = packed[order], np.array([*numbers.values()])[order]

    def occurrences(self, codes: Codes, in_word: Bools) -> Ints:
        """Return the number of each name that stands as a word, its start and its end, shape (n, 3).

        `in_word`: of each character whether it is part of a word, with one more before the first and behind the last.
        """
        starts = np.flatnonzero(~(in_word[: -self._length - 1] | in_word[self._length + 1 :]))
        starts = starts[self._ends[_mixed(codes[starts], codes[starts + self._length - 1])]]  # leaves few of them
        packed = self._packed([codes[starts + place] for place in range(self._length)])
        places = np.searchsorted(self._names[:-1], packed)
        right = self._names[places] == packed
        found: Ints = np.stack([self._numbers[places], starts, starts + self._length], axis=1)[right]
        return found

    @staticmethod
    def _packed(letters: Sequence[NDArray[Any]] | NDArray[Any]) -> Ints:
        """Return a number for each name; `letters`: the code points of all first letters, all second ones and so on."""
        parts = [letter.astype(np.int64) << CODE_BITS * place for place, letter in enumerate(letters)]
        packed: Ints = np.sum(parts, axis=0)
        return packed


def _mixed(first: NDArray[Any], last: NDArray[Any]) -> Ints:
    """Return a number below 2^16 for each pair of code points, the same for the same pair."""
    mixed: Ints = (first.astype(np.int64) * 31 + last) & 0xFFFF
    return mixed


def _having(numbers: Mapping[str, int], names: Sequence[Sequence[str]]) -> Lists:
    """Return for each name the places of the tuples that have it."""
    places: list[list[int]] = [[] for _ in numbers]
    for place, own in enumerate(names):
        for name in own:
            places[numbers[name]].append(place)
    return Lists.of(places)


def spelled(name: str) -> str:
    """Return a name as it is searched for: with single spaces, and if it is not short in lower case."""
    name = " ".join(name.split())
    return name if len(name) < SHORT else folded(name)


def folded(text: str) -> str:
    """Return the text in lower case, with as many characters: İ, which would become two, and ς are unified."""
    return text.replace("İ", "I").lower().replace("ς", "σ")


@cache
def word_characters() -> Bools:
    r"""Return for each code point whether it is part of a word, as `\w` says."""
    return np.fromiter((chr(code).isalnum() or chr(code) == "_" for code in range(CODES)), np.bool_)


def window_words(unit: str) -> int:
    """Return the number of words of a window, or 0 for another unit; raise `BadInput` for what is none."""
    if unit in (SENTENCE, DOCUMENT):
        return 0
    number = unit.removeprefix(WINDOW)
    if not unit.startswith(WINDOW) or not number.isdecimal() or not int(number):
        raise BadInput(f"{unit!r:.80} is no unit.", UNITS)
    return int(number)


def unit_starts(text: str, codes: Codes, unit: str, words: int) -> Ints:
    """Return where the units of a text begin, in order and the first of them at 0; every line is a document.

    A sentence ends with its punctuation before a space; a window is a stretch of so many `words` of a document.
    """
    documents = np.concatenate([[0], np.flatnonzero(codes == LINE_END) + 1])
    if unit == SENTENCE:
        ends = np.array([end.end() for end in SENTENCE_END.finditer(text)], dtype=np.int64)
        return np.sort(np.concatenate([documents, ends]), kind="stable")  # merges two lists that are sorted
    if unit == DOCUMENT:
        return documents
    is_space = (codes == SPACE) | (codes == LINE_END)
    starts = np.flatnonzero(~is_space & np.concatenate([[True], is_space[:-1]]))
    owners = np.searchsorted(documents, starts, "right")
    numbers = np.arange(len(starts)) - np.searchsorted(owners, owners)  # of each word in its document
    return np.sort(np.concatenate([documents, starts[numbers % words == 0]]), kind="stable")
