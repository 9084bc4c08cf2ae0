"""Ways to put an item: alone, with a cascade, and behind examples, in a text or in a chat."""

from random import Random
from typing import Any

import pytest

from probing.benchmark import Benchmark, Item, Relation
from probing.errors import BadInput
from probing.statements.prompting import (
    Examples,
    as_context,
    as_messages,
    cascade,
    few_shot,
    right_answer,
    shared_few_shot,
    vanilla,
)

ITEMS = tuple(Item(i, f"Place {i}", (1,), options=(f"Land {i}", f"Town {i}")) for i in range(14))
RELATION = Relation(
    "P131", ("[X] lies in [Y].",), ("Land 0", "Town 0"), ITEMS, cascades=("[X] lies in [Y], which lies in [Y].",)
)


def test_vanilla_is_the_template_alone_and_the_first_blank_of_a_cascade_is_scored() -> None:
    first = next(vanilla(RELATION, 0, 10, 0))
    assert first.prompt.fill("Town 0").text == "Place 0 lies in Town 0."
    assert first.demonstrations == ()
    first = next(cascade(RELATION, 0, 10, 0))
    assert first.prompt.fill("Town 0", "_").text == "Place 0 lies in Town 0, which lies in _."


def test_the_bare_prompt_hides_the_subject_and_scores_the_answer() -> None:
    for prompting in (vanilla, cascade, few_shot):
        bare = next(prompting(RELATION, 0, 10, 0)).bare
        assert "_ lies in Town" in bare.fill("Town", "_").text


@pytest.mark.parametrize("prompting", [few_shot, shared_few_shot])
def test_few_shot_shows_fine_answers_and_then_asks(prompting: Any) -> None:
    question = next(prompting(RELATION, 0, 2, 0))
    before, after = (f"Place {i} lies in Town {i}" for i in question.demonstrations)
    assert question.prompt.fill("Town 0").text == f"{before}, {after}, Place 0 lies in Town 0."
    assert question.bare.fill("Town 0", "_").text == f"{before}, {after}, _ lies in Town 0."
    with pytest.raises(BadInput, match=r"too few (items )?to show 14 others"):
        next(prompting(RELATION, 0, 14, 0))


def test_few_shot_draws_as_one_generator_from_all_others() -> None:
    generator = Random(3)
    for place, question in enumerate(few_shot(RELATION, 0, 10, 3)):
        assert list(question.demonstrations) == generator.sample([i for i in range(14) if i != place], 10)
    for question in few_shot(RELATION, 0, 10, 0):
        assert len(set(question.demonstrations)) == 10
        assert question.item.index not in question.demonstrations


def test_the_seed_decides_what_is_shown() -> None:
    def shown(seed: int) -> list[tuple[int, ...]]:
        return [question.demonstrations for question in few_shot(RELATION, 0, 10, seed)]

    assert shown(0) == shown(0) != shown(1)


def test_shared_few_shot_shows_nearly_all_items_the_same_others() -> None:
    questions = list(shared_few_shot(RELATION, 0, 4, 0))
    usual = questions[0].demonstrations
    different = [question for question in questions if question.demonstrations != usual]
    assert {question.item.index for question in different} <= {0, *usual}
    assert all(question.item.index not in question.demonstrations for question in questions)
    assert all(len(set(question.demonstrations)) == 4 for question in questions)


CONTINENTS = ("Africa", "Asia", "Europe")
PLACES = ["Chad", "Egypt", "Japan", "Norway", "Peru", "Kenya", "Chad", "India", "Spain", "Mali"]
PLACES_ASKED = tuple(Item(number, place, (number % 3,)) for number, place in enumerate(PLACES))
CONTINENT_OF = Relation("P30", ("[X] is located in [Y].", "[Y] contains [X]."), CONTINENTS, PLACES_ASKED)


def shown(relation: Relation, count: int, seed: int = 0) -> dict[int, tuple[Item, ...]]:
    examples = Examples(relation, count, seed)
    return {item.index: examples.before(item) for item in relation.items}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("count", [1, 3, 6])
def test_no_example_is_the_item_or_has_its_subject_and_the_last_has_another_answer(count: int, seed: int) -> None:
    for index, examples in shown(CONTINENT_OF, count, seed).items():
        item = PLACES_ASKED[index]
        assert len({example.index for example in examples}) == count
        assert item.subject not in {example.subject for example in examples}
        assert right_answer(CONTINENT_OF, examples[-1]) != right_answer(CONTINENT_OF, item)


def test_items_with_the_same_id_have_the_same_subject() -> None:
    items = (Item(0, "Bombay", (0,), "Q1156"), Item(1, "Mumbai", (1,), "Q1156"), Item(2, "Delhi", (2,), "Q1353"))
    examples = shown(Relation("P30", ("[X] is in [Y]",), CONTINENTS, items), 1)
    assert {index: [example.subject for example in one] for index, one in examples.items()}[0] == ["Delhi"]


def test_the_seed_decides_and_nothing_else() -> None:
    assert shown(CONTINENT_OF, 3, 1) == shown(CONTINENT_OF, 3, 1)
    assert any(shown(CONTINENT_OF, 3, seed) != shown(CONTINENT_OF, 3, 0) for seed in (1, 2, 3))


def test_a_sample_of_the_items_is_asked_behind_the_same_examples_as_all() -> None:
    whole = shown(CONTINENT_OF, 4)
    sample = Benchmark("small", "1", "0", (CONTINENT_OF,)).select(sample=3).relations[0]
    assert len(sample.items) == 3
    assert shown(sample, 4) == {item.index: whole[item.index] for item in sample.items}


def test_most_items_are_shown_the_same_so_that_prompts_begin_alike() -> None:
    beginnings = [tuple(example.index for example in examples[:-1]) for examples in shown(CONTINENT_OF, 3).values()]
    assert max(map(beginnings.count, beginnings)) >= len(PLACES_ASKED) // 2


def test_the_last_place_goes_to_an_earlier_example_where_no_later_one_has_another_answer() -> None:
    items = (*(Item(number, f"place {number}", (0,)) for number in range(4)), Item(4, "Norway", (2,)))
    relation = Relation("P30", ("[X] is in [Y]",), CONTINENTS, items)
    assert all(examples[-1].subject == "Norway" for index, examples in shown(relation, 4).items() if index < 4)


@pytest.mark.parametrize("items", [PLACES_ASKED[:3], tuple(Item(n, f"place {n}", (0,)) for n in range(9))])
def test_too_few_items_are_told(items: tuple[Item, ...]) -> None:
    relation = Relation("P30", ("[X] is in [Y]",), CONTINENTS, items)
    with pytest.raises(BadInput, match="P30 has too few items to show 3 others"):
        Examples(relation, 3, 0).before(items[0])


def test_examples_are_statements_with_their_answers_line_by_line_or_a_chat() -> None:
    assert as_context(CONTINENT_OF, PLACES_ASKED[:2], 0) == "Chad is located in Africa.\nEgypt is located in Asia.\n"
    assert as_context(CONTINENT_OF, (), 0) == ""
    assert as_messages(CONTINENT_OF, PLACES_ASKED[:1], PLACES_ASKED[2], 1) == (
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
