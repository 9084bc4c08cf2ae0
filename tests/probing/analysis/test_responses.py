"""Responses: by which words a model declines to answer, and where a name stands in whole words."""

import pandas as pd
import pytest

from probing.analysis.responses import LEAVE, declined, declines, names_word


@pytest.mark.parametrize(
    "response",
    [
        "I don't know.",
        "I’m sorry, but I really do not know the answer.",
        "I'm not sure.",
        "I'm sorry, but I'm not sure about that.",
        "Lo siento, no estoy seguro.",
        "عذرًا، لست متأكدًا.",
        "Sorry, I have no idea.",
        "I do not have information about that.",
        "As an AI, I have no information.",
        f"{LEAVE['en']} I don't know.",
        "I am unable to answer that.",
        "Sorry, I cannot provide this information.",
        "I do not have enough information.",
        "Unknown.",
        "",
        " \n",
        "No lo sé.",
        "لا أعرف.",
        "모르겠습니다.",
    ],
)
def test_these_responses_decline(response: str) -> None:
    assert declines(response)


@pytest.mark.parametrize(
    "response",
    [
        "Paris",
        "You may know it as Paris.",
        "The Unknown Soldier",
        "No se encuentra en Francia.",
        "I know that the answer is Oslo.",
        "Canberra, not Sydney",
        "I'm not sure, but I think it is Berlin.",
        "I am not entirely certain: Berlin",
        "Berlin, but I'm not sure.",
        "No estoy seguro, pero creo que es Berlín.",
        f"{LEAVE['en']} Berlin",
        "It is not known for its river; Cairo",
    ],
)
def test_these_responses_do_not(response: str) -> None:
    assert not declines(response)


def test_what_models_are_told_to_say_is_recognised() -> None:
    for instruction in LEAVE.values():
        said = instruction.rpartition(":")[2].rpartition("‘")[2]
        assert declines(said), said


def test_a_response_that_names_a_right_answer_does_not_decline() -> None:
    rows = pd.DataFrame({"prediction_label": ["I'm not sure, perhaps Oslo", "I'm not sure"]})
    assert declined(rows, pd.Series([True, False])).tolist() == [False, True]


def test_names_count_in_whole_words_whatever_their_case() -> None:
    assert names_word("In the us.", ["US"])
    assert names_word("It is U.S. soil", ["United States", "U.S."])
    assert not names_word("That is because of Rus", ["US", ""])
