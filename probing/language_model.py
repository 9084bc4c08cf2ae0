"""What the probes know of a model: its verbs, each over a stream, and a card of facts."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from probing.template import Prompt

Kind = Literal["causal", "masked"]
PLL = Literal["within_word_l2r", "original", "sentence_l2r", "answer_l2r+word_l2r", "whole_answer"]
Reduction = Literal["sum", "mean"]
Span = Literal["statement", "answer"]
Verb = Literal["score", "fill", "generate", "embed"]
Request = tuple[Prompt, Sequence[str]]


@dataclass(frozen=True)
class Scoring:
    """How statements become option scores.

    `pll`: which tokens a masked model hides together (methods 1.2; `whole_answer`: all of the option's,
    which with span "answer" is tokenized apart from the text around it, methods 4.4);
    causal models ignore it.
    `span`: score the whole statement, or the option's tokens only (given the text left of it, for causal models).
    `reduction`: sum or mean of the token log-probabilities.
    `start`: put a beginning-of-sequence token in front for causal models, so that the first token is scored too.
    `decide`: 0 scores every option to the end; k > 0 only makes sure of the k best, ties included, and leaves
    upper bounds for the options that cannot be among them.
    """

    pll: PLL = "within_word_l2r"
    reduction: Reduction = "sum"
    decide: int = 0
    span: Span = "statement"
    start: bool = True


@dataclass(frozen=True)
class OptionScores:
    """The options of one prompt, scored.

    `log_probs`: for each option, the natural log-probability of each token in the span (float64).
    `answers`: for each option, which of those tokens belong to the option.
    `exact`: for each option, whether every token was scored; where not, an unscored token holds 0.0, which no
    log-probability exceeds, so that every sum over it is an upper bound.
    """

    log_probs: tuple[NDArray[np.float64], ...]
    answers: tuple[slice, ...]
    exact: NDArray[np.bool_]

    def reduce(self, reduction: Reduction = "sum") -> NDArray[np.float64]:
        """One number per option: the sum or the mean over its tokens."""
        sums = np.array([float(tokens.sum()) for tokens in self.log_probs])
        if reduction == "sum":
            return sums
        means: NDArray[np.float64] = sums / np.array([max(len(tokens), 1) for tokens in self.log_probs])
        return means


@dataclass(frozen=True)
class BlankDistribution:
    """The distribution at one blank: the best tokens, and where the options stand.

    `tokens`, `log_probs`: the k most probable tokens as text without surrounding space, best first.
    `options`: each option's log-probability, NaN where it is not a single token of the model's vocabulary.
    `ranks`: each option's place in the ranking, from 1; 0 where it is not in it.
    """

    tokens: tuple[str, ...]
    log_probs: NDArray[np.float64]
    options: NDArray[np.float64]
    ranks: NDArray[np.int64]


class Continuation(str):
    """What a model wrote; `ends`: for each of its tokens, how much of the text is written by then, in characters."""

    ends: tuple[int, ...]

    def __new__(cls, text: str, ends: Sequence[int] = ()) -> "Continuation":
        made = super().__new__(cls, text)
        made.ends = tuple(ends)
        return made


@dataclass(frozen=True)
class ModelCard:
    """Who answered: recorded in every result. `files` maps weight and tokenizer files to their SHA-256."""

    id: str
    kind: Kind
    architecture: str
    parameters: int
    commit: str = ""
    source: Literal["hub", "folder", "gguf", "object"] = "object"
    files: dict[str, str] = field(default_factory=dict)


@dataclass
class Usage:
    """Work done so far; `on_work` hears of every batch, so that progress moves and leases stay alive.

    `statements`: statements scored (fractional: a window counts as its token positions are computed), prompts filled,
    texts continued or embedded; `by_verb`: the same apart.
    `positions`: token positions computed, padding included; `padding`: how many of them were padding.
    `notes`: what the reader of a result should know (a fallback, a halved batch).
    """

    statements: float = 0.0
    by_verb: dict[Verb, float] = field(default_factory=dict)
    positions: int = 0
    padding: int = 0
    notes: list[str] = field(default_factory=list)
    on_work: Callable[[], None] | None = None

    def add(self, verb: Verb, statements: float, positions: int = 0, padding: int = 0) -> None:
        self.statements += statements
        self.by_verb[verb] = self.by_verb.get(verb, 0.0) + statements
        self.positions += positions
        self.padding += padding
        if self.on_work:
            self.on_work()


class LanguageModel(Protocol):
    """A model answers prompts in the order in which they come; it holds only a window of the stream in memory.

    A kind without a verb raises `UnsupportedModel`.
    """

    card: ModelCard
    usage: Usage

    @property
    def device(self) -> str: ...

    @property
    def dtype(self) -> str: ...

    @property
    def batch_tokens(self) -> int:
        """Token positions per batch, as found so far."""
        ...

    def score(self, asked: Iterable[Request], scoring: Scoring) -> Iterator[OptionScores]:
        """Log-probabilities of each option's whole statement, token by token."""
        ...

    def fill(self, asked: Iterable[Request], k: int, words: Sequence[str] = ()) -> Iterator[BlankDistribution]:
        """The distribution over the vocabulary at each prompt's scored blank; equal prompts are computed once.

        `words` restricts the ranking (not the probabilities) to those of them that are one token.
        """
        ...

    def generate(
        self, texts: Iterable[str], tokens: int, *, chat: bool = False, system: str = ""
    ) -> Iterator[Continuation]:
        """Greedy continuations of at most `tokens` tokens; with `chat`, answers through the model's chat template."""
        ...

    def embed(self, texts: Iterable[str]) -> Iterator[NDArray[np.float32]]:
        """The last hidden layer, averaged over the text's own tokens; shape (hidden,)."""
        ...
