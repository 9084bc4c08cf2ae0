"""Surprisals of a user's own sentences: the log-probabilities of their words and tokens as a tidy table."""

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, Literal, NamedTuple
from warnings import warn

import numpy as np
import pandas as pd

from probing.arrays import Floats, Ints
from probing.errors import BadInput, NonFiniteScores, TooLong, UnsupportedModel, without_panics
from probing.language_model import PLL, LanguageModel, OptionScores, Scoring, Spans
from probing.model_source import ModelSource, refuse_without_effect
from probing.probes.perplexity import scored_sentences, without_probability
from probing.probes.probe import unless_too_long
from probing.settings import Settings, declared, option
from probing.start_token import AUTO, normalised_start

By = Literal["word", "token", "sentence"]
Base = Literal["2", "e"]
WORD = re.compile(r"\S+")
UNITS: dict[Base, tuple[str, float]] = {"2": ("bits", float(np.log(2))), "e": ("nats", 1.0)}
SENTENCES_PER_TABLE = 1000
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


@dataclass(frozen=True)
class Measure:
    """What a table of surprisals has a row for, in which unit, and how the model is asked."""

    by: By = option("word", "what has a row: a word, a token or a whole sentence")
    base: Base = option("2", "2 for surprisals in bits, e for nats")
    pll: PLL = option(Settings.pll, "which tokens a masked model hides together")
    start: str = option(AUTO, "token before every sentence of a causal model: bos, eos, none, or a token's id")

    @classmethod
    def of(cls, values: dict[str, Any]) -> "Measure":
        """Return the measure with these values, each checked against its declaration."""
        checked = cls(**{name: MEASURES[name].check(value) for name, value in values.items()})
        normalised_start(checked.start)
        return checked


MEASURES = declared(Measure)


class Pieces(NamedTuple):
    """The words or tokens of a sentence, or the whole: where each begins and ends in it, and its log-probability.

    `tokens`: from how many tokens the log-probability was added up. It is NaN where that is not all of the piece.
    """

    starts: Ints
    ends: Ints
    tokens: Ints
    log_probs: Floats


class Measured(NamedTuple):
    """A sentence, its number from 0, and its pieces or the error that it is too long."""

    number: int
    text: str
    pieces: Pieces | TooLong


def surprisal(
    model: Any,
    sentences: str | Iterable[str],
    *,
    by: By = Measure.by,
    base: Base = Measure.base,
    pll: PLL = Measure.pll,
    start: str = Measure.start,
    tokenizer: Any = None,
    commit: str = "",
    device: str = "auto",
    dtype: str = "float32",
    batch_tokens: int | None = None,
) -> pd.DataFrame:
    """Return the surprisal of each word, token or sentence, as a table with a row for each.

    The model is named and loaded as for `probing.run`. `base`: "2" for bits, "e" for nats. `pll`: how a masked model
    hides tokens (docs/own-sentences.md). `start`: the token before every sentence of a causal model.

    Columns: `sentence`, its place among the sentences, from 0; `number`, that of the word or token in it, from 0;
    `text`, its characters; `start` and `end`, where they begin and end in the sentence; `tokens`, how many tokens were
    added up; `log_prob`, the natural logarithm of the probability; `surprisal`, -log_prob in the `unit`. A sentence of
    spaces only has no rows, and neither has one that is too long for the model, which a warning names.
    Raises `BadInput` for bad arguments and `UnsupportedModel` for an encoder-decoder.

    Examples:
        >>> import probing
        >>> table = probing.surprisal("openai-community/gpt2", ["Paris lies in France."], by="word")
        >>> table["text"].tolist(), table["unit"].unique().tolist()
        (['Paris', 'lies', 'in', 'France.'], ['bits'])
    """
    measure = Measure.of({"by": by, "base": base, "pll": pll, "start": start})
    source = ModelSource(model, tokenizer, commit, device, batch_tokens)
    source.refuse_bad()
    if not isinstance(sentences, Iterable):
        raise BadInput(f"{sentences!r:.80} is no list of sentences.", "Give texts, such as a list of them.")
    texts = checked_sentences([sentences] if isinstance(sentences, str) else sentences)
    opened = source.open(dtype)
    refuse_without_effect({} if dtype == Settings.dtype else {"dtype": dtype}, opened)
    left_out: list[str] = []
    table = pd.concat(surprisal_tables(opened, texts, measure, left_out.append), ignore_index=True)
    for message in left_out:
        warn(message, stacklevel=2)
    return table


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


def surprisal_tables(
    model: LanguageModel, sentences: Iterable[str], measure: Measure, on_left_out: Callable[[str], None]
) -> Iterator[pd.DataFrame]:
    """Yield the table of all sentences in pieces, so that only a window of them is in memory; the first is empty.

    `on_left_out` is called with a line about each sentence that is too long for the model.
    """
    if why := without_probability(model.card.kind, "The surprisal of a sentence"):
        raise UnsupportedModel(why, "Choose a causal or a masked model.")
    refuse_without_effect({"pll": measure.pll}, model)
    model = model.starting(normalised_start(measure.start))
    yield _table([], measure.base)
    with without_panics(model.card.id), model.scoring_state():
        measured = _measured_sentences(model, sentences, measure)
        while group := list(islice(measured, SENTENCES_PER_TABLE)):
            for sentence in group:
                if isinstance(sentence.pieces, TooLong):
                    on_left_out(f"Sentence {sentence.number} is left out: {sentence.pieces.message}")
            yield _table(group, measure.base)


def _measured_sentences(model: LanguageModel, sentences: Iterable[str], measure: Measure) -> Iterator[Measured]:
    """Yield each sentence that is not empty, with its pieces."""
    numbers: deque[int] = deque()
    facts = model.card.tokenizer
    first_scored = facts is None or facts.start is None or facts.start.id is not None

    def kept() -> Iterator[str]:
        for number, text in enumerate(sentences):
            if text.strip():
                numbers.append(number)
                yield text

    def pieces(number: int, text: str, scores: OptionScores) -> Pieces:
        if not scores.spans:
            raise UnsupportedModel("The model does not say which tokens it scores.", "Choose another model.")
        if not np.isfinite(scores.log_probs[0]).all():
            raise NonFiniteScores.of(model.card.id, f"for sentence {number}, {text[:80]!r}", "log-probability")
        return PIECES[measure.by](text, scores.spans[0], scores.log_probs[0], first_scored)

    for text, scores in scored_sentences(model, kept(), Scoring(pll=measure.pll)):
        number = numbers.popleft()
        yield Measured(number, text, unless_too_long(partial(pieces, number, text), scores))


def tokens_of(text: str, spans: Spans, log_probs: Floats, first_scored: bool) -> Pieces:
    """Return the scored tokens of a sentence."""
    starts, ends = _columns(spans)
    return Pieces(starts, ends, np.ones(len(spans), np.int64), log_probs)


def words_of(text: str, spans: Spans, log_probs: Floats, first_scored: bool) -> Pieces:
    """Return the words of a sentence: what stands between spaces. The log-probability is the sum over its tokens.

    A token belongs to the word in which its first character other than a space stands; one of spaces only to the word
    behind them, or to the last. A word without a token of its own has no log-probability, and neither has the first
    one where its first token has none.
    """
    starts, ends = _columns([match.span() for match in WORD.finditer(text)])
    letters = [begin + len(part) - len(part.lstrip()) for begin, part in ((b, text[b:e]) for b, e in spans)]
    word = np.minimum(np.searchsorted(ends, letters, side="right"), len(ends) - 1)
    tokens = np.bincount(word, minlength=len(ends))
    sums = np.where(tokens > 0, np.bincount(word, log_probs, minlength=len(ends)), np.nan)
    if not first_scored:
        sums[0] = np.nan
    return Pieces(starts, ends, tokens, sums)


def whole_of(text: str, spans: Spans, log_probs: Floats, first_scored: bool) -> Pieces:
    """Return the sentence as a single piece, with the sum over all scored tokens."""
    return Pieces(np.array([0]), np.array([len(text)]), np.array([len(spans)]), log_probs.sum(keepdims=True))


PIECES: dict[By, Callable[[str, Spans, Floats, bool], Pieces]] = {
    "word": words_of,
    "token": tokens_of,
    "sentence": whole_of,
}


def _columns(spans: Iterable[tuple[int, int]]) -> tuple[Ints, Ints]:
    """Return where the spans begin and where they end."""
    pairs = np.array(list(spans), np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def _table(sentences: Iterable[Measured], base: Base) -> pd.DataFrame:
    """Return a row for each piece of the sentences that are not too long."""
    unit, size = UNITS[base]
    rows = [
        (number, number_in_sentence, text[start:end], start, end, tokens, log_prob, 0.0 - log_prob / size, unit)
        for number, text, pieces in sentences
        if not isinstance(pieces, TooLong)
        for number_in_sentence, (start, end, tokens, log_prob) in enumerate(
            zip(*(column.tolist() for column in pieces), strict=True)  # lists are quicker to go through than arrays
        )
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)
