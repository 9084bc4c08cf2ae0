"""Promptings: how a pair is put to a model."""

from random import Random
from typing import Any

import pytest

from probing.benchmark import Item, Relation
from probing.errors import BadInput
from probing.statements.prompting import cascade, few_shot, shared_few_shot, vanilla

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


def test_a_relation_without_a_cascade_says_so() -> None:
    with pytest.raises(BadInput, match="no cascade for template 0"):
        next(cascade(Relation("P1", ("[X] is [Y].",), (), ITEMS), 0, 10, 0))


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
