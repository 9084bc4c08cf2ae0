"""A language model without a network: its log-probabilities are a hash of the text, the same on every machine."""

import hashlib
import random
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from probing.errors import TooLong
from probing.language_model import BlankDistribution, Continuation, ModelCard, OptionScores, Request, Scoring, Usage
from probing.template import Statement

FAKE_CARD = ModelCard(
    id="fake/hash", kind="causal", architecture="Fake", parameters=0, commit="0" * 40, files={"weights": "1" * 64}
)

COMMON = ("the", "Europe", "north", "Asia", "France", "him", "Spain", "now", "Africa", "us")


@dataclass
class FakeModel:
    """Model that scores word by word. `knows` has statements with high scores; `fails_after` interrupts like Ctrl-C."""

    card: ModelCard = FAKE_CARD
    knows: Sequence[str] = ()
    fails_after: int | None = None
    usage: Usage = field(default_factory=Usage)
    device: str = "cpu"
    dtype: str = "float32"
    batch_tokens: int = 1024

    def scoring_state(self) -> AbstractContextManager[None]:
        return nullcontext()

    def starting(self, start: str) -> Self:
        return self

    def score(self, requests: Iterable[Request], scoring: Scoring) -> Iterator[OptionScores | TooLong]:
        for prompt, options in requests:
            if self.fails_after is not None and self.usage.statements >= self.fails_after:
                raise KeyboardInterrupt
            statements = [prompt.fill(option) for option in options]
            tokens = tuple(self._tokens(statement) for statement in statements)
            self.usage.add("score", len(options), sum(map(len, tokens)))
            texts = tuple(statement.text for statement in statements)
            exact = np.ones(len(options), dtype=bool)
            yield OptionScores(tokens, tuple(map(_answer, statements)), exact, texts, tuple(map(_word_spans, texts)))

    def fill(self, requests: Iterable[Request], k: int, words: Sequence[str] = ()) -> Iterator[BlankDistribution]:
        """Yield a distribution per prompt. A word is a token, and the vocabulary of a prompt is its options."""
        for prompt, options in requests:
            statements = [prompt.fill(option, "_") for option in options]
            log_probs = np.array(
                [
                    -_number(s.text[: s.end]) if " " not in o else np.nan
                    for s, o in zip(statements, options, strict=True)
                ]
            )
            order = [place for place in np.argsort(-log_probs) if np.isfinite(log_probs[place])]
            ranks = np.array([order.index(place) + 1 if place in order else 0 for place in range(len(options))])
            self.usage.add("fill", 1, len(statements[0].text.split()))
            yield BlankDistribution(
                tuple(options[place] for place in order[:k]), log_probs[order[:k]], log_probs, ranks
            )

    def embed(self, texts: Iterable[str]) -> Iterator[NDArray[np.float32]]:
        for text in texts:
            self.usage.add("embed", 1, len(text.split()))
            yield np.array([_number(f"{text} {axis}") - 5 for axis in range(3)], np.float32)

    def unknown(self, requests: Iterable[Request]) -> Iterator[list[bool]]:
        return ([False] * len(options) for _, options in requests)

    def _tokens(self, statement: Statement) -> NDArray[np.float64]:
        if statement.text in self.knows:
            return np.full(len(statement.text.split()), -1e-6)
        before = statement.context
        return np.array([-_number(before + statement.text[:end]) for end in _word_ends(statement.text)])


@dataclass
class ShortSighted(FakeModel):
    """A fake model that takes statements of at most `limit` letters, each of them a token."""

    limit: int = 27

    def score(self, requests: Iterable[Request], scoring: Scoring) -> Iterator[OptionScores | TooLong]:
        for prompt, options in requests:
            longest = max(len(prompt.fill(option).text) for option in options)
            if longest > self.limit:
                yield TooLong(f"A text takes {longest} tokens, the model takes {self.limit}.", "", self.limit)
            else:
                yield from FakeModel.score(self, [(prompt, options)], scoring)


@dataclass
class Pupil(FakeModel):
    """A fake model that ranks the right word somewhere among common words, and writes common words."""

    def fill(self, requests: Iterable[Request], k: int, words: Sequence[str] = ()) -> Iterator[BlankDistribution]:
        for blank, options in requests:
            place = random.Random(blank.fill(options[0]).text).randrange(len(COMMON))
            tokens = (*COMMON[:place], options[0], *COMMON[place:])[:k]
            ranks = np.array([place + 1, *[0] * (len(options) - 1)])
            yield BlankDistribution(tokens, -np.arange(1.0, len(tokens) + 1), np.full(len(options), -1.0), ranks)

    def generate(
        self, texts: Iterable[str], tokens: int, *, chat: bool = False, system: str = ""
    ) -> Iterator[Continuation]:
        written = " " + " and ".join(COMMON[: tokens // 2])
        ends = [at for at in range(1, len(written) + 1) if written[at : at + 1] in ("", " ")]
        return (Continuation(written, ends) for _ in texts)


class ShoutingCorrector:
    """A corrector of sentences that writes them in capitals."""

    remark = "Grammar corrected by shouting."

    def correct(self, sentences: list[str]) -> list[str]:
        return [sentence.upper() for sentence in sentences]

    @classmethod
    def load(cls, model: str) -> "ShoutingCorrector":
        return cls()


def _number(text: str) -> float:
    """Return a number between 0.1 and 10 that depends only on the text."""
    return 0.1 + int.from_bytes(hashlib.sha256(text.encode()).digest()[:4]) / 2**32 * 9.9


def _word_ends(text: str) -> list[int]:
    return [end for end in range(1, len(text) + 1) if end == len(text) or text[end] == " "]


def _word_spans(text: str) -> tuple[tuple[int, int], ...]:
    ends = _word_ends(text)
    return tuple(zip([0, *ends[:-1]], ends, strict=True))


def _answer(statement: Statement) -> slice:
    before = len(statement.text[: statement.start].split())
    return slice(before, before + len(statement.text[statement.start : statement.end].split()))
