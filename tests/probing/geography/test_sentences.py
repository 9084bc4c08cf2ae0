"""The sentence generator, rule by rule and on the sample of triples, against sentences written down beforehand."""

import os
from pathlib import Path

import pytest

from probing.formats.geography import read_triples
from probing.geography.fact_types import FACT_TYPES
from probing.geography.sentences import Sentence, sentences

EXPECTED = Path(__file__).with_name("expected_sample.tsv")
HEADS = {"Geo-political": 6, "Natural": 11, "Public and Industrial Facilities": 6}


def worded(key: str, subject: str, *objects: str) -> list[Sentence]:
    return list(sentences(FACT_TYPES[key], subject, objects))


def texts(key: str, subject: str, *objects: str) -> list[tuple[str, str]]:
    return [(sentence.text, sentence.answer) for sentence in worded(key, subject, *objects)]


def test_there_are_the_papers_fact_types_and_templates() -> None:
    heads = [fact_type.head for fact_type in FACT_TYPES.values()]
    assert {head: heads.count(head) for head in HEADS} == HEADS
    assert sum(len(fact_type.templates) for fact_type in FACT_TYPES.values()) == 33


def test_an_object_is_asked_for_with_each_template() -> None:
    assert texts("power_station_country", "Drax Power Station", "England") == [
        ("The Drax Power Station supplies electricity to states in [Y].", "England"),
        ("The Drax Power Station is located in [Y].", "England"),
    ]


def test_each_of_several_objects_has_its_own_sentence_where_a_template_takes_one() -> None:
    assert texts("river_countries", "Inn", "Austria", "Germany") == [
        ("The Inn river flows through [Y].", "Austria"),
        ("The Inn river flows through [Y].", "Germany"),
        ("[Y] has the Inn river as one of its rivers.", "Austria"),
        ("[Y] has the Inn river as one of its rivers.", "Germany"),
    ]


def test_the_first_two_of_many_objects_take_turns_where_a_template_takes_two() -> None:
    assert texts("sea_countries", "Red Sea", "Egypt", "Sudan", "Yemen") == [
        ("Rivers from countries such as [Y] and Sudan flow into the Red Sea.", "Egypt"),
        ("Rivers from countries such as Egypt and [Y] flow into the Red Sea.", "Sudan"),
        ("The Red Sea is bound by countries such as [Y] and Sudan.", "Egypt"),
        ("The Red Sea is bound by countries such as Egypt and [Y].", "Sudan"),
    ]


@pytest.mark.parametrize(
    ("key", "subject", "name", "expected"),
    [
        ("sea_countries", "Java Sea", "Indonesia", "The Java Sea is bound by [Y]."),
        ("forest_countries", "Gir", "India", "The Gir forest is located in [Y]."),
        ("desert_countries", "Negev", "Israel", "The Negev desert is located in [Y]."),
        ("range_countries", "Western Ghats", "India", "The Western Ghats pass through [Y]."),
        ("waterfall_countries", "Gocta", "Peru", "The Gocta waterfall is located in [Y]."),
        ("canyon_country", "Verdon Gorge", "France", "The Verdon Gorge is located in [Y]."),
        ("canyon_waterbody", "Glen Canyon", "Colorado River", "The Glen Canyon is created by the [Y] River."),
        ("reserve_country", "Maasai Mara", "Kenya", "The Maasai Mara is located in [Y]."),
        ("mine_country", "Escondida", "Chile", "The Escondida mine is located in [Y]."),
    ],
)
def test_a_single_object_takes_the_plain_form_once(key: str, subject: str, name: str, expected: str) -> None:
    assert [text for text, _ in texts(key, subject, name)] == [expected]


def test_a_mine_in_two_countries_keeps_its_number() -> None:
    assert texts("mine_country", "Pascua mine", "Chile", "Argentina") == [
        ("The Pascua mine is spread over countries such as [Y] and Argentina.", "Chile"),
        ("The Pascua mine is spread over countries such as Chile and [Y].", "Argentina"),
        ("The Pascua mine is located in [Y].", "Chile"),
        ("The Pascua mine is located in [Y].", "Argentina"),
    ]


def test_of_a_capital_the_country_is_asked_for_as_well() -> None:
    assert texts("country_capital", "Norway", "Oslo") == [
        ("[Y] is the capital of Norway.", "Oslo"),
        ("Oslo is the capital of [Y].", "Norway"),
        ("Norway has its capital city as [Y].", "Oslo"),
        ("[Y] has its capital city as Oslo.", "Norway"),
    ]


def test_a_sentence_begins_with_an_upper_case_letter() -> None:
    assert (
        texts("river_countries", "Rhine", "the Netherlands")[1][0]
        == "The [Y] has the Rhine river as one of its rivers."
    )


@pytest.mark.parametrize(
    ("key", "subject", "name", "leaky"),
    [
        ("reserve_country", "Northeast Greenland National Park", "Greenland", [True]),
        ("canyon_waterbody", "Yarlung Tsangpo Grand Canyon", "Yarlung Tsangpo River", [True]),
        ("country_continent", "Peru", "South America", [True]),
        ("naval_base_waterbody", "Brest Naval Base", "Atlantic Ocean", [False]),
        ("naval_base_waterbody", "Karwar Naval Base", "Gulf of Oman", [False]),
        ("dam_waterbody", "Hoover Dam", "Colorado River", [False, False]),
        ("range_highest_point", "Himalayas", "Mount Everest", [False, False]),
        ("country_capital", "Mexico", "Mexico City", [True, True, True, True]),
    ],
)
def test_a_sentence_that_gives_its_answer_away_is_marked(key: str, subject: str, name: str, leaky: list[bool]) -> None:
    assert [sentence.leaky for sentence in worded(key, subject, name)] == leaky


def test_a_sentence_that_repeats_a_word_is_marked() -> None:
    assert worded("forest_countries", "Forest of Dean", "England")[0].repeated
    assert not worded("forest_countries", "Epping Forest", "England")[0].repeated


def test_a_sentence_of_more_than_twenty_words_is_marked() -> None:
    assert worded("reserve_country", " ".join(["Very"] * 16), "Chile")[0].long
    assert not worded("reserve_country", " ".join(["Very"] * 15), "Chile")[0].long


def test_only_a_text_that_ends_in_its_blank_can_be_continued() -> None:
    last = [sentence.blank_last for sentence in worded("range_highest_point", "Alps", "Mont Blanc")]
    assert last == [False, True]
    assert [s.blank_last for s in worded("dam_country", "Gariep Dam", "South Africa")] == [False]


def test_an_id_is_stable_and_tells_sentences_and_answers_apart() -> None:
    first = worded("river_countries", "Inn", "Austria", "Germany")
    assert len({sentence.id for sentence in first}) == 4
    assert worded("river_countries", "Inn", "Germany")[0].id == first[1].id
    assert first[0].id == "river_countries-3e4df39ec7"


def test_the_sample_gives_the_expected_sentences() -> None:
    data = os.environ.get("CLOZEBOARD_TEST_DATA")
    if not data:
        pytest.skip("CLOZEBOARD_TEST_DATA is not set: no sample of triples at hand")
    found = [
        "\t".join([triple.fact_type.key, sentence.text, sentence.answer, "leaky" if sentence.leaky else ""])
        for triple in read_triples(Path(data) / "geography" / "triples_sample.jsonl")
        for sentence in sentences(triple.fact_type, triple.subject, triple.objects)
    ]
    assert found == EXPECTED.read_text(encoding="utf-8").splitlines()
