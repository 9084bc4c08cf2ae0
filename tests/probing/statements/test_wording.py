"""Names in templates: no word twice, the verb in the right number, one word asked for."""

import pytest

from probing.statements.geography_sentences import MUTED_WORDS, agreeing, muted, split


def test_a_word_is_muted_behind_each_of_its_suffixes() -> None:
    wrong = []
    for word, suffixes in MUTED_WORDS.items():
        template = f"The {{S}} {word} is here."
        for suffix in suffixes:
            behind = muted(template, {"S": f"Old {suffix.title()}"})
            elsewhere = muted(template, {"S": f"{suffix.title()} of Old"})
            if (behind, elsewhere) != ("The {S} is here.", template):
                wrong.append((word, suffix, behind, elsewhere))
    assert wrong == []


@pytest.mark.parametrize(
    ("template", "name", "expected"),
    [
        ("The {S} mines are here.", "Grasberg mine", "The {S} are here."),
        ("The {S} amusement park is here.", "Europa-Park", "The {S} is here."),
        ("The {S} stadium is here.", "Stadium of Light", "The {S} stadium is here."),
        ("The {S} forest is here.", "Daintree Rainforest", "The {S} forest is here."),
        ("The {S} river flows through {O}.", "Jhelum River", "The {S} flows through {O}."),
        ("The {S} dam is located on the {O} river.", "Nile", "The {S} dam is located on the {O} river."),
    ],
)
def test_only_the_last_words_of_a_name_mute(template: str, name: str, expected: str) -> None:
    assert muted(template, {"S": name}) == expected


def test_an_object_mutes_the_words_behind_it_only() -> None:
    names = {"S": "Mangla Dam", "O": "Jhelum River"}
    assert muted("The {S} dam is located on the {O} river.", names) == "The {S} is located on the {O}."
    assert muted("{O} has the {S} river as one.", {"S": "Rhine", "O": "Fall River"}) == "{O} has the {S} river as one."


@pytest.mark.parametrize(
    ("template", "subject", "expected"),
    [
        ("The {S} passes through {O}.", "Rocky Mountains", "The {S} pass through {O}."),
        ("The {S} runs through {O}.", "Western Ghats", "The {S} run through {O}."),
        ("The {S} is located in {O}.", "Bird Sanctuaries", "The {S} are located in {O}."),
        ("The {S} supplies electricity.", "Kings Mines", "The {S} supply electricity."),
        ("The {S} is located in {O}.", "Rhine Falls", "The {S} is located in {O}."),
        ("The {S} mountain range passes by.", "Rocky Mountains", "The {S} mountain range passes by."),
        ("The {S} are spread over {O1}.", "Grasberg mine", "The {S} is spread over {O1}."),
        ("The {S} mines are spread over {O1}.", "Grasberg", "The {S} mines are spread over {O1}."),
        ("{S} has its capital city as {O}.", "Solomon Islands", "{S} has its capital city as {O}."),
    ],
)
def test_a_verb_agrees_with_the_name_before_it(template: str, subject: str, expected: str) -> None:
    assert agreeing(template, subject) == expected


@pytest.mark.parametrize(
    ("name", "before", "word", "after"),
    [
        ("Egypt", "", "Egypt", ""),
        ("Arabian Sea", "", "Arabian", " Sea"),
        ("Forest of Dean", "Forest of ", "Dean", ""),
        ("United States of America", "United States of ", "America", ""),
        ("Mount Everest", "Mount ", "Everest", ""),
        ("Gulf of Saint Lawrence", "Gulf of Saint ", "Lawrence", ""),
        ("Republic of the Congo", "Republic of the ", "Congo", ""),
        ("the Netherlands", "the ", "Netherlands", ""),
        ("San Siro", "San ", "Siro", ""),
        ("Monte Rosa", "Monte ", "Rosa", ""),
        ("Lake Ohrid", "Lake ", "Ohrid", ""),
        ("Gulf Stream", "Gulf ", "Stream", ""),
        ("Sea Lion Island", "Sea ", "Lion", " Island"),
        ("Bay Islands", "Bay ", "Islands", ""),
        ("Cape Horn", "Cape ", "Horn", ""),
        ("Port Said", "Port ", "Said", ""),
        ("Saint Helena", "Saint ", "Helena", ""),
        ("Santa Cruz", "Santa ", "Cruz", ""),
        ("Mount", "", "Mount", ""),
        ("Washington, D.C.", "", "Washington", ", D.C."),
        ("Isle of", "", "Isle", " of"),
        ("South China Sea", "", "South", " China Sea"),
    ],
)
def test_one_word_of_a_name_is_asked_for(name: str, before: str, word: str, after: str) -> None:
    assert split(name) == (before, word, after)
