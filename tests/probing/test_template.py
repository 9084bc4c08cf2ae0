"""Templates and prompts: spans of options, upper-case first letters and blanks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probing.template import Prompt, prompt, upper_first, without_subject

words = st.text(st.characters(codec="utf-8", exclude_characters="[]"), max_size=12)


@given(words, words, words, words)
def test_the_span_of_a_statement_is_the_option(left: str, subject: str, right: str, option: str) -> None:
    statement = prompt(f"{left}[X] is [Y]{right}", subject).fill(option)
    assert statement.text[statement.start : statement.end] == option
    assert statement.text == upper_first(f"{left}{subject} is {option}{right}")


def test_an_option_that_begins_the_statement_gets_an_upper_case_letter() -> None:
    statement = prompt("[Y] is the capital of [X].", "Peru").fill("the city")
    assert statement.text == "The city is the capital of Peru."
    assert statement.text[statement.start : statement.end] == "The city"


def test_an_upper_case_letter_may_be_two_characters() -> None:
    statement = prompt("[Y] is in [X].", "Peru").fill("ßeta")
    assert statement.text[statement.start : statement.end] == "SSeta"


def test_a_subject_that_looks_like_a_slot_stays_a_subject() -> None:
    assert prompt("[X] is in [Y].", "[Y]").fill("Peru").text == "[Y] is in Peru."


@pytest.mark.parametrize(("scored", "text"), [(0, "A, Oslo, B, ?, C"), (1, "A, ?, B, Oslo, C")])
def test_the_other_blanks_take_the_given_text(scored: int, text: str) -> None:
    assert Prompt(("A, ", ", B, ", ", C"), scored).fill("Oslo", "?").text == text


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("[X] lies in [Y].", "_ lies in Lyon."),
        ("[Y] is where [X] lies.", "Lyon is where _ lies."),
        ("[X] lies in [Y], which lies in [Y].", "_ lies in Lyon, which lies in _."),
    ],
)
def test_with_a_hidden_subject_the_first_answer_slot_is_scored(template: str, text: str) -> None:
    assert without_subject(template).fill("Lyon", "_").text == text


def test_a_verbatim_prompt_keeps_the_first_letter() -> None:
    assert Prompt(("", ""), verbatim=True).fill("oslo is a city").text == "oslo is a city"
    assert Prompt(("in ", ""), verbatim=True).fill("Oslo").text == "in Oslo"
