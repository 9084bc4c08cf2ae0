"""Ways to make a prompt from an item and a template (methods 2.4): vanilla, few-shot, shared-few-shot, cascade."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Literal

from probing.benchmark import Item, Relation
from probing.errors import BadInput
from probing.statements.examples import Examples
from probing.template import Prompt, prompt, without_subject


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


PromptingName = Literal["vanilla", "few-shot", "shared-few-shot", "cascade"]
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
    for place, question in enumerate(vanilla(relation, template, shots, seed)):
        places = generator.sample(range(len(relation.items) - 1), shots)
        others = [relation.items[other + (other >= place)] for other in places]
        yield _behind(relation, template, question, others)


def shared_few_shot(relation: Relation, template: int, shots: int, seed: int) -> Iterator[Question]:
    """Yield the template behind `shots` items that nearly all items of the relation are shown, in one order.

    `Examples` says which these are. A causal model reads them once for the whole relation.
    """
    examples = Examples(relation, shots, seed)
    for question in vanilla(relation, template, shots, seed):
        yield _behind(relation, template, question, examples.before(question.item))


def _behind(relation: Relation, template: int, question: Question, others: Sequence[Item]) -> Question:
    """Return the question behind other items with their answers."""
    prefix = "".join(f"{_demonstration(relation, relation.templates[template], other)}, " for other in others)
    return Question(
        question.item,
        _with_prefix(prefix, question.prompt),
        _with_prefix(prefix, question.bare),
        tuple(other.index for other in others),
    )


def _demonstration(relation: Relation, template: str, item: Item) -> str:
    """Return the item's sentence with its answer, without the final period."""
    answer = relation.options_of(item)[item.answers[0]]
    return answer.join(prompt(template, item.subject).pieces).removesuffix(".")


def _with_prefix(prefix: str, prompt: Prompt) -> Prompt:
    return replace(prompt, pieces=(prefix + prompt.pieces[0], *prompt.pieces[1:]))


PROMPTINGS: dict[PromptingName, Prompting] = {
    "vanilla": vanilla,
    "few-shot": few_shot,
    "shared-few-shot": shared_few_shot,
    "cascade": cascade,
}
