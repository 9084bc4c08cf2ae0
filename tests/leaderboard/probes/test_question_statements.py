"""The page of a statement, which shows statements of the other truth beside it."""

import pytest
from django.test import Client

from leaderboard.figures import benchmarks, item_rows
from leaderboard.figures.item_rows import ItemFilter
from leaderboard.figures.questions import question_id, question_named, question_url
from leaderboard.models import Benchmark, Run
from leaderboard.pages.question_answers import MOST_CONTRASTS, contrasts
from probing.benchmark import Item, Relation
from tests.fakes import FakeModel
from tests.leaderboard import factories as make
from tests.leaderboard.csv_rows import csv_rows

pytestmark = pytest.mark.django_db
OTHER = {"true": "false", "false": "true"}


def measured(graph: Benchmark, name: str, knows: str) -> Run:
    """Create a finished run of a model that knows all true, or all false, statements."""
    items = [item for relation in benchmarks.read(graph).relations for item in relation.items]
    model = FakeModel(knows=[item.subject for item in items if item.tags["truth"] == knows])
    return make.probed(graph, make.model(name), model, graph.settings_with({}))


@pytest.fixture
def runs(graph: Benchmark) -> list[Run]:
    return [measured(graph, "org/right", "true"), measured(graph, "org/wrong", "false")]


def statement(graph: Benchmark, truth: str) -> tuple[Relation, Item]:
    """Return a statement of this truth whose relation has statements of the other."""
    return next(
        (relation, item)
        for relation in benchmarks.read(graph).relations
        for item in relation.items
        if item.tags["truth"] == truth and len({other.tags["truth"] for other in relation.items}) > 1
    )


def stored_perplexity(run: Run, relation: Relation, text: str) -> float:
    numbers = item_rows.find(run, ItemFilter(relation=relation.label))
    return next(row["perplexity"] for row in item_rows.rows(run, numbers) if row["subject"] == text)


@pytest.mark.parametrize("truth", OTHER)
def test_beside_a_statement_stand_those_of_the_other_truth_in_its_relation(graph: Benchmark, truth: str) -> None:
    relation, item = statement(graph, truth)
    beside = contrasts(question_named(graph, question_id(relation, item)))
    assert 0 < len(beside) <= MOST_CONTRASTS
    assert {other.tags["truth"] for other in beside} == {OTHER[truth]}
    assert all(other in relation.items for other in beside)


def item(index: int, truth: str, *names: str) -> Item:
    return Item(index, f"statement {index}", (0,), tags={"truth": truth}, options=(f"statement {index}",), names=names)


def test_statements_about_the_same_subject_or_object_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    items = (
        item(0, "false", "Rome", "Asia"),
        item(1, "true", "Oslo", "Norway"),
        item(2, "false", "Lima", "Peru"),
        item(3, "false", "Rome", "Norway"),
        item(4, "true", "Oslo", "Europe"),
        item(5, "false", "Oslo", "Peru"),
    )
    content = type("Content", (), {"relation_of": lambda *_: Relation("place", ("[Y]",), (), items)})()
    monkeypatch.setattr("leaderboard.figures.questions.read_questions", lambda _: content)
    beside = contrasts(question_named(Benchmark(slug="mine"), "place-1"))
    assert [other.index for other in beside] == [3, 5, 2, 0]


@pytest.mark.parametrize("truth", OTHER)
def test_each_models_perplexities_are_those_that_are_stored_and_marked_by_what_it_prefers(
    client: Client, graph: Benchmark, runs: list[Run], truth: str
) -> None:
    relation, own = statement(graph, truth)
    address = question_url(graph, relation, own)
    rows = csv_rows(client, address, "statements")
    assert rows[0]["statement"] == own.subject
    for row in rows:
        for run, name in zip(runs, ("right", "wrong"), strict=True):
            assert float(row[name]) == pytest.approx(stored_perplexity(run, relation, row["statement"]))
    lines = client.get(address).context["tables"]["statements"].lines
    marks: dict[str, set[str]] = {"right": set(), "wrong": set()}
    for line in lines[1:]:
        for column, cell in line.cells[2:]:
            marks[column.name].add(cell.text[0])
    assert marks == {"right": {"✓"}, "wrong": {"✗"}}


def test_the_page_links_to_the_statements_beside_it(client: Client, graph: Benchmark, runs: list[Run]) -> None:
    relation, own = statement(graph, "true")
    page = client.get(question_url(graph, relation, own)).content.decode()
    assert "Beside false statements" in page
    for other in contrasts(question_named(graph, question_id(relation, own))):
        assert f'href="{question_url(graph, relation, other)}"' in page


def test_without_measured_models_the_page_still_shows_the_statements(client: Client, graph: Benchmark) -> None:
    relation, own = statement(graph, "true")
    table = client.get(question_url(graph, relation, own)).context["tables"]["statements"]
    assert [head.column.name for head in table.headers] == ["statement", "true"]
    assert len(table.lines) > 1


def test_a_relation_of_true_statements_alone_says_that_it_has_no_false_one(
    client: Client, graph: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    relation, own = statement(graph, "true")
    monkeypatch.setattr("leaderboard.pages.question_page.contrasts", lambda question: [])
    page = client.get(question_url(graph, relation, own)).content.decode()
    assert "The sample has no false statement of this relation." in page


def test_a_question_with_a_blank_has_no_statements_beside_it(client: Client, small: Benchmark) -> None:
    page = client.get("/benchmarks/small/items/P30-1/")
    assert "statements" not in page.context["tables"]
    assert "Beside" not in page.content.decode()
