"""How each probe puts an item to a reader: its sentence, the models' answers, and whether a reader can answer it."""

from collections.abc import Callable
from typing import NamedTuple

from leaderboard.lists.compared_runs import ModelAnswer
from leaderboard.stored.item_rows import Row
from probing.benchmark import Item, Relation
from probing.probes.choices import OTHER_BLANK
from probing.template import SUBJECT_SLOT, prompt

NO_STATEMENTS = (
    "Its questions are statements that are true or false, and a model's answer is how perplexing it finds each of them."
)
NO_VECTORS = "Its questions compare the vectors of words, so there is no sentence to complete."
NO_TEXTS = "Its questions are answered by free texts, which this page cannot judge."


class ShownSentence(NamedTuple):
    """A sentence with a blank between `before` and `after`; without a blank `before` is the whole text."""

    before: str
    after: str = ""
    blank: bool = True

    def __str__(self) -> str:
        return f"{self.before}____{self.after}" if self.blank else self.before


class QuestionForm(NamedTuple):
    """How an item is put to a reader.

    `sentence` makes the text of an item by the number of a template. `answer` reads a model's answer from a row where
    that of the probe (`ProbePages.model_answer`) does not suit a page about one item. `unplayable` says why readers
    cannot answer these questions themselves; it is empty where they can. `typed` tells that they write the answer,
    and `hint` which of several answers counts.
    """

    sentence: Callable[[Relation, Item, int], ShownSentence]
    answer: ModelAnswer | None = None
    unplayable: str = ""
    typed: bool = False
    hint: str = ""


def with_blank(relation: Relation, item: Item, template: int) -> ShownSentence:
    """Return the item's sentence with an empty blank in place of the answer."""
    filled = prompt(relation.template_of(item, template), item.subject, relation.verbatim).fill("", OTHER_BLANK)
    return ShownSentence(filled.text[: filled.start], filled.text[filled.end :])


def statement(relation: Relation, item: Item, template: int) -> ShownSentence:
    """Return the statement, whose phrasings are the item's options."""
    return ShownSentence(relation.options_of(item)[template], blank=False)


def question(relation: Relation, item: Item, template: int) -> ShownSentence:
    """Return the question that a chat model is asked, or the item's sentence where there is none."""
    if not relation.questions:
        return with_blank(relation, item, template)
    return ShownSentence(relation.questions[0].replace(SUBJECT_SLOT, item.subject), blank=False)


def subject(relation: Relation, item: Item, template: int) -> ShownSentence:
    return ShownSentence(item.subject, blank=False)


def _perplexity(row: Row) -> str:
    return f"perplexity {row['perplexity']:,.1f}"


CHOICE = QuestionForm(with_blank)
TYPED = QuestionForm(with_blank, typed=True)
FINER = QuestionForm(with_blank, hint="Both answers are true; the more specific one counts.")
STATEMENT = QuestionForm(statement, ModelAnswer(("perplexity",), _perplexity), NO_STATEMENTS)
FREE_TEXT = QuestionForm(question, unplayable=NO_TEXTS)
CLOSENESS = QuestionForm(subject, unplayable=NO_VECTORS)
