"""Counts of facts against an obvious implementation, and against what the authors' matcher counts."""

import re
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probing.errors import BadInput
from probing.exposure.matching import SHORT, Matcher, folded, spelled, word_characters
from probing.exposure.named_facts import Fact

STATES = ("United States of America", "America", "U.S.A.", "U.S.", "US", "USA")
FACTS = [
    Fact("capital", 0, "United States of America", "Washington, D.C.", STATES, ("Washington, D.C.",)),
    Fact("country", 1, "Alexander Hamilton", "United States of America", ("Hamilton", "A. Ham", "RB"), STATES),
    Fact("language", 2, "Italy", "Italian", ("Italy", "Italian Republic", "IT"), ("Italian",)),
    Fact("continent", 3, "Limpopo", "Africa", ("Limpopo River", "Limpopo"), ("Africa",)),
]
WORDS = [
    "Paris",
    "paris",
    "US",
    "us",
    "St.",
    "Éire",
    "ÎLE",
    "İzmir",
    "ΟΔΟΣ",
    "οδος",
    "N.Y.",
    "York",
    "New York",
    "D",
    "🇦🇲",
]
name = st.lists(st.sampled_from(WORDS), min_size=1, max_size=2).map(" ".join)
names = st.lists(name, min_size=1, max_size=3).map(tuple)
mark = st.sampled_from(
    [" ", " ", ". ", "! ", "? ", "… ", "... ", "\xa0", '." ', "。", "-", "_", ", ", "s ", "\t", "\n", "  ", "."]
)
text = st.lists(st.tuples(st.sampled_from(WORDS), mark), max_size=25).map(lambda parts: "".join(map("".join, parts)))


def sentences(document: str) -> Iterator[str]:
    """Cut behind the punctuation that ends a sentence, letter by letter."""
    piece = ""
    for place, letter in enumerate(document):
        piece += letter
        before = re.split(r"\W", piece[:-1])[-1]
        behind = document[place + 1 :].lstrip("\"'”’»)]")
        is_abbreviated = letter == "." and (before in ("St", "Mr") or (len(before) == 1 and before.isalpha()))
        if letter == "。" or (letter in ".!?" and behind[:1] == " " and not is_abbreviated and piece[-2:] != ".."):
            yield piece
            piece = ""
    yield piece


def units(text: str, unit: str) -> Iterator[str]:
    for document in text.replace("\t", " ").replace("\xa0", " ").split("\n"):
        if unit == "sentence":
            yield from sentences(document)
        elif unit == "document":
            yield document
        else:
            words = re.findall(r" *[^ ]+ *?", document)
            size = int(unit.removeprefix("window:"))
            yield from ("".join(words[start : start + size]) for start in range(0, len(words), size))


def is_in(name: str, unit: str) -> bool:
    """Search for a name as the authors' code does for answers: with a regular expression for each name."""
    wanted, searched = (name, unit) if len(name) < SHORT else (folded(name), folded(unit))
    return bool(re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", searched))


@pytest.mark.parametrize("unit", ["sentence", "document", "window:1", "window:3"])
@given(st.lists(st.tuples(names, names), min_size=1, max_size=4), text)
def test_counts_equal_those_of_one_search_for_each_name_in_each_unit(
    unit: str, pairs: list[tuple[tuple[str, ...], tuple[str, ...]]], text: str
) -> None:
    facts = [
        Fact("r", index, subjects[0], answers[0], subjects, answers) for index, (subjects, answers) in enumerate(pairs)
    ]
    expected = [
        sum(
            any(is_in(name, piece) for name in fact.subject_names)
            and any(is_in(name, piece) for name in fact.answer_names)
            for piece in units(text, unit)
        )
        for fact in facts
    ]
    assert Matcher(facts, unit).count(text).tolist() == expected


def test_counts_equal_those_of_the_authors_matcher() -> None:
    """The numbers are those of FactMatcherSimple of Jabbawukis/sample-efficiency-evaluation at commit 01c3f4c."""
    documents = [
        "The United States of America lie around Washington, D.C. and more. U.S. laws are made in Washington, D.C.",
        "Hamilton served the US. He was called A. Ham in the U.S.A. and in America. Give us Hamilton!",
        "In the IT world, Italian is rare. The Italian team (IT) won, as Italian teams do.",
        "South Africa has the Limpopo. LIMPOPO RIVER water reaches africa. Limpopos are no rivers of Africa.",
    ]
    assert Matcher(FACTS).count("\n".join(documents)).tolist() == [2, 2, 2, 2]


@pytest.mark.parametrize(
    ("unit", "expected"), [("sentence", [2, 0, 1]), ("document", [1, 0, 1]), ("window:5", [1, 0, 0])]
)
def test_the_worked_example_counts_as_the_document_says(unit: str, expected: list[int]) -> None:
    """That of docs/methods/exposure.md."""
    names = [("Peru", "Lima"), ("US", "Washington, D.C."), ("Limpopo", "Africa")]
    facts = [Fact("r", index, *pair, *((name,) for name in pair)) for index, pair in enumerate(names)]
    documents = [
        "Lima is the capital of Peru. PERU lies in the Andes. Its largest city is Lima, Peru.",
        "Give us Washington, D.C. back! The Limpopo flows through South Africa.",
    ]
    assert Matcher(facts, unit).count("\n".join(documents)).tolist() == expected


def test_a_name_counts_as_a_whole_word_and_in_its_own_case_where_it_is_short() -> None:
    count = Matcher([Fact("r", 0, "US", "Nile", ("US",), ("Nile",))], "document").count
    assert count("US Nile\nUS-Nile\n(US) 'nile'\nUS NILE").tolist() == [4]
    assert count("us Nile\nUSA Nile\nUS Niles\nUS_ Nile\nUS Nile2\nÉUS Nile").tolist() == [0]


def test_a_fact_counts_once_in_a_unit_and_names_must_lie_within_it() -> None:
    count = Matcher([Fact("r", 0, "New York", "York", ("New York",), ("York",))], "window:2").count
    assert count("New York New York").tolist() == [2]
    assert count("in New York").tolist() == [0]
    assert count("New\nYork").tolist() == [0]


def test_all_characters_keep_their_places_in_lower_case() -> None:
    letters = [chr(code) for code in range(0x110000)]
    assert all(len(folded(letter)) == 1 for letter in letters)
    assert [bool(re.match(r"\w", letter)) for letter in letters[:0x3000]] == word_characters()[:0x3000].tolist()
    assert spelled("  New\n YORK ") == "new york"


@pytest.mark.parametrize("unit", ["window", "window:0", "window:-1", "window:x", "page", ""])
def test_a_bad_unit_is_refused(unit: str) -> None:
    with pytest.raises(BadInput, match="is no unit"):
        Matcher(FACTS, unit)


def test_facts_without_short_names_and_empty_texts_are_counted() -> None:
    matcher = Matcher([Fact("r", 0, "Nepal", "Kathmandu", ("Nepal",), ("Kathmandu", " "))])
    assert matcher.count("").tolist() == [0]
    assert matcher.count("Kathmandu is in Nepal.").tolist() == [1]
