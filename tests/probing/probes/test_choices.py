"""Roles of tokens: which part of a statement each of them belongs to, whatever the template."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from probing.errors import UnsupportedModel
from probing.language_model import OptionScores
from probing.probes.choices import SUBJECT_MARK, item_tokens, marked, token_roles
from probing.template import prompt, upper_first

NAMES = {"\2": "answer", "\1": "subject", "\0": "blank"}
WORDS = st.text(st.sampled_from("abßŉ "), min_size=1, max_size=4)
TEMPLATES = st.lists(st.sampled_from(["[X]", "[Y]", " is in ", ".", "ß"]), max_size=6).map("".join)


def slow_roles(template: str, subject: str, option: str, other: str) -> list[str]:
    """Return the role of each character of a statement, by going through the template from left to right."""
    parts: list[tuple[str, str]] = []
    rest, first = template, True
    while rest:
        if rest.startswith("[X]"):
            parts, rest = [*parts, (subject, "subject")], rest[3:]
        elif rest.startswith("[Y]"):
            parts, rest = [*parts, (option, "answer") if first else (other, "blank")], rest[3:]
            first = False
        else:
            parts, rest = [*parts, (rest[0], "template")], rest[1:]
    text, role = parts[0]
    parts[0] = upper_first(text), role
    return [role for text, role in parts for _ in text]


@given(TEMPLATES.filter(lambda text: text.count("[Y]") == 1), WORDS, WORDS)
@example("[X] is in [Y]", "ß", "a")
@example("[Y] is in [X]", "a", "ŉ")
def test_each_character_has_the_role_of_its_place_in_the_template(template: str, subject: str, option: str) -> None:
    assert_roles(template, subject, option, "")


@pytest.mark.parametrize("other", ["", "_", "[MASK]"])
@pytest.mark.parametrize("template", ["[X] is in [Y], that is in [Y]", "[Y] and [Y] of [X]"])
def test_other_blanks_have_a_role_of_their_own(template: str, other: str) -> None:
    assert_roles(template, "Lyon", "France", other)


def assert_roles(template: str, subject: str, option: str, other: str) -> None:
    statement = prompt(template, subject).fill(option, other).text
    marks = marked(prompt(template, SUBJECT_MARK * len(subject)), option, statement)
    expected = slow_roles(template, subject, option, other)
    assert [NAMES.get(mark, "template") for mark in marks] == expected


def test_a_token_that_reaches_into_two_parts_belongs_to_the_answer_then_to_the_subject() -> None:
    marks = "\1\1 is \2\2."
    assert token_roles(marks, ((0, 2), (1, 4), (4, 7), (8, 9), (7, 9))) == [
        "subject", "subject", "answer", "template", "answer",
    ]  # fmt: skip


def test_the_tokens_of_an_item_are_listed_option_by_option() -> None:
    scores = OptionScores(
        (np.array([-1.0, -2.0]), np.array([-3.0])),
        (slice(1, 2), slice(0, 1)),
        np.ones(2, bool),
        ("It is a", "It is b"),
        (((0, 5), (5, 7)), ((5, 7),)),
    )
    tokens = item_tokens(scores, ["\1\1 is \2", "\1\1 is \2"])
    assert list(tokens["option"]) == [0, 0, 1]
    assert list(tokens["position"]) == [0, 1, 0]
    assert tokens["token"] == ["It is", " a", " b"]
    assert tokens["role"] == ["subject", "answer", "answer"]
    assert list(tokens["log_prob"]) == [-1, -2, -3]


def test_a_model_that_names_no_tokens_is_refused() -> None:
    silent = OptionScores((np.array([-1.0]),), (slice(0, 1),), np.ones(1, bool))
    with pytest.raises(UnsupportedModel, match="does not say which tokens it scores"):
        item_tokens(silent, ["\2"])
