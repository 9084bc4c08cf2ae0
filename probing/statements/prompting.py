"""Ways to make a prompt from an item and a template (methods 2.4): vanilla, few-shot, shared-few-shot, cascade.

The items of a relation share the examples of few-shot prompts. A prompt may also be the messages of a chat
(docs/methods/multiple-choice.md).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from random import Random
from typing import Literal

from probing.benchmark import Item, Relation
from probing.errors import BadInput
from probing.template import BLANK_TEXT, Prompt, prompt, without_subject

PromptingName = Literal["vanilla", "few-shot", "shared-few-shot", "cascade"]
INSTRUCTION = "Fill in the blank: {}"


def item_prompt(relation: Relation, item: Item, template: int) -> Prompt:
    """Return the prompt by which an item is asked."""
    return prompt(relation.template_of(item, template), item.subject, relation.verbatim)


@dataclass(frozen=True)
class Question:
    """An item as it is put to a model.

    `prompt`: about the item; `bare`: the same with its subject hidden (methods 2.3). `demonstrations`: the indices of
    the items that stand before it with their answers.
    """

    item: Item
    prompt: Prompt
    bare: Prompt
    demonstrations: tuple[int, ...] = ()


# From a relation, the number of the template, the number of demonstrations and a seed to one question for each item.
Prompting = Callable[[Relation, int, int, int], Iterator[Question]]


def vanilla(relation: Relation, template: int, shots: int, seed: int) -> Iterator[Question]:
    """Yield the template alone for each item."""
    return _questions(relation, relation.templates[template])


def cascade(relation: Relation, template: int, shots: int, seed: int) -> Iterator[Question]:
    """Yield the template with its which-clause for each item; the first blank is scored."""
    if template >= len(relation.cascades):
        raise BadInput(
            f"Relation {relation.id} has no cascade for template {template}.",
            f"Add a template for {relation.id}-cp, or use another prompting.",
        )
    return _questions(relation, relation.cascades[template])


def _questions(relation: Relation, text: str) -> Iterator[Question]:
    bare = without_subject(text, relation.verbatim)
    return (Question(item, prompt(text, item.subject, relation.verbatim), bare) for item in relation.items)


def few_shot(relation: Relation, template: int, shots: int, seed: int) -> Iterator[Question]:
    """Yield the template behind `shots` other items of the relation with their answers, drawn separately for each item.

    One random generator serves the relation's items in the order of the file, so that a seed fixes all draws.
    """
    if len(relation.items) <= shots:
        raise BadInput(
            f"Relation {relation.id} has {len(relation.items)} items, too few to show {shots} others before each.",
            "Ask more items, or show fewer (--set shots=N).",
        )
    generator = Random(seed)
    for index, question in enumerate(vanilla(relation, template, shots, seed)):
        places = generator.sample(range(len(relation.items) - 1), shots)
        others = [relation.items[other + (other >= index)] for other in places]
        yield _behind(relation, template, question, others)


def shared_few_shot(relation: Relation, template: int, shots: int, seed: int) -> Iterator[Question]:
    """Yield the template behind `shots` items that nearly all items of the relation are shown, in one order.

    `Examples` says which these are. A causal model reads them once for the whole relation.
    """
    examples = Examples(relation, shots, seed)
    for question in vanilla(relation, template, shots, seed):
        yield _behind(relation, template, question, examples.before(question.item))


def _behind(relation: Relation, template: int, question: Question, others: Sequence[Item]) -> Question:
    prefix = "".join(f"{_demonstration(relation, relation.templates[template], other)}, " for other in others)
    return Question(
        question.item,
        _with_prefix(prefix, question.prompt),
        _with_prefix(prefix, question.bare),
        tuple(other.index for other in others),
    )


def _demonstration(relation: Relation, template: str, item: Item) -> str:
    return right_answer(relation, item).join(prompt(template, item.subject).pieces).removesuffix(".")


def _with_prefix(prefix: str, prompt: Prompt) -> Prompt:
    return replace(prompt, pieces=(prefix + prompt.pieces[0], *prompt.pieces[1:]))


PROMPTINGS: dict[PromptingName, Prompting] = {
    "vanilla": vanilla,
    "few-shot": few_shot,
    "shared-few-shot": shared_few_shot,
    "cascade": cascade,
}


class Examples:
    """The examples that stand before the items of a relation: `count` of its other items.

    A seed draws their order. All items are shown the first of this order, except those that an item rules out, so that
    prompts have long common beginnings. None is the item itself or has its subject, and the answer of the last is not
    right for the item.
    """

    def __init__(self, relation: Relation, count: int, seed: int) -> None:
        self._relation, self._count = relation, count
        items = sorted(relation.pool or relation.items, key=lambda item: item.index)
        self._order = Random(f"few-shot {seed} {relation.label}").sample(items, len(items)) if count else []

    def before(self, item: Item) -> tuple[Item, ...]:
        """Return the examples before an item; raise `BadInput` where the relation has too few."""
        if not self._count:
            return ()
        if not self.are_enough(item):
            raise BadInput(
                f"Relation {self._relation.id} has too few items to show {self._count} others before each.",
                "Show fewer examples (few_shot or shots), or choose other relations.",
            )
        others = self._others(item)
        shown = tuple(islice(others, self._count))
        last = next((other for other in chain(shown[-1:], others) if self._may_be_last(other, item)), None)
        if last:
            return (*shown[:-1], last)
        index = max(index for index, other in enumerate(shown) if self._may_be_last(other, item))
        return (*shown[:index], *shown[index + 1 :], shown[index])

    def are_enough(self, item: Item) -> bool:
        """Tell whether the relation has enough examples for an item, in whatever order."""
        count = sum(1 for _ in islice(self._others(item), self._count))
        return count == self._count and any(self._may_be_last(other, item) for other in self._others(item))

    def _others(self, item: Item) -> Iterator[Item]:
        """Yield the items that may be shown before an item, in the order that was drawn."""
        for other in self._order:
            same_id = bool(item.subject_id) and other.subject_id == item.subject_id
            if other.index != item.index and other.subject != item.subject and not same_id:
                yield other

    def _may_be_last(self, other: Item, item: Item) -> bool:
        options = self._relation.options_of(item)
        return right_answer(self._relation, other) not in {options[answer] for answer in item.answers}


def right_answer(relation: Relation, item: Item) -> str:
    """Return the right answer that an example shows: the first, where there are several."""
    return relation.options_of(item)[item.answers[0]]


def as_context(relation: Relation, examples: Sequence[Item], template: int) -> str:
    """Return the examples as statements with their answers, one in each line."""
    lines = (item_prompt(relation, item, template).fill(right_answer(relation, item)) for item in examples)
    return "".join(f"{line.text}\n" for line in lines)


def as_messages(relation: Relation, examples: Sequence[Item], item: Item, template: int) -> tuple[str, ...]:
    """Return the messages of a chat, the user's and the assistant's in turn, which end with the question on an item."""
    answered = (
        message
        for example in examples
        for message in (_question(relation, example, template), right_answer(relation, example))
    )
    return (*answered, _question(relation, item, template))


def _question(relation: Relation, item: Item, template: int) -> str:
    sentence = item_prompt(relation, item, template)
    return INSTRUCTION.format(sentence.fill(BLANK_TEXT, BLANK_TEXT).text)
