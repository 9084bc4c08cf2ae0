"""The workload: which items and statements are measured."""

from pathlib import Path

import pytest

from probing.benchmark import Benchmark, Item, Relation
from speed.work import (
    STARTER_RELATIONS,
    completions,
    facts,
    requests,
    statements,
    true_statements,
    workload,
)


@pytest.fixture(autouse=True)
def no_bear(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLOZEBOARD_TEST_DATA", raising=False)


SUBJECTS = (Item(0, "chad", (0,)), Item(1, "Peru", (2,)), Item(2, "Japan", (1,)))
CONTINENTS = Relation("P30", ("[X] is located in [Y].",), ("Africa", "Asia", "South America"), SUBJECTS)
WORK = Benchmark("starter", "1", "", (CONTINENTS,))


def test_an_item_is_asked_with_all_options_and_is_true_with_the_right_one() -> None:
    prompt, options = requests(WORK)[0]
    assert (prompt.fill("Asia").text, options) == ("Chad is located in Asia.", ("Africa", "Asia", "South America"))
    assert [options for _, options in true_statements(WORK)] == [("Africa",), ("South America",), ("Asia",)]


def test_statements_are_counted_over_the_options_of_every_item(benchmark: Benchmark) -> None:
    assert facts(benchmark.select(["P30", "P36"]))["statements"] == 4 * 3 + 2 * 2
    assert facts(benchmark.select(["P30", "P36"], limit=1))["statements"] == 3 + 2


def test_without_bear_the_first_items_of_the_starter_benchmark_are_taken() -> None:
    work = workload(2)
    assert (work.slug, tuple(relation.id for relation in work.relations)) == ("starter", STARTER_RELATIONS)
    for relation in work.relations:
        assert relation.items == workload()[relation.id].items[:2]


def test_bear_is_taken_from_the_folder_that_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLOZEBOARD_TEST_DATA", str(tmp_path))
    with pytest.raises(Exception, match="bear"):
        workload(1)


def test_statements_have_no_context_and_completions_begin_at_the_blank_after_true_examples() -> None:
    first = statements(WORK)[0]
    assert (first.context, first.texts[:2]) == ("", ["Chad is located in Africa.", "Chad is located in Asia."])
    assert (first.subject, first.options) == ("chad", ["Africa", "Asia", "South America"])
    examples = "Chad is located in Africa.\nPeru is located in South America.\nJapan is located in Asia.\n"
    items = completions(WORK)
    assert (items[1].context, items[1].texts[2]) == (examples + "Peru is located in", " South America.")
    assert all(item.context.startswith(examples) for item in items)
    capitals = Relation("P36", ("[Y] is the capital of [X].",), ("Rome", "Lima"), (Item(0, "Peru", (1,)),))
    assert completions(Benchmark("starter", "1", "", (capitals,))) == []
