"""Surprisals of a user's own sentences: the log-probabilities of sentences or of their tokens as a tidy table."""

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any, Literal, NamedTuple, get_args
from warnings import warn

import numpy as np
import pandas as pd

from probing.arrays import Floats
from probing.errors import BadInput, NonFiniteScores, TooLong, UnsupportedModel, without_panics
from probing.language_model import PLL, LanguageModel, Scoring, Spans
from probing.model_source import ModelSource, refuse_without_effect
from probing.probes.perplexity import scored_sentences, without_probability
from probing.settings import SETTINGS, Settings
from probing.start_token import AUTO, normalised_start

By = Literal["sentence", "token"]
Base = Literal["2", "e"]
UNITS: dict[Base, tuple[str, float]] = {"2": ("bits", float(np.log(2))), "e": ("nats", 1.0)}
# The columns of every table, with their types.
COLUMNS = {
    "sentence": "int64",
    "number": "int64",
    "text": "str",
    "start": "int64",
    "end": "int64",
    "tokens": "int64",
    "log_prob": "float64",
    "surprisal": "float64",
    "unit": "str",
}


class ScoredSentence(NamedTuple):
    """A sentence and its scored tokens: where each stands in it, and its log-probability."""

    text: str
    spans: Spans
    log_probs: Floats

    @property
    def perplexity(self) -> float:
        """The perplexity per token, infinity where no float is large enough."""
        with np.errstate(over="ignore"):
            return float(np.exp(-self.log_probs.sum() / len(self.log_probs)))


def surprisal(
    model: Any,
    sentences: str | Iterable[str],
    *,
    by: By = "sentence",
    base: Base = "2",
    pll: PLL = Settings.pll,
    start: str = AUTO,
    tokenizer: Any = None,
    commit: str = "",
    device: str = "auto",
    dtype: str = "float32",
    batch_tokens: int | None = None,
) -> pd.DataFrame:
    """Return the surprisal of each sentence or token, as a table with a row for each.

    The model is named and loaded as for `probing.run`. `base`: "2" for bits, "e" for nats. `pll`: how a masked model
    hides tokens (docs/own-sentences.md). `start`: the token before every sentence of a causal model.

    Columns: `sentence`, its place among the sentences, from 0; `number`, that of the token in it, from 0; `text`, its
    characters; `start` and `end`, where they begin and end in the sentence; `tokens`, how many tokens were added up;
    `log_prob`, the natural logarithm of the probability; `surprisal`, -log_prob in the `unit`. A sentence of spaces
    only has no rows, and neither has one that is too long for the model, which a warning names.
    Raises `BadInput` for bad arguments and `UnsupportedModel` for an encoder-decoder.

    Examples:
        >>> import probing
        >>> table = probing.surprisal("openai-community/gpt2", ["Paris lies in France."])
        >>> table["text"].tolist(), table["unit"].tolist()
        (['Paris lies in France.'], ['bits'])
    """
    for name, value, choices in (("by", by, get_args(By)), ("base", base, tuple(UNITS))):
        if value not in choices:
            raise BadInput(f"{name} cannot be {value!r}.", f"Choose from: {', '.join(choices)}.")
    pll, start = SETTINGS["pll"].check(pll), normalised_start(SETTINGS["start"].check(start))
    source = ModelSource(model, tokenizer, commit, device, batch_tokens)
    source.refuse_bad()
    if not isinstance(sentences, Iterable):
        raise BadInput(f"{sentences!r:.80} is no list of sentences.", "Give texts, such as a list of them.")
    texts = checked_sentences([sentences] if isinstance(sentences, str) else sentences)
    opened = source.open(dtype)
    refuse_without_effect({} if dtype == Settings.dtype else {"dtype": dtype}, opened)
    refuse_without_effect({"pll": pll}, opened)
    rows: list[tuple[Any, ...]] = []
    for number, sentence in measured(opened, texts, pll, start):
        if isinstance(sentence, TooLong):
            warn(f"Sentence {number} is left out: {sentence.message}", stacklevel=2)
        else:
            rows += _token_rows(number, sentence) if by == "token" else [_sentence_row(number, sentence)]
    unit, size = UNITS[base]
    table = pd.DataFrame(rows, columns=[*COLUMNS][:7])
    return table.assign(surprisal=0.0 - table["log_prob"].astype(float) / size, unit=unit).astype(COLUMNS)


def checked_sentences(sentences: Iterable[Any]) -> Iterator[str]:
    """Yield the sentences; raise `BadInput` at one that is not a text."""
    for number, text in enumerate(sentences):
        if not isinstance(text, str):
            raise BadInput(f"Sentence {number} is {text!r:.80}, which is not a text.", "Give each sentence as text.")
        if any("\ud800" <= letter <= "\udfff" for letter in text):
            raise BadInput(
                f"Sentence {number} holds half a character (a lone surrogate).", "Write it as valid Unicode."
            )
        yield text


def measured(
    model: LanguageModel, sentences: Iterable[str], pll: PLL, start: str = AUTO
) -> Iterator[tuple[int, ScoredSentence | TooLong]]:
    """Yield the number of each sentence that is not empty, with its scored tokens, or the error that it is too long."""
    if why := without_probability(model.card.kind, "The probability of a sentence"):
        raise UnsupportedModel(why, "Choose a causal or a masked model.")
    model = model.starting(normalised_start(start))
    numbers: deque[int] = deque()

    def kept() -> Iterator[str]:
        for number, text in enumerate(sentences):
            if text.strip():
                numbers.append(number)
                yield text

    with without_panics(model.card.id), model.scoring_state():
        for text, scores in scored_sentences(model, kept(), Scoring(pll=pll)):
            number = numbers.popleft()
            if isinstance(scores, TooLong):
                yield number, scores
                continue
            log_probs = scores.log_probs[0]
            if not np.isfinite(log_probs).all():
                raise NonFiniteScores.of(model.card.id, f"for sentence {number}, {text[:80]!r}", "log-probability")
            yield number, ScoredSentence(text, scores.spans[0] if scores.spans else (), log_probs)


def _token_rows(number: int, sentence: ScoredSentence) -> list[tuple[Any, ...]]:
    """Return a row for each scored token, with its place in the sentence."""
    if not sentence.spans:
        raise UnsupportedModel("The model does not say which tokens it scores.", "Choose another model.")
    return [
        (number, place, sentence.text[start:end], start, end, 1, log_prob)
        for place, ((start, end), log_prob) in enumerate(zip(sentence.spans, sentence.log_probs.tolist(), strict=True))
    ]


def _sentence_row(number: int, sentence: ScoredSentence) -> tuple[Any, ...]:
    """Return the row of a whole sentence, with the sum over all scored tokens."""
    text, _, log_probs = sentence
    return number, 0, text, 0, len(text), len(log_probs), float(log_probs.sum())
