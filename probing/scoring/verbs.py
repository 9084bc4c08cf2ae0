"""The verbs beside scoring: fill, generate and embed.

A phrase's vector is the last hidden layer, averaged over the phrase's own tokens (methods 2.3).
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import numpy as np
import torch
from numpy.typing import NDArray

from probing.arrays import Ids
from probing.errors import BadInput, TooLong, UnsupportedModel
from probing.kinds import KINDS
from probing.language_model import BlankDistribution, Continuation, Request
from probing.scoring import reference
from probing.scoring.chats import with_prompts
from probing.scoring.encoded import Encoded
from probing.scoring.filling import Filler
from probing.scoring.generation import generate
from probing.scoring.hf_model import HFModel
from probing.scoring.network_state import in_scoring_state
from probing.template import Prompt, Statement

Vector = NDArray[np.float32]
TEXTS_PER_WINDOW = 4096


class AnsweringModel(HFModel):
    """Base of all kinds of model: adds the verbs whose modules need HFModel and so cannot be imported by it."""

    @in_scoring_state
    def fill(
        self, requests: Iterable[Request], k: int, words: Sequence[str] = ()
    ) -> Iterator[BlankDistribution | TooLong]:
        reads_right = KINDS[self.kind].reads_right
        filler = Filler(self, k, words)
        return with_prompts(requests, filler.fill, self.encoder, self.blank, reads_right=reads_right)

    @in_scoring_state
    def generate(
        self, texts: Iterable[str | Prompt], tokens: int, *, chat: bool = False, system: str = ""
    ) -> Iterator[Continuation | TooLong]:
        if not KINDS[self.kind].writes:
            noun, writing = KINDS[self.kind].noun, " or ".join(facts.noun for facts in KINDS.values() if facts.writes)
            raise UnsupportedModel(f"{self.card.id} is {noun} and writes no text.", f"Choose {writing}.")
        return generate(self, texts, tokens, chat=chat, system=system)

    @in_scoring_state
    def embed(self, texts: Iterable[str]) -> Iterator[Vector | TooLong]:
        return embed(self, texts)


def embed(model: HFModel, texts: Iterable[str]) -> Iterator[Vector | TooLong]:
    """Yield a vector per text, in order, shape (hidden size,); the model reads special tokens, the mean omits them.

    A text that is too long is answered by the error.
    """
    stream = iter(texts)
    while window := list(islice(stream, TEXTS_PER_WINDOW)):
        encoded = model.reading_encoder.encode([Statement(text, 0, len(text)) for text in window])
        for statement, text in zip(encoded, window, strict=True):
            _refuse_empty(statement, text)
        errors = [model.limits.too_long(statement.ids) for statement in encoded]
        short = [statement for statement, error in zip(encoded, errors, strict=True) if not error]
        vectors = iter(_embed_window(model, short))
        for error in errors:
            yield error or next(vectors)


def _embed_window(model: HFModel, encoded: Sequence[Encoded]) -> list[Vector]:
    def work(batch: Sequence[int]) -> dict[int, Vector]:
        statements = [encoded[index] for index in batch]
        layers = _last_hidden_layer(model, [statement.ids for statement in statements])
        means = (states[_own_positions(s)].mean(0).cpu().numpy() for states, s in zip(layers, statements, strict=True))
        return dict(zip(batch, means, strict=True))

    vectors: dict[int, Vector] = {}
    total = sum(len(statement.ids) for statement in encoded)
    for batch in reference.equal_lengths([statement.ids for statement in encoded], model.budget):
        positions = len(batch) * len(encoded[batch[0]].ids)
        for part in model.budget.run(work, batch, positions):
            vectors.update(part)
        model.usage.add("embed", len(encoded) * positions / total, positions)
    return [vectors[index] for index in range(len(encoded))]


def _own_positions(statement: Encoded) -> list[int]:
    """Return the positions of the phrase's tokens.

    Unlike `scored`, they include a first token with nothing before it.
    """
    return [position for position, word in enumerate(statement.words) if word is not None]


def _refuse_empty(statement: Encoded, text: str) -> None:
    if not _own_positions(statement):
        raise BadInput(f"The tokenizer leaves nothing of {text!r}.", "Remove it or choose another model.")


@torch.inference_mode()
def _last_hidden_layer(model: HFModel, sequences: Sequence[Ids]) -> torch.Tensor:
    """Return the hidden states of sequences of one length, shape (sequences, length, hidden size)."""
    output = model.reader(input_ids=torch.tensor(sequences, device=model.network.device))
    states: torch.Tensor = output.last_hidden_state.float()
    return states
