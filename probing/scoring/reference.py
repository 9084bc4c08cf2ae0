"""The slow obvious way: every statement on its own terms, no sharing, no mask, no padding.

The fast ways must equal it; models whose code does not allow them are scored by it.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import PreTrainedModel

from probing.scoring.batching import Budget

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Logits that are in float64 at a time.
ELEMENTS = 2**21


def equal_lengths(sequences: Sequence[Sequence[int]], budget: Budget) -> Iterator[list[int]]:
    """Indices of sequences of one length, so many together that the batch stays within what the budget is by then."""
    order = sorted(range(len(sequences)), key=lambda index: len(sequences[index]))
    start = 0
    while start < len(order):
        length = len(sequences[order[start]])
        batch = [i for i in order[start : start + max(budget.tokens // length, 1)] if len(sequences[i]) == length]
        yield batch
        start += len(batch)


@torch.inference_mode()
def causal_log_probs(network: PreTrainedModel, sequences: Sequence[Sequence[int]]) -> Floats:
    """Log-probability of each token given those before it; shape (sequences, length), NaN for each first token.

    All sequences have the same length.
    """
    ids = torch.tensor(sequences, device=network.device)
    logits = network(input_ids=ids, use_cache=False).logits
    found = _log_probs(logits[:, :-1], ids[:, 1:])
    first = torch.full_like(found[:, :1], torch.nan) if ids.shape[1] > 1 else found.new_full((len(ids), 1), torch.nan)
    result: Floats = torch.cat([first, found], dim=1).cpu().numpy()
    return result


@torch.inference_mode()
def masked_log_probs(
    network: PreTrainedModel, inputs: Sequence[Sequence[int]], rows: Ints, positions: Ints, targets: Ints
) -> Floats:
    """Log-probability of `targets[i]` at `positions[i]` of `inputs[rows[i]]`; shape of `rows`.

    All inputs have the same length.
    """
    logits = network(input_ids=torch.tensor(inputs, device=network.device)).logits
    where, tokens = (torch.from_numpy(each).to(network.device) for each in (rows, targets))
    asked = logits[where, torch.from_numpy(positions).to(network.device)]
    result: Floats = _log_probs(asked[None], tokens[None])[0].cpu().numpy()
    return result


def _log_probs(logits: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
    """Of the tokens, in float64, a few positions at a time; logits of shape (rows, positions, vocabulary)."""
    size = max(ELEMENTS // logits.shape[-1], 1)
    found = tokens.new_empty(tokens.shape, dtype=torch.float64)
    for row, own, values in zip(logits, tokens, found, strict=True):
        for start in range(0, len(own), size):
            some = slice(start, start + size)
            values[some] = row[some].double().log_softmax(-1).gather(-1, own[some, None])[:, 0]
    return found
