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
    logits = network(input_ids=ids, use_cache=False).logits[:, :-1].double()
    found = logits.log_softmax(-1).gather(-1, ids[:, 1:, None])[..., 0]
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
    asked = logits[where, torch.from_numpy(positions).to(network.device)].double().log_softmax(-1)
    result: Floats = asked.gather(-1, tokens[:, None])[:, 0].cpu().numpy()
    return result
