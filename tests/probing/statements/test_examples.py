"""Examples of few-shot prompts: which items are shown before which, and as what."""

from random import Random

import pytest

from probing.benchmark import Benchmark, Item, Relation
from probing.errors import BadInput
from probing.statements.prompting import Examples, as_context, as_messages, right_answer

CONTINENTS = ("Africa", "Asia", "Europe")
PLACES = ["Chad", "Egypt", "Japan", "Norway", "Peru", "Kenya", "Chad", "India", "Spain", "Mali"]
ITEMS = tuple(Item(number, place, (number % 3,)) for number, place in enumerate(PLACES))
RELATION = Relation("P30", ("[X] is located in [Y].", "[Y] contains [X]."), CONTINENTS, ITEMS)


def shown(relation: Relation, count: int, seed: int = 0) -> dict[int, tuple[Item, ...]]:
    examples = Examples(relation, count, seed)
    return {item.index: examples.before(item) for item in relation.items}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("count", [1, 3, 6])
def test_no_example_is_the_item_or_has_its_subject_and_the_last_has_another_answer(count: int, seed: int) -> None:
    for index, examples in shown(RELATION, count, seed).items():
        item = ITEMS[index]
        assert len({example.index for example in examples}) == count
        assert item.subject not in {example.subject for example in examples}
        assert right_answer(RELATION, examples[-1]) != right_answer(RELATION, item)


def test_items_with_the_same_id_have_the_same_subject() -> None:
    items = (Item(0, "Bombay", (0,), "Q1156"), Item(1, "Mumbai", (1,), "Q1156"), Item(2, "Delhi", (2,), "Q1353"))
    examples = shown(Relation("P30", ("[X] is in [Y]",), CONTINENTS, items), 1)
    assert {index: [example.subject for example in one] for index, one in examples.items()}[0] == ["Delhi"]


def test_the_seed_decides_and_nothing_else() -> None:
    assert shown(RELATION, 3, 1) == shown(RELATION, 3, 1)
    assert any(shown(RELATION, 3, seed) != shown(RELATION, 3, 0) for seed in (1, 2, 3))


def test_a_sample_of_the_items_is_asked_behind_the_same_examples_as_all() -> None:
    whole = shown(RELATION, 4)
    sample = Benchmark("small", "1", "0", (RELATION,)).select(sample=3).relations[0]
    assert len(sample.items) == 3
    assert shown(sample, 4) == {item.index: whole[item.index] for item in sample.items}


def test_most_items_are_shown_the_same_so_that_prompts_begin_alike() -> None:
    beginnings = [tuple(example.index for example in examples[:-1]) for examples in shown(RELATION, 3).values()]
    assert max(map(beginnings.count, beginnings)) >= len(ITEMS) // 2


def test_the_last_place_goes_to_an_earlier_example_where_no_later_one_has_another_answer() -> None:
    items = (*(Item(number, f"place {number}", (0,)) for number in range(4)), Item(4, "Norway", (2,)))
    relation = Relation("P30", ("[X] is in [Y]",), CONTINENTS, items)
    assert all(examples[-1].subject == "Norway" for index, examples in shown(relation, 4).items() if index < 4)


@pytest.mark.parametrize("items", [ITEMS[:3], tuple(Item(n, f"place {n}", (0,)) for n in range(9))])
def test_too_few_items_are_told(items: tuple[Item, ...]) -> None:
    relation = Relation("P30", ("[X] is in [Y]",), CONTINENTS, items)
    with pytest.raises(BadInput, match="P30 has too few items to show 3 others"):
        Examples(relation, 3, 0).before(items[0])


def test_examples_are_statements_with_their_answers_line_by_line_or_a_chat() -> None:
    assert as_context(RELATION, ITEMS[:2], 0) == "Chad is located in Africa.\nEgypt is located in Asia.\n"
    assert as_context(RELATION, (), 0) == ""
    assert as_messages(RELATION, ITEMS[:1], ITEMS[2], 1) == (
        "Fill in the blank: ____ contains Chad.",
        "Africa",
        "Fill in the blank: ____ contains Japan.",
    )


def test_the_worked_example_of_the_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    places = [("Spain", 2), ("Kenya", 0), ("Norway", 2), ("Chad", 0), ("Japan", 1)]
    items = tuple(Item(number, place, (answer,)) for number, (place, answer) in enumerate(places))
    relation = Relation("P30", ("[X] is located in [Y].",), CONTINENTS, items)
    monkeypatch.setattr(Random, "sample", lambda self, population, k: [*population[1:], population[0]])
    examples = Examples(relation, 2, 0)
    before = {item.subject: [example.subject for example in examples.before(item)] for item in items}
    assert before["Japan"] == ["Kenya", "Norway"]
    assert before["Norway"] == ["Kenya", "Chad"]
    assert before["Chad"] == ["Kenya", "Norway"]
    assert before["Spain"] == ["Kenya", "Chad"]
