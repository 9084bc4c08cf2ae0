"""A language model without a network that counts the work of answering, for estimates before a run."""

import math
import re
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from probing.estimate.load import Load
from probing.kinds import KINDS, Kind
from probing.language_model import (
    BlankDistribution,
    Continuation,
    ModelCard,
    OptionScores,
    Request,
    Scoring,
    Span,
    Usage,
    Verb,
)
from probing.template import Prompt, Statement

# About as much text as a token holds: six Latin letters, an ideograph or a syllable, two letters of other alphabets.
PIECE = re.compile(r"\s*[A-Za-z_À-ɏ]{1,6}|\s*[\u3040-\u9FFF\uAC00-\uD7AF]|\s*[^\W\d]{1,2}|\s*\d|\s*[^\w\s]")
# Pruning computes the prefixes that at least SHARED options have in common, and the rest of the options that stay
# possible, about RIVALS * options ** GROWTH of them. Fitted to what models did on BEAR and on the starter benchmark.
SHARED = 6
RIVALS, GROWTH = 0.5, 0.75
# Passes of an early decision of a masked model: as many as parts of the starter benchmark took on average.
MASKED_PASSES = 35.0
BLANK = "_"
# The log-probabilities of every answer: enough tokens for everything that a probe computes from them.
TOKENS = np.zeros(8)
TEXTS_CUT = 4096  # texts whose tokens are remembered: those of one request are looked at several times


class Tokens(NamedTuple):
    """The tokens of a text, and where each begins and ends. A model reads the same text where the names are the same.

    `names`: their numbers in the vocabulary, so that words which a tokenizer does not know are alike; else their texts.
    """

    names: Sequence[int | str]
    spans: Sequence[tuple[int, int]]


Tokenize = Callable[[str], Tokens]
Input = tuple[Hashable, ...]


class CountingModel:
    """A model that answers every request with zeros; `loads` is the work that a network would have had with each verb.

    The passes of a load are the most that a request needs one after the other. All requests of a part are in the same
    passes if these have room for them.

    Prefixes and inputs that were counted before are not counted again, as the scoring core shares them. `tokenize` is
    that of the model; without it, texts are cut into pieces of about the length of a token.
    """

    device, dtype, batch_tokens = "cpu", "float32", 0

    def __init__(self, kind: Kind, tokenize: Tokenize | None = None) -> None:
        self._tokens, self._has_tokenizer = lru_cache(TEXTS_CUT)(tokenize or pieces), tokenize is not None
        self.card = ModelCard(id="", kind=kind, architecture="", parameters=0)
        self.usage = Usage()
        self.loads: dict[Verb, Load] = {}
        self._prefixes: dict[tuple[int | Verb, int | str], int] = {}
        self._inputs: set[Input] = set()
        self._lengths: defaultdict[Verb, set[int]] = defaultdict(set)

    def scoring_state(self) -> AbstractContextManager[None]:
        """Return an empty context, as there is no network."""
        return nullcontext()

    def starting(self, start: str) -> Self:
        """Return this model, which counts a text the same whatever it starts with."""
        return self

    def score(self, requests: Iterable[Request], scoring: Scoring) -> Iterator[OptionScores]:
        counts = {"causal": self._causal, "masked": self._masked, "encoder-decoder": self._spans}
        work = counts[self.card.kind]
        for prompt, options in requests:
            count = len(options)
            self._count("score", count, *work([prompt.fill(option, BLANK) for option in options], scoring))
            yield OptionScores((TOKENS,) * count, (slice(0, 1),) * count, np.ones(count, bool))

    def fill(self, requests: Iterable[Request], k: int, words: Sequence[str] = ()) -> Iterator[BlankDistribution]:
        for prompt, options in requests:
            self._count("fill", 1, *self._blank(prompt.fill("", BLANK)))
            single = np.array([self._is_token(option) for option in options])
            yield BlankDistribution((), np.zeros(0), np.where(single, 0.0, np.nan), single.astype(np.int64))

    def generate(
        self, texts: Iterable[str | Prompt], tokens: int, *, chat: bool = False, system: str = ""
    ) -> Iterator[Continuation]:
        for text in texts:
            read = text if isinstance(text, str) else text.fill("", BLANK).text
            self._count("generate", 1, self._length(system + read) + tokens, tokens)
            yield Continuation("")

    def embed(self, texts: Iterable[str]) -> Iterator[NDArray[np.float32]]:
        for text in texts:
            positions = self._new_inputs([("embed", self._names(text))], 1 + self._length(text))  # a start token
            self._count("embed", positions > 0, positions, self._passes_by_length("embed", text))
            yield np.ones(1, np.float32)

    def _count(self, verb: Verb, statements: int, positions: int, passes: float = 1.0) -> None:
        self.usage.add(verb, statements, positions)
        before = self.loads.get(verb, Load())
        self.loads[verb] = Load(
            before.statements + statements, before.positions + positions, max(before.passes, passes)
        )

    def _causal(self, statements: Sequence[Statement], scoring: Scoring) -> tuple[int, float]:
        """Return the number of distinct prefixes, and the passes.

        With pruning, these are the shared prefixes and an estimate of the rest. The tokens of the best option follow
        each other, and among its rivals each pass reaches twice as many as the one before.
        """
        texts = [s.context + (s.text[: s.end] if scoring.span == "answer" else s.text) for s in statements]
        before = len(self._prefixes)
        nodes = Counter(node for text in texts for node in self._path("score", self._names(text)[:-1]) if node > before)
        if not scoring.decide:
            return len(nodes), 1.0
        shared = [node for node, count in nodes.items() if count >= min(SHARED, len(texts))]
        own = (nodes.total() - sum(nodes[node] for node in shared)) / len(texts)
        rivals = _rivals(len(texts))
        return len(shared) + round(rivals * math.pow(own, 1.5)), 1 + own + math.log2(1 + rivals * own)

    def _masked(self, statements: Sequence[Statement], scoring: Scoring) -> tuple[int, float]:
        """Return the positions of distinct masked inputs, and the passes.

        With pruning, the inputs are those with the whole option hidden and an estimate of the rest.
        """
        whole = scoring.pll == "whole_answer" and scoring.span == "answer"
        if not whole and not scoring.decide:
            return sum(self._new_inputs(self._hidden(one, scoring.span), self._whole(one)) for one in statements), 1.0
        first = sum(self._new_inputs([self._without_option(one)], self._whole(one)) for one in statements)
        inputs = sum(self._length(one.text) * self._whole(one) for one in statements) / len(statements)
        return (first, 1.0) if whole else (first + round(_rivals(len(statements)) * inputs), MASKED_PASSES)

    def _spans(self, statements: Sequence[Statement], scoring: Scoring) -> tuple[int, float]:
        """Return the positions of an encoder, which reads a prompt once, and of its decoder, which writes options.

        The two are a pass each.
        """
        read = 0
        for left, right in map(_context, statements):
            read += self._new_inputs([(self._names(left), self._names(right))], self._length(left + right) + 1)
        return read + sum(self._length(one.text[one.start : one.end]) + 1 for one in statements), 2.0

    def _blank(self, empty: Statement) -> tuple[int, float]:
        """Return a prompt's new positions, and the passes.

        A model that does not read what follows the blank reads only up to it, without the last space.
        """
        if KINDS[self.card.kind].reads_right:
            positions = self._new_inputs([("fill", self._names(empty.text))], self._length(empty.text))
            return positions, self._passes_by_length("fill", empty.text)
        before = len(self._prefixes)
        deque(self._path("fill", self._names(empty.text[: empty.start].rstrip())), maxlen=0)
        return len(self._prefixes) - before, 1.0

    def _passes_by_length(self, verb: Verb, text: str) -> float:
        """Return how many passes take texts of one length each, for all texts of this verb so far and this one."""
        self._lengths[verb].add(self._length(text))
        return float(len(self._lengths[verb]))

    def _path(self, verb: Verb, tokens: Iterable[int | str]) -> Iterator[int]:
        """Yield a number for each prefix, in the order in which prefixes first occur; verbs do not share them."""
        node: int | Verb = verb
        for token in tokens:
            node = self._prefixes.setdefault((node, token), len(self._prefixes) + 1)
            yield node

    def _names(self, text: str) -> tuple[int | str, ...]:
        return tuple(self._tokens(text).names)

    def _is_token(self, option: str) -> bool:
        """Tell whether an option is a single token within a sentence; without a tokenizer, whether it is one word."""
        return self._length(f" {option}") == 1 if self._has_tokenizer else " " not in option

    def _length(self, text: str) -> int:
        return len(self._tokens(text).names)

    def _whole(self, statement: Statement) -> int:
        """Return the length of a statement with its context."""
        return self._length(statement.context + statement.text)

    def _without_option(self, statement: Statement) -> Input:
        """Return the input that options of one length share: the text with the option hidden."""
        left, right = _context(statement)
        return self._names(left), self._length(statement.text[statement.start : statement.end]), self._names(right)

    def _hidden(self, statement: Statement, span: Span) -> Iterator[Input]:
        """Yield the inputs in which each token is hidden in turn."""
        context, names = self._names(statement.context), self._names(statement.text)
        for number, (start, end) in enumerate(self._tokens(statement.text).spans):
            if span == "statement" or (start < statement.end and end > statement.start):
                yield context, names[:number], names[number + 1 :]

    def _new_inputs(self, inputs: Iterable[Input], length: int) -> int:
        """Return the positions of those inputs that were not counted before."""
        new = set(inputs) - self._inputs
        self._inputs |= new
        return length * len(new)


def _rivals(options: int) -> float:
    """Estimate how many of so many options can still win after the first pass."""
    return RIVALS * math.pow(options, GROWTH)


def pieces(text: str) -> Tokens:
    """Return the pieces of a text, which are about as long as tokens."""
    matches = list(PIECE.finditer(text))
    return Tokens([match[0] for match in matches], [match.span() for match in matches])


def _context(statement: Statement) -> tuple[str, str]:
    """Return the text on both sides of the option."""
    return statement.context + statement.text[: statement.start], statement.text[statement.end :]
