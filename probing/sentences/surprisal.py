"""Surprisals of a user's own sentences: the log-probabilities of sentences or of their tokens as a tidy table."""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import repeat
from typing import Any, Literal, NamedTuple, get_args
from warnings import warn

import numpy as np
import pandas as pd

from probing.arrays import Floats
from probing.errors import BadInput, NonFiniteScores, TooLong, UnsupportedModel, suggestion, without_panics
from probing.language_model import PLL, LanguageModel, Request, Scoring, Spans
from probing.model_source import ModelSource, refuse_without_effect
from probing.probes.perplexity import WHOLE_SENTENCE, without_probability
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
    context: str | Iterable[str] = "",
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

    The model is named and loaded as for `probing.run`. `context`: what stands directly before every sentence, or a text
    for each of them; the model reads it, and its tokens are not scored. `base`: "2" for bits, "e" for nats.
    `pll`: how a masked model hides tokens (docs/own-sentences.md). `start`: the token before every text of a causal
    model.

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
        >>> after = probing.surprisal("openai-community/gpt2", " in France.", context="Paris lies", by="token")
    """
    for name, value, choices in (("by", by, get_args(By)), ("base", base, tuple(UNITS))):
        if value not in choices:
            raise BadInput(f"{name} cannot be {value!r}.", suggestion(str(value), choices))
    texts = list(checked_sentences(sentences, "Sentence"))
    contexts = list(checked_sentences([context] * len(texts) if isinstance(context, str) else context, "Context"))
    if len(contexts) != len(texts):
        raise BadInput(
            f"There are {len(texts):,} sentences and {len(contexts):,} contexts.", "Give one for each, or one for all."
        )
    loaded = opened(ModelSource(model, tokenizer, commit, device, batch_tokens), dtype, pll, start)
    rows: list[tuple[Any, ...]] = []
    for number, sentence in measured(loaded, texts, pll, contexts):
        if isinstance(sentence, TooLong):
            warn(f"Sentence {number} is left out: {sentence.message}", stacklevel=2)
        else:
            rows += _token_rows(number, sentence) if by == "token" else [_sentence_row(number, sentence)]
    unit, size = UNITS[base]
    table = pd.DataFrame(rows, columns=[*COLUMNS][:7])
    return table.assign(surprisal=0.0 - table["log_prob"].astype(float) / size, unit=unit).astype(COLUMNS)


def opened(source: ModelSource, dtype: str, pll: PLL, start: str) -> LanguageModel:
    """Return the model with this start token; raise `BadInput` for bad arguments, and such as do nothing on it."""
    pll, start = SETTINGS["pll"].check(pll), normalised_start(SETTINGS["start"].check(start))
    source.refuse_bad()
    model = source.open(dtype)
    refuse_without_effect({"pll": pll} | ({} if dtype == Settings.dtype else {"dtype": dtype}), model)
    return model.starting(start)


def checked_sentences(texts: Any, noun: str) -> Iterator[str]:
    """Return the texts, of which one alone needs no list; raise `BadInput` at one that is no text."""
    if not isinstance(texts, Iterable):
        raise BadInput(f"{texts!r:.80} is no list of {noun.lower()}s.", "Give texts, such as a list of them.")
    return (_checked(number, text, noun) for number, text in enumerate([texts] if isinstance(texts, str) else texts))


def _checked(number: int, text: Any, noun: str) -> str:
    if not isinstance(text, str):
        raise BadInput(f"{noun} {number} is {text!r:.80}, which is not a text.", f"Give each {noun.lower()} as text.")
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        raise BadInput(f"{noun} {number} holds half a character (a lone surrogate).", "Write it as valid Unicode.")
    return text


def measured(
    model: LanguageModel, sentences: Iterable[str], pll: PLL, contexts: Iterable[str] = ()
) -> Iterator[tuple[int, ScoredSentence | TooLong]]:
    """Yield the number of each sentence that is not empty, with its scored tokens, or the error that it is too long.

    `contexts`: a text before each sentence; none where they are left out.
    """
    if why := without_probability(model.card.kind, "The probability of a sentence"):
        raise UnsupportedModel(why, "Choose a causal or a masked model.")
    waiting: deque[tuple[int, str]] = deque()

    def requests() -> Iterator[Request]:
        for number, (text, context) in enumerate(zip(sentences, contexts or repeat(""), strict=False)):
            if text.strip():
                waiting.append((number, text))
                yield replace(WHOLE_SENTENCE, context=context), (text,)

    with without_panics(model.card.id), model.scoring_state():
        for scores in model.score(requests(), Scoring(pll=pll)):
            number, text = waiting.popleft()
            if isinstance(scores, TooLong):
                yield number, scores
                continue
            log_probs = scores.log_probs[0]
            if not np.isfinite(log_probs).all():
                raise NonFiniteScores.of(model.card.id, f"for sentence {number}, {text[:80]!r}", "log-probability")
            yield number, ScoredSentence(text, scores.spans[0] if scores.spans else (), log_probs)


def _token_rows(number: int, sentence: ScoredSentence) -> list[tuple[Any, ...]]:
    if not sentence.spans:
        raise UnsupportedModel("The model does not say which tokens it scores.", "Choose another model.")
    return [
        (number, place, sentence.text[start:end], start, end, 1, log_prob)
        for place, ((start, end), log_prob) in enumerate(zip(sentence.spans, sentence.log_probs.tolist(), strict=True))
    ]


def _sentence_row(number: int, sentence: ScoredSentence) -> tuple[Any, ...]:
    text, _, log_probs = sentence
    return number, 0, text, 0, len(text), len(log_probs), float(log_probs.sum())
