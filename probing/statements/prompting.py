"""From an item and a template to a prompt (methods 2.4): vanilla, few-shot, cascade."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Literal

from probing.benchmark import Item, Relation
from probing.errors import BadInput
from probing.template import Prompt, prompt, without_subject


@dataclass(frozen=True)
class Question:
    """An item as it is put to a model.

    `prompt`: about the item; `bare`: the same with its subject hidden (methods 2.3). `shown`: the index of each item
    that was shown with its answer before it.
    """

    item: Item
    prompt: Prompt
    bare: Prompt
    shown: tuple[int, ...] = ()


Name = Literal["vanilla", "few-shot", "cascade"]
# Relation, number of the template, number of demonstrations, seed -> a question per item.
Prompting = Callable[[Relation, int, int, int], Iterator[Question]]


def vanilla(relation: Relation, template: int, shots: int, seed: int) -> Iterator[Question]:
    """The template alone."""
    text = relation.templates[template]
    return (Question(item, prompt(text, item.subject), without_subject(text)) for item in relation.items)


def cascade(relation: Relation, template: int, shots: int, seed: int) -> Iterator[Question]:
    """The template with its which-clause; the first blank is scored."""
    if template >= len(relation.cascades):
        raise BadInput(
            f"Relation {relation.id} has no cascade for template {template}.",
            f"Add a template for {relation.id}-cp, or use another prompting.",
        )
    text = relation.cascades[template]
    return (Question(item, prompt(text, item.subject), without_subject(text)) for item in relation.items)


def few_shot(relation: Relation, template: int, shots: int, seed: int) -> Iterator[Question]:
    """Behind `shots` other items of the relation with their answers, drawn anew for each item.

    One generator per relation, over the items in file order, so that the same seed shows the same items.
    """
    if len(relation.items) <= shots:
        raise BadInput(
            f"Relation {relation.id} has {len(relation.items)} items, too few to show {shots} others before each.",
            "Ask more items, or show fewer (--set shots=N).",
        )
    generator, text = Random(seed), relation.templates[template]
    for place, question in enumerate(vanilla(relation, template, shots, seed)):
        drawn = generator.sample(range(len(relation.items) - 1), shots)
        shown = [relation.items[other + (other >= place)] for other in drawn]
        before = "".join(f"{_demonstration(relation, text, other)}, " for other in shown)
        yield Question(
            question.item,
            _behind(before, question.prompt),
            _behind(before, question.bare),
            tuple(other.index for other in shown),
        )


def _demonstration(relation: Relation, template: str, item: Item) -> str:
    """The item's sentence with its answer, without the final period."""
    answer = relation.options_of(item)[item.answers[0]]
    return answer.join(prompt(template, item.subject).pieces).removesuffix(".")


def _behind(text: str, asked: Prompt) -> Prompt:
    return Prompt((text + asked.pieces[0], *asked.pieces[1:]), asked.scored)


PROMPTINGS: dict[Name, Prompting] = {"vanilla": vanilla, "few-shot": few_shot, "cascade": cascade}
