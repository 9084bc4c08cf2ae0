"""Generic subjects (methods 1.4), such as "it" or "the region": they say nothing, so answers show the model's bias."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from probing.analysis.answer_spaces import softmax
from probing.benchmark import Relation
from probing.errors import TooLong
from probing.language_model import Request
from probing.template import prompt

Options = tuple[str, ...]
ScoreOptions = Callable[[Sequence[Request]], Iterator[NDArray[np.float64] | TooLong]]


def subjects_of(text: str, relation: Relation) -> list[str]:
    """Return the generic subjects of a relation: those that bear its name, or else those that bear none.

    The text has subjects with commas between; "P30: the region" is one for relation P30 only.
    """
    named: list[str] = []
    general: list[str] = []
    for entry in filter(None, map(str.strip, text.split(","))):
        name, colon, subject = entry.partition(":")
        if not colon:
            general.append(entry)
        elif name.strip() in (relation.id, relation.label):
            named.append(subject.strip())
    return named or general


def generic_shares(
    relation: Relation, template: int, subjects: Sequence[str], score_options: ScoreOptions
) -> dict[Options, list[float] | TooLong]:
    """Return for each list of options in the relation its shares: the mean over the subjects of the softmax of scores.

    They are NaN where the relation has no generic subject, and an error where one of its sentences is too long.
    """
    spaces = list(dict.fromkeys(relation.options_of(item) for item in relation.items))
    texts = [prompt(relation.templates[template], subject, relation.verbatim) for subject in subjects]
    scores = score_options([(text, options) for options in spaces for text in texts])
    return {options: _mean_softmax([next(scores) for _ in texts], len(options)) for options in spaces}


def _mean_softmax(answers: Sequence[NDArray[np.float64] | TooLong], options: int) -> list[float] | TooLong:
    scores: list[NDArray[np.float64]] = []
    for answer in answers:
        if isinstance(answer, TooLong):
            return answer
        scores.append(answer)
    shares = softmax(np.stack(scores).astype(float)).mean(axis=0) if scores else np.full(options, np.nan)
    return [float(share) for share in shares]
