"""Answers of a run to a question: the options with their scores, and the facts that are stored."""

import pytest

from leaderboard.figures import benchmarks, item_rows
from leaderboard.figures.item_rows import Row
from leaderboard.models import Run
from leaderboard.probes.items import ItemColumns, ItemRow, answer_among_options, answer_in_template, facts_table
from probing.benchmark import Item, Relation
from tests.leaderboard.conftest import Site

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
    (table,) = answer_among_options(item(scores=[-2.0, -3.0, -1.0], prediction=2, prediction_label="Cairo")).tables
    assert [(option.label, option.right, option.chosen) for option in table.rows] == [
        ("Cairo", False, True),
        ("Oslo", False, False),
        ("Bergen", True, False),
    ]
    assert [table.band(option) for option in table.rows] == ["wrong", "", "right"]


@pytest.mark.parametrize("scores", [[-1.0, -2.0, -3.0], [-1000.0, -1001.0, -1002.0]])
def test_shares_are_a_softmax_also_of_scores_that_are_tiny_probabilities(scores: list[float]) -> None:
    (table,) = answer_among_options(item(scores=scores)).tables
    assert [option.share for option in table.rows] == pytest.approx([0.6652, 0.2447, 0.0900], abs=1e-4)


def test_the_sentence_is_shown_with_the_right_and_with_the_chosen_option() -> None:
    context = answer_among_options(item()).context
    assert context["statement"] == ("The capital of Norway is ", "Bergen", ".")
    assert context["chosen"] == ("The capital of Norway is ", "Oslo", ".")
    assert context["shown"] == ""


def test_what_the_model_read_before_the_sentence_is_shown_apart() -> None:
    demonstrations = "The capital of Egypt is Cairo. "
    assert answer_among_options(item(statement=f"{demonstrations}The capital of Norway is Oslo.")).context["shown"] == (
        demonstrations
    )


def test_an_item_with_a_sentence_and_options_of_its_own_shows_these() -> None:
    own = Item(0, "Norway", (1,), options=("Roma", "Paris", "Wien"), wording="[X] lies north of [Y].")
    page = answer_among_options(item(own, prediction_label="Roma", statement="Norway lies north of Roma."))
    assert page.context["statement"] == ("Norway lies north of ", "Paris", ".")
    assert [option.label for option in page.tables[0].rows] == ["Roma", "Paris", "Wien"]


def test_a_template_can_be_given() -> None:
    page = answer_in_template(item(statement="Norway is ruled from Oslo."), "[X] is ruled from [Y].")
    assert page.context["chosen"] == ("Norway is ruled from ", "Oslo", ".")


def test_facts_are_what_is_stored_and_not_shown_above_them(site: Site) -> None:
    row = item_rows.of_item(site.first, "P30", 1)[0]
    relation = benchmarks.read(site.benchmark)["P30"]
    table = facts_table(ItemRow(site.first, row, relation, relation.items[1]), ItemColumns(), above=("correct",))
    facts = {title: cell.value for title, cell in table.rows}
    assert (facts["Right answer"], facts["Domain"], facts["Relation"]) == ("Africa", "Geographic", "P30")
    assert not {"Right", "Subject", "Scores"} & facts.keys()
