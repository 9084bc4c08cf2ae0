"""A phrase as a vector: the last hidden layer, averaged over the phrase's own tokens (methods 2.3)."""

from collections.abc import Iterable, Iterator
from itertools import islice

import numpy as np
import torch
from numpy.typing import NDArray

from probing.errors import BadInput
from probing.scoring import reference
from probing.scoring.hf_model import HFModel
from probing.scoring.tokens import Encoded
from probing.template import Statement

WINDOW = 4096

Vector = NDArray[np.float32]


def embed(model: HFModel, texts: Iterable[str]) -> Iterator[Vector]:
    """Vectors in the order of the texts; special tokens are read but not averaged."""
    stream = iter(texts)
    while window := list(islice(stream, WINDOW)):
        encoded = model.encoder.encode([Statement(text, 0, len(text)) for text in window])
        for statement, text in zip(encoded, window, strict=True):
            model.refuse_unfit(statement.ids)
            _refuse_empty(statement, text)
        found: dict[int, Vector] = {}
        total = sum(len(statement.ids) for statement in encoded)

        def work(batch: list[int]) -> dict[int, Vector]:
            statements = [encoded[index] for index in batch]  # noqa: B023 - used within the loop
            hidden = _hidden(model, [statement.ids for statement in statements])
            vectors = (states[_own(s)].mean(0).cpu().numpy() for states, s in zip(hidden, statements, strict=True))
            return dict(zip(batch, vectors, strict=True))

        for batch in reference.equal_lengths([statement.ids for statement in encoded], model.budget):
            positions = len(batch) * len(encoded[batch[0]].ids)
            for part in model.budget.run(work, batch, positions):
                found.update(part)
            model.usage.add("embed", len(window) * positions / total, positions)
        yield from (found[index] for index in range(len(window)))


def _own(statement: Encoded) -> list[int]:
    """The positions of the phrase's tokens: also of a first one that has nothing before it and so is not scored."""
    return [position for position, word in enumerate(statement.words) if word is not None]


def _refuse_empty(statement: Encoded, text: str) -> None:
    if not _own(statement):
        raise BadInput(f"The tokenizer leaves nothing of {text!r}.", "Remove it or choose another model.")


@torch.inference_mode()
def _hidden(model: HFModel, sequences: list[tuple[int, ...]]) -> torch.Tensor:
    states = model.network.base_model(input_ids=torch.tensor(sequences, device=model.network.device))
    hidden: torch.Tensor = states.last_hidden_state.float()
    return hidden
