"""Sentences that are scored as a whole, as the probe perplexity and tables of surprisals need them."""

from collections import deque
from collections.abc import Iterable, Iterator

from probing.errors import TooLong
from probing.kinds import KINDS, Kind
from probing.language_model import LanguageModel, OptionScores, Request, Scoring
from probing.template import Prompt

# The sentence itself is the option, and stays as it is.
WHOLE_SENTENCE = Prompt(("", ""), verbatim=True)


def without_probability(kind: Kind, quantity: str) -> str:
    """Return why a sentence by itself has no probability to models of a kind, or an empty text if it has one.

    `quantity`: what would be computed from it, as the beginning of a sentence.
    """
    if KINDS[kind].has_perplexity:
        return ""
    return f"{quantity} is not defined for {KINDS[kind].noun}: it writes a text only after having read another."


def scored_sentences(
    model: LanguageModel, sentences: Iterable[str], scoring: Scoring
) -> Iterator[tuple[str, OptionScores | TooLong]]:
    """Yield each sentence with the scores of its tokens, in their order, or with the error that it is too long."""
    waiting: deque[str] = deque()

    def requests() -> Iterator[Request]:
        for text in sentences:
            waiting.append(text)
            yield WHOLE_SENTENCE, (text,)

    for scores in model.score(requests(), scoring):
        yield waiting.popleft(), scores
