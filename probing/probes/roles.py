"""The role of each token of a statement: part of the subject, of the answer, of another blank, or of the template."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from probing.arrays import Floats, Ints
from probing.errors import UnsupportedModel
from probing.language_model import OptionScores, Spans
from probing.template import Prompt

SUBJECT, ANSWER, TEMPLATE, BLANK = "subject", "answer", "template", "blank"
# Characters that stand for those of a part of the statement. A token that reaches into two parts has the first's role.
MARKS = {"\2": ANSWER, "\1": SUBJECT, "\0": BLANK}
ANSWER_MARK, SUBJECT_MARK, BLANK_MARK = MARKS


def marked(text: Prompt, option: str, statement: str) -> str:
    """Return the statement with marks in place of the option and of what a model put into the other blanks.

    `text`: the prompt, which may have marks in place of its subject. `statement`: the text that the model scored. Its
    first letter may have become two in upper case, which cannot be told apart from a longer blank if there are others.
    """
    others, longer = len(text.pieces) - 2, len(statement) - len(text.fill(ANSWER_MARK * len(option)).text)
    in_blank, in_first_letter = divmod(longer, others) if others else (0, longer)
    marks = text.fill(ANSWER_MARK * len(option), BLANK_MARK * in_blank).text
    return marks[:1] * in_first_letter + marks


def token_roles(marks: str, spans: Spans) -> list[str]:
    """Return the role of each token, given the marked statement and where its tokens begin and end."""
    parts = (marks[begin:end] for begin, end in spans)
    return [next((role for mark, role in MARKS.items() if mark in part), TEMPLATE) for part in parts]


class ItemTokens(NamedTuple):
    """The scored tokens of all options of an item, in their order; each list has an entry per token.

    `option`: the number of the option. `position`: the token's place among the scored tokens of its option, from 0.
    `token`: the characters of the statement that it stands for.
    """

    option: Ints
    position: Ints
    token: list[str]
    role: list[str]
    log_prob: Floats


def item_tokens(scores: OptionScores, marks: Iterable[str]) -> ItemTokens:
    """Return the tokens of an item's options, given the marked statement of each option."""
    if not scores.spans:
        raise UnsupportedModel("The model does not say which tokens it scores.", "Leave out --keep tokens.")
    return ItemTokens(
        np.repeat(np.arange(len(scores.log_probs)), scores.lengths),
        np.concatenate([np.arange(length) for length in scores.lengths]),
        [text[begin:end] for text, spans in zip(scores.texts, scores.spans, strict=True) for begin, end in spans],
        [role for text, spans in zip(marks, scores.spans, strict=True) for role in token_roles(text, spans)],
        np.concatenate(scores.log_probs),
    )
