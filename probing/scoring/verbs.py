"""The verbs beside scoring, for every kind: fill, generate, embed."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from probing.errors import UnsupportedModel
from probing.language_model import BlankDistribution, Continuation, Request
from probing.scoring.embedding import embed
from probing.scoring.filling import Filler
from probing.scoring.generation import generate
from probing.scoring.hf_model import HFModel


class AnsweringModel(HFModel):
    """All four verbs; the kinds below it add how statements are scored."""

    def fill(self, asked: Iterable[Request], k: int, words: Sequence[str] = ()) -> Iterator[BlankDistribution]:
        return Filler(self, k, words).fill(asked)

    def generate(
        self, texts: Iterable[str], tokens: int, *, chat: bool = False, system: str = ""
    ) -> Iterator[Continuation]:
        if self.kind == "masked":
            raise UnsupportedModel(f"{self.card.id} is a masked model and writes no text.", "Choose a causal model.")
        return generate(self, texts, tokens, chat=chat, system=system)

    def embed(self, texts: Iterable[str]) -> Iterator[NDArray[np.float32]]:
        return embed(self, texts)
