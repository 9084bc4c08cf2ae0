"""Items of cloze: the list, and the page of one."""

import re
from typing import Any

import pytest
from django.test import Client

from leaderboard.figures import item_rows
from leaderboard.models import Run
from leaderboard.probes.cloze_items import ITEM_COLUMNS, verdict
from leaderboard.probes.items import item_url
from tests.leaderboard.csv_rows import csv_rows

pytestmark = pytest.mark.django_db


def test_a_continuation_has_the_answer_marked(client: Client, generator: Run) -> None:
    item = next(row for row in csv_rows(client, f"/runs/{generator.pk}/items/") if row["subject"] == "Paris")
    page = client.get(item_url(generator, {**item, "template": 0})).content.decode()
    assert "<mark>France</mark> and Austria." in page


def test_a_sentence_that_was_not_asked_is_neither_right_nor_wrong(client: Client, generator: Run) -> None:
    rows = {row["subject"]: row["correct"] for row in csv_rows(client, f"/runs/{generator.pk}/items/")}
    assert rows == {"Paris": "true", "Cairo": "false", "Inn": "", "Sahara": ""}
    response = client.get(item_url(generator, {"relation": "desert_continent", "template": 0, "index": 0}))
    assert "The model was not asked" in response.content.decode()


def test_items_have_their_sentence_and_say_what_counts_as_right(client: Client, encoder: Run) -> None:
    page = client.get(f"/runs/{encoder.pk}/items/").content.decode().replace("\N{NO-BREAK SPACE}", " ")
    heads = dict(re.findall(r'data-column="(\w+)"[^>]*>\s*<span class="column-head">\s*([^<]+?)\s*<', page))
    assert (heads["correct"], heads["prediction"], heads["rank"]) == (
        "In top 5",
        "Ranked first",
        "Rank of answer",
    )
    assert "The Inn river flows through ____." in page
    assert "the answer is among the 5 most probable words at the blank" in page


def test_items_of_a_generator_say_what_it_wrote(client: Client, generator: Run) -> None:
    page = client.get(f"/runs/{generator.pk}/items/").content.decode()
    assert "Within 5 tokens" in page
    assert "Continuation" in page


def test_a_column_that_is_empty_throughout_is_not_shown(client: Client, encoder: Run) -> None:
    def shown(address: str) -> bool:
        return 'data-column="margin"' in client.get(address).content.decode()

    assert not shown(f"/runs/{encoder.pk}/items/")
    assert not shown(f"/runs/{encoder.pk}/items/?columns=all")
    assert "margin" in csv_rows(client, f"/runs/{encoder.pk}/items/")[0]


def test_the_csv_of_items_has_what_the_file_has(client: Client, encoder: Run) -> None:
    rows = csv_rows(client, f"/runs/{encoder.pk}/items/")
    stored = set(item_rows.names(encoder)) - {"answer_label", "prediction_label", *ITEM_COLUMNS.file_only}
    assert stored <= rows[0].keys()
    inn = next(row for row in rows if row["subject"] == "Inn")
    assert (inn["predictions"], inn["leak"], inn["one_token"]) == ("Egypt; Austria; Africa", "not leaky", "true")


def test_one_item_shows_its_ranking(client: Client, encoder: Run) -> None:
    address = item_url(encoder, {"relation": "river_countries", "template": 0, "index": 0})
    page = client.get(address).content.decode()
    assert "The Inn river flows through <span" in page
    assert "Right: the answer is in place 2 (the first 5 places count)." in page
    assert "<mark>Austria</mark>" in page
    ranked = [(row["place"], row["word"], row["right"]) for row in csv_rows(client, address, "ranking")]
    assert ranked == [("1", "Egypt", "false"), ("2", "Austria", "true"), ("3", "Africa", "false")]


def test_one_item_says_in_words_what_is_stored(client: Client, encoder: Run) -> None:
    facts = csv_rows(client, item_url(encoder, {"relation": "river_countries", "template": 0, "index": 0}), "facts")
    values = {fact["name"]: fact["stored"] for fact in facts}
    assert values["One token"] == "true"
    assert not {"", "None", "True"} & set(values.values())
    assert not {"Margin", "Continuation", "Subject id"} & values.keys()


@pytest.mark.parametrize(
    ("row", "explanation"),
    [
        ({"method": "", "correct": None, "rank": None}, "not asked"),
        ({"method": "top", "correct": False, "rank": 7}, "Wrong: the answer is in place 7"),
        ({"method": "top", "correct": False, "rank": None}, "Wrong: the answer is not a single token"),
        ({"method": "near", "correct": True, "rank": 2}, "Right: the answer is complete after token 2"),
        ({"method": "near", "correct": False, "rank": None}, "Wrong: the answer does not occur in the continuation"),
    ],
)
def test_the_verdict_says_whether_and_why_the_answer_is_right(row: dict[str, Any], explanation: str) -> None:
    assert explanation in verdict(row, 5)


def test_one_item_shows_how_a_generator_goes_on(client: Client, generator: Run) -> None:
    page = client.get(item_url(generator, {"relation": "city_country", "template": 0, "index": 0})).content.decode()
    assert "The model wrote" in page
    assert "<mark>France</mark> and Austria." in page


def test_a_comparison_shows_an_encoders_words_as_far_as_the_answer(
    client: Client, encoder: Run, generator: Run
) -> None:
    rows = csv_rows(client, f"/compare/?m={encoder.pk}&m={generator.pk}", "disagreements")
    assert rows
    for row in rows:
        assert (row["answer"] in row["first"].split(" · ")) == ("first" in row["right"])
