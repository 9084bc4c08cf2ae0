"""Questions in words and the statements of an item, as pages show them."""

import pytest
from django.test import Client

from leaderboard.figures import benchmarks, item_rows
from leaderboard.figures.item_rows import Row
from leaderboard.models import Benchmark, Run
from leaderboard.probes.cloze import around_answer
from leaderboard.probes.items import ItemColumns, ItemRow, answer_among_options, answer_in_template, facts_table
from leaderboard.probes.wording import (
    example_pieces,
    example_questions,
    group_title,
    read_relations,
    relation_name,
    tag_text,
)
from probing.benchmark import Item, Relation
from tests.leaderboard import factories as make
from tests.leaderboard.conftest import Site

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


def test_a_group_of_items_is_called_in_words() -> None:
    titles = {
        ("template", "0"): "Wording 1",
        ("relation", "animal_class"): "Class of an animal",
        ("relation", "P36"): "Capital",
        ("language", "ko"): "Korean",
        ("culture_pair_language", "arab-west ar"): "Arab and West, Arabic",
        ("relation_culture", "P36 South America"): "Capital (South America)",
        ("culture_pair_language_relation", "asia-west ko animal_class"): "Class of an animal (Asia and West, Korean)",
        ("wording", "city_country 0"): "Country of a city, wording 1",
        ("wording", "forest_countries single"): "Countries of a forest, wording “single”",
        ("overall", "all"): "all",
    }
    assert {group: group_title(*group, {"animal_class": "Class of an animal"}) for group in titles} == titles


def test_an_example_has_the_right_option_among_the_first() -> None:
    (example,) = example_questions([relation()])
    assert (example["before"], example["after"]) == ("The capital of Uganda is ", ".")
    assert example["options"] == [("A", False), ("B", False), ("C", False), ("D", False), ("G", True)]
    assert example["more"] == 2
    (free,) = example_questions([relation()], offers_options=False)
    assert (free["options"], free["more"]) == ([("G", True)], 0)


def test_an_example_is_in_english_if_there_is_any() -> None:
    arabic = relation(tags={"language": "ar"})
    english = relation(templates=("[X] has the capital [Y].",), tags={"language": "en"})
    (example,) = example_questions([arabic, english])
    assert (example["before"], example["after"]) == ("Uganda has the capital ", ".")
    assert example_questions([relation(items=())]) == []


def test_several_examples_are_spread_over_the_relations() -> None:
    relations = [relation(templates=(f"{number} [X] has [Y].",)) for number in range(7)]
    examples = example_questions(relations, most=3)
    assert [example["before"][0] for example in examples] == ["0", "2", "4"]


def test_statements_are_shown_as_one_that_is_true_and_one_that_is_false() -> None:
    graph = make.shipped("graph")
    (example,) = example_questions(read_relations(graph))
    assert [right for _, right in example["options"]] == [True, False] and "before" not in example
    assert example_pieces(read_relations(graph)[0])[1:] == ("", ""), "a statement has no blank"


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


ITEM = Item(0, "Norway", (1,))
RELATION = Relation("P36", ("The capital of [X] is [Y].",), ("Oslo", "Bergen", "Cairo"), (ITEM,))


def item(item: Item = ITEM, **changes: object) -> ItemRow:
    row: Row = {
        "subject": "Norway",
        "template": 0,
        "answer": 1,
        "answers": [1],
        "prediction": 0,
        "prediction_label": "Oslo",
        "scores": [-1.0, -2.0, -3.0],
        "statement": "The capital of Norway is Oslo.",
        **changes,
    }
    return ItemRow(Run(), row, RELATION, item)


def test_options_come_by_score_with_the_right_and_the_chosen_one_marked() -> None:
    (table,) = answer_among_options(item(scores=[-2.0, -3.0, -1.0], prediction=2, prediction_label="Cairo"))["tables"]
    assert [(option["option"], option["right"], option["chosen"]) for option in table["rows"]] == [
        ("Cairo", False, True),
        ("Oslo", False, False),
        ("Bergen", True, False),
    ]


@pytest.mark.parametrize("scores", [[-1.0, -2.0, -3.0], [-1000.0, -1001.0, -1002.0]])
def test_shares_are_a_softmax_also_of_scores_that_are_tiny_probabilities(scores: list[float]) -> None:
    (table,) = answer_among_options(item(scores=scores))["tables"]
    assert [option["share"] for option in table["rows"]] == pytest.approx([0.6652, 0.2447, 0.0900], abs=1e-4)


def test_the_sentence_is_shown_with_the_right_and_with_the_chosen_option() -> None:
    context = answer_among_options(item())["context"]
    assert context["statement"] == ("The capital of Norway is ", "Bergen", ".")
    assert context["chosen"] == ("The capital of Norway is ", "Oslo", ".")
    assert context["shown"] == ""


def test_what_the_model_read_before_the_sentence_is_shown_apart() -> None:
    demonstrations = "The capital of Egypt is Cairo. "
    assert answer_among_options(item(statement=f"{demonstrations}The capital of Norway is Oslo."))["context"][
        "shown"
    ] == (demonstrations)


def test_an_item_with_a_sentence_and_options_of_its_own_shows_these() -> None:
    own = Item(0, "Norway", (1,), options=("Roma", "Paris", "Wien"), wording="[X] lies north of [Y].")
    page = answer_among_options(item(own, prediction_label="Roma", statement="Norway lies north of Roma."))
    assert page["context"]["statement"] == ("Norway lies north of ", "Paris", ".")
    assert [option["option"] for option in page["tables"][0]["rows"]] == ["Roma", "Paris", "Wien"]


def test_a_template_can_be_given() -> None:
    page = answer_in_template(item(statement="Norway is ruled from Oslo."), "[X] is ruled from [Y].")
    assert page["context"]["chosen"] == ("Norway is ruled from ", "Oslo", ".")


def test_facts_are_what_is_stored_and_not_shown_above_them(site: Site) -> None:
    row = item_rows.of_item(site.first, "P30", 1)[0]
    relation = benchmarks.read(site.benchmark)["P30"]
    table = facts_table(ItemRow(site.first, row, relation, relation.items[1]), ItemColumns(), above=("correct",))
    facts = {fact["name"]: fact["stored"] for fact in table["rows"]}
    assert (facts["Right answer"], facts["Domain"], facts["Relation"]) == ("Africa", ["Geographic"], "P30")
    assert not {"Right", "Subject", "Scores"} & facts.keys()


@pytest.mark.parametrize(
    ("text", "answer", "pieces"),
    [
        ("The capital is paris, as Paris says.", "Paris", ("The capital is ", "paris", ", as Paris says.")),
        ("Parisians live there.", "Paris", ("Parisians live there.", "", "")),
        ("It costs (5.0) euros.", "(5.0)", ("It costs ", "(5.0)", " euros.")),
    ],
)
def test_the_answer_is_marked_in_a_continuation_as_a_whole_word(
    text: str, answer: str, pieces: tuple[str, str, str]
) -> None:
    assert around_answer(text, answer) == pieces
