"""The slow obvious way: every statement on its own terms, no sharing, no mask, no padding.

The fast ways must equal it; models whose code does not allow them are scored by it.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import PreTrainedModel

Floats = NDArray[np.float64]


def equal_lengths(sequences: Sequence[Sequence[int]], batch_tokens: int) -> Iterator[list[int]]:
    """Indices of sequences of one length, so many together that the batch stays within its tokens."""
    order = sorted(range(len(sequences)), key=lambda index: len(sequences[index]))
    start = 0
    while start < len(order):
        length = len(sequences[order[start]])
        batch = [i for i in order[start : start + max(batch_tokens // length, 1)] if len(sequences[i]) == length]
        yield batch
        start += len(batch)


@torch.inference_mode()
def causal_log_probs(network: PreTrainedModel, sequences: Sequence[Sequence[int]]) -> Floats:
    """Log-probability of each token given those before it; shape (sequences, length), NaN for each first token.

    All sequences have the same length.
    """
    ids = torch.tensor(sequences, device=network.device)
    logits = network(input_ids=ids, use_cache=False).logits[:, :-1].double()
    found = logits.log_softmax(-1).gather(-1, ids[:, 1:, None])[..., 0]
    first = torch.full_like(found[:, :1], torch.nan) if ids.shape[1] > 1 else found.new_full((len(ids), 1), torch.nan)
    result: Floats = torch.cat([first, found], dim=1).cpu().numpy()
    return result


@torch.inference_mode()
def masked_log_probs(
    network: PreTrainedModel, inputs: Sequence[Sequence[int]], positions: Sequence[int], targets: Sequence[int]
) -> Floats:
    """Log-probability of `targets[i]` at `positions[i]` of `inputs[i]`; shape (inputs,).

    All inputs have the same length.
    """
    logits = network(input_ids=torch.tensor(inputs, device=network.device)).logits
    rows = torch.arange(len(inputs), device=network.device)
    found = logits[rows, torch.tensor(positions, device=network.device)].double().log_softmax(-1)
    result: Floats = found[rows, torch.tensor(targets, device=network.device)].cpu().numpy()
    return result
