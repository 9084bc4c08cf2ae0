"""The uniform baseline: a language model without knowledge, whose scores are those of guessing."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Self

import numpy as np
from numpy.typing import NDArray

from probing.language_model import (
    BlankDistribution,
    Continuation,
    ModelCard,
    OptionScores,
    Request,
    Scoring,
    Usage,
)
from probing.template import Prompt


class UniformModel:
    """A language model to which every option is as likely as the next, wherever the blank is.

    Every probe can be run with it, which gives the rows from which the score `chance` of a benchmark is computed: what
    guessing gets where the main metric counts.
    """

    card = ModelCard(id="baseline/chance", kind="masked", architecture="", parameters=0)
    usage = Usage()
    device, dtype, batch_tokens = "cpu", "float32", 0

    def scoring_state(self) -> AbstractContextManager[None]:
        """Return an empty context, as there is no network."""
        return nullcontext()

    def starting(self, start: str) -> Self:
        """Return this model, which reads no text."""
        return self

    def score(self, requests: Iterable[Request], scoring: Scoring) -> Iterator[OptionScores]:
        """Yield 0 as the log-probability of every option, all of them exact."""
        for _, options in requests:
            count = len(options)
            yield OptionScores((np.zeros(1),) * count, (slice(0, 1),) * count, np.ones(count, dtype=bool))

    def fill(self, requests: Iterable[Request], k: int, words: Sequence[str] = ()) -> Iterator[BlankDistribution]:
        """Yield no ranked tokens, and every option on the first rank."""
        for _, options in requests:
            yield BlankDistribution((), np.zeros(0), np.zeros(len(options)), np.ones(len(options), dtype=int))

    def generate(
        self, texts: Iterable[str | Prompt], tokens: int, *, chat: bool = False, system: str = ""
    ) -> Iterator[Continuation]:
        """Yield an empty continuation of every text."""
        return (Continuation("") for _ in texts)

    def embed(self, texts: Iterable[str]) -> Iterator[NDArray[np.float32]]:
        """Yield the same vector for every text."""
        return (np.ones(1, np.float32) for _ in texts)
