"""Relations and questions in words: names, tags, examples of every kind of benchmark."""

import pytest
from django.test import Client

from leaderboard.figures import benchmarks
from leaderboard.models import Benchmark
from leaderboard.probes.wording import (
    example_cell,
    example_question,
    group_title,
    read_relations,
    relation_name,
    tag_text,
)
from probing.benchmark import Item, Relation
from tests.leaderboard import factories as make

pytestmark = pytest.mark.django_db


def relation(**fields: object) -> Relation:
    defaults = {
        "id": "country_capital",
        "templates": ("The capital of [X] is [Y].",),
        "answer_space": tuple("ABCDEFG"),
        "items": (Item(0, "Uganda", (6,)),),
    }
    return Relation(**{**defaults, **fields})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({}, "Capital of a country"),
        ({"name": "capital of a country"}, "Capital of a country"),
        ({"name": "The capital of {HEAD} is {TAIL}"}, "Capital of a country"),
        ({"id": "P37.arab-west.en", "tags": {"predicate": "P37"}}, "Official language"),
        ({"id": "P2936"}, "Language used"),
        ({"id": "P99999"}, "P99999"),
    ],
)
def test_a_relation_has_a_name_for_people(fields: dict[str, object], name: str) -> None:
    assert relation_name(relation(**fields)) == name


def test_tags_are_in_words() -> None:
    assert tag_text("culture_pair", "south-america-west") == "South America and West"
    assert tag_text("language", "ar") == "Arabic"
    assert tag_text("language", "zh") == "Chinese"
    assert tag_text("wording", "active") == "active"
    assert tag_text("cardinality", "multiple instances per answer") == "answers repeat"
    assert tag_text("domain", ("Arts", "Sports")) == "Arts, Sports"


@pytest.mark.parametrize(
    ("dimension", "group", "title"),
    [
        ("template", "0", "Wording 1"),
        ("relation", "animal_class", "Class of an animal"),
        ("relation", "P36", "Capital"),
        ("language", "ko", "Korean"),
        ("culture_pair_language", "arab-west ar", "Arab and West, Arabic"),
        ("relation_culture", "P36 South America", "Capital (South America)"),
        ("culture_pair_language_relation", "asia-west ko animal_class", "Class of an animal (Asia and West, Korean)"),
        ("wording", "city_country 0", "Country of a city, template 1"),
        ("wording", "forest_countries single", "Countries of a forest, template “single”"),
        ("overall", "all", "all"),
    ],
)
def test_a_group_of_items_is_called_in_words(dimension: str, group: str, title: str) -> None:
    assert group_title(dimension, group, {"animal_class": "Class of an animal"}) == title


def test_an_example_has_the_right_option_among_the_first() -> None:
    example = example_question([relation()])
    assert example
    assert (example.before, example.after) == ("The capital of Uganda is ", ".")
    assert example.options == [("A", False), ("B", False), ("C", False), ("D", False), ("G", True)]
    assert example.more == 2
    free = example_question([relation()], offers_options=False)
    assert free
    assert (free.options, free.more) == ([("G", True)], 0)


def test_an_example_is_in_english_if_there_is_any() -> None:
    arabic = relation(tags={"language": "ar"})
    english = relation(templates=("[X] has the capital [Y].",), tags={"language": "en"})
    example = example_question([arabic, english])
    assert example and example.after == "."
    assert example.before == "Uganda has the capital "
    assert example_question([relation(items=())]) is None


def test_statements_are_shown_as_one_that_is_true_and_one_that_is_false() -> None:
    graph = make.shipped("graph")
    example = example_question(read_relations(graph))
    assert example
    assert (example.before, [right for _, right in example.options]) == ("", [True, False])
    cell = example_cell(read_relations(graph)[0])
    assert cell.text and cell.pieces is None


def test_relations_and_tags_of_cultures_are_named_on_their_page(client: Client, culture: Benchmark) -> None:
    page = client.get("/benchmarks/culture/relations/P37.arab-west.en/").content.decode()
    assert "<h1>Official language</h1>" in page
    assert "Arab and West" in page and "English" in page


def test_answers_of_one_word_are_explained(client: Client, geography: Benchmark) -> None:
    relation = benchmarks.read(geography).relations[0]
    assert (
        "the one word that belongs in the blank"
        in client.get(f"/benchmarks/geography/relations/{relation.id}/").content.decode()
    )
