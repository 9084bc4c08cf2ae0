"""The interface between probes and models: requests, answers, and a card of facts about the model."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from probing.arrays import Bools, Floats, Ints
from probing.errors import TooLong
from probing.kinds import Kind
from probing.start_token import TokenizerFacts
from probing.template import Prompt

PLL = Literal["within_word_l2r", "original", "sentence_l2r", "answer_l2r+word_l2r", "whole_answer"]
Reduction = Literal["sum", "mean"]
DType = Literal["float32", "bfloat16", "float16"]
Span = Literal["statement", "answer"]
Verb = Literal["score", "fill", "generate", "embed"]
Request = tuple[Prompt, Sequence[str]]
Spans = tuple[tuple[int, int], ...]
AnswerT = TypeVar("AnswerT")
# With `decide`, all of fewer statements, and all of fewer options of a prompt in the mean, are scored: the rounds of an
# early decision do not fill batches then, or leave out too little (docs/performance.md has what was measured).
FEWEST_STATEMENTS = 400
FEWEST_OPTIONS = 3


@dataclass(frozen=True)
class Scoring:
    """Settings that turn statements into option scores.

    `pll`: which tokens a masked model hides together (methods 1.2); other models ignore it. `whole_answer` hides all
    tokens of the option; together with span "answer" the option is tokenized apart from its context (methods 4.4).
    `span`: score the whole statement, or the option's tokens only (for causal models given the text to its left). Of an
    encoder-decoder, the statement is all that its decoder writes.
    `reduction`: sum or mean of the token log-probabilities.
    `start`: begin with the model's start token for causal models, so that the first token of the text is scored too.
    `decide`: 0 scores all tokens of every option; k > 0 scores only as much as determines the k best options, ties
    included, and leaves upper bounds for the options that cannot be among them.
    """

    pll: PLL = "within_word_l2r"
    reduction: Reduction = "sum"
    decide: int = 0
    span: Span = "statement"
    start: bool = True


@dataclass(frozen=True)
class OptionScores:
    """Scores of the options of one prompt.

    `log_probs`: for each option, the natural log-probability of each token in the span.
    `answers`: for each option, which of those tokens belong to the option itself.
    `exact`: for each option, whether all its tokens were scored. Tokens that were not hold 0.0; since no
    log-probability exceeds 0, the sum is then an upper bound.
    `texts`: for each option, the statement that was scored. `spans`: for each option, where in it each of those tokens
    begins and ends, in characters. Both are empty for a model that has no tokens.
    `prompt`: all that the model reads, the start token and the context among it, with [Y] where the options stand.
    """

    log_probs: tuple[Floats, ...]
    answers: tuple[slice, ...]
    exact: Bools
    texts: tuple[str, ...] = ()
    spans: tuple[Spans, ...] = ()
    prompt: str = ""

    @property
    def lengths(self) -> Ints:
        """The number of tokens of each option's span, shape (options,)."""
        return np.array([len(tokens) for tokens in self.log_probs], np.int64)

    def answer_only(self) -> "OptionScores":
        """Return the same scores without the tokens that do not belong to the options themselves."""
        log_probs = tuple(tokens[own] for tokens, own in zip(self.log_probs, self.answers, strict=True))
        spans = tuple(spans[own] for spans, own in zip(self.spans, self.answers, strict=False))
        answers = tuple(slice(0, len(tokens)) for tokens in log_probs)
        return replace(self, log_probs=log_probs, answers=answers, spans=spans)

    def reduce(self, reduction: Reduction = "sum") -> Floats:
        """Return the sum or the mean over each option's tokens, shape (options,)."""
        sums = np.array([np.add.reduce(tokens) for tokens in self.log_probs], float)  # what their method `sum` calls
        if reduction == "sum":
            return sums
        means: Floats = sums / np.maximum(self.lengths, 1)
        return means


@dataclass(frozen=True)
class BlankDistribution:
    """Distribution over the vocabulary at one blank: its most probable tokens, and the options' places in it.

    `tokens`, `log_probs`: the k most probable tokens (text without surrounding space), in descending order.
    `options`: each option's log-probability, NaN where the option is not a single token of the model's vocabulary.
    `ranks`: each option's rank from 1, or 0 where the option is not ranked.
    `prompt`: all that the model reads, with [Y] at the blank; of a causal model, only the text up to it.
    """

    tokens: tuple[str, ...]
    log_probs: Floats
    options: Floats
    ranks: Ints
    prompt: str = ""


class Continuation(str):
    """Text that a model generated; `ends`: for each generated token, the length in characters of the text up to it.

    `prompt`: all that the model read before.
    """

    ends: tuple[int, ...]
    prompt: str

    def __new__(cls, text: str, ends: Sequence[int] = (), prompt: str = "") -> "Continuation":
        continuation = super().__new__(cls, text)
        continuation.ends, continuation.prompt = tuple(ends), prompt
        return continuation


@dataclass(frozen=True)
class ModelCard:
    """Identity of a model, recorded in every result.

    `files` maps weight and tokenizer files to their SHA-256. `tokenizer` is None for models without one. `adapter`: the
    adapter that was merged into the weights, with its commit if it has one. `revision`: the branch, tag or step under
    which these weights were chosen; empty where it was a commit, or the newest one.
    `quantisation`: how the weights are quantised, such as `bitsandbytes, 4 bits`; empty where they are not.
    `option_only`: whether of a statement only the option is scored, as by an encoder-decoder that fills sentinels.
    A model with the source "served" is computed by a server, whose weights nothing pins.
    """

    id: str
    kind: Kind
    architecture: str
    parameters: int
    commit: str = ""
    source: Literal["hub", "folder", "gguf", "object", "served"] = "object"
    files: dict[str, str] = field(default_factory=dict)
    tokenizer: TokenizerFacts | None = None
    adapter: str = ""
    revision: str = ""
    quantisation: str = ""
    option_only: bool = False


@dataclass
class Usage:
    """Work that a model has done so far.

    `statements`: statements scored, prompts filled, and texts continued or embedded. The number is fractional: while a
    window is being scored, its statements count in proportion to the token positions computed.
    `by_verb`: the same number for each verb.
    `positions`: token positions computed, padding included; `padding`: how many of them were padding.
    `passes`: passes of the network in which they were computed.
    `notes`: remarks for the reader of a result, such as a fallback or a halved batch.
    `on_work`: called after every batch, so that progress is shown and leases are renewed.
    """

    statements: float = 0.0
    by_verb: dict[Verb, float] = field(default_factory=dict)
    positions: int = 0
    padding: int = 0
    passes: int = 0
    notes: list[str] = field(default_factory=list)
    on_work: Callable[[], None] | None = None

    def add(self, verb: Verb, statements: float, positions: int = 0, padding: int = 0, passes: int = 1) -> None:
        """Add a batch; one without positions has no pass."""
        self.statements += statements
        self.by_verb[verb] = self.by_verb.get(verb, 0.0) + statements
        self.positions += positions
        self.padding += padding
        self.passes += passes if positions else 0
        if self.on_work:
            self.on_work()


class KnownModel(Protocol):
    """Protocol of what is known of a model that is loaded, be it in this process or in another one."""

    card: ModelCard

    @property
    def dtype(self) -> str: ...


class LanguageModel(KnownModel, Protocol):
    """Protocol of a model: it answers streams of requests in their order and holds only a window of them in memory.

    A model that does not support a verb raises `UnsupportedModel`. A request that does not fit into its context is
    answered by the error `TooLong`, so that the others are answered all the same; `fitting` raises it.
    """

    usage: Usage

    @property
    def device(self) -> str: ...

    @property
    def batch_tokens(self) -> int:
        """Token positions per batch, as calibrated so far."""
        ...

    def scoring_state(self) -> AbstractContextManager[None]:
        """Return a context in which the model is ready to answer; at its end its network is as it was before."""
        ...

    def starting(self, start: str) -> Self:
        """Return this model with the start token that a run's setting chooses (`probing.start_token`).

        Raises `BadInput` if the model does not have the token.
        """
        ...

    def score(self, requests: Iterable[Request], scoring: Scoring) -> Iterator[OptionScores | TooLong]:
        """Yield the log-probabilities of the tokens of each option's statement."""
        ...

    def fill(
        self, requests: Iterable[Request], k: int, words: Sequence[str] = ()
    ) -> Iterator[BlankDistribution | TooLong]:
        """Yield the distribution at each prompt's scored blank, with its `k` best tokens.

        Equal prompts of a window are computed once. `words` restricts the ranking (not the probabilities) to those of
        the words that are a single token.
        """
        ...

    def generate(
        self, texts: Iterable[str | Prompt], tokens: int, *, chat: bool = False, system: str = ""
    ) -> Iterator[Continuation | TooLong]:
        """Yield greedy continuations of at most `tokens` tokens.

        A prompt is continued at its scored blank, which only a model that reads the text to its right can be asked.

        With `chat`, each text is a user's message, after the `system` message if there is one, in the model's chat
        template.
        """
        ...

    def embed(self, texts: Iterable[str]) -> Iterator[NDArray[np.float32] | TooLong]:
        """Yield each text's vector: the last hidden layer averaged over its own tokens, shape (hidden size,)."""
        ...

    def unknown(self, requests: Iterable[Request]) -> Iterator[list[bool]]:
        """Yield for each prompt which of its options the tokenizer does not know; nothing is computed for it.

        Such an option has an unknown token, or lacks letters that are not in the vocabulary.
        """
        ...


def fitting(answer: AnswerT | TooLong) -> AnswerT:
    """Return an answer, or raise it if it is the error that the request does not fit into the model's context."""
    if isinstance(answer, TooLong):
        raise answer
    return answer
