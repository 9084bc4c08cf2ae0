"""Reference implementation of scoring: no shared prefixes, no attention masks, no padding.

The fast implementations must equal it; networks whose code does not support them are scored with it.
"""

from collections.abc import Iterator, Sequence

import torch
from transformers import PreTrainedModel

from probing.arrays import Floats, Ints
from probing.scoring.batching import Budget

# Logits that are converted to float64 at a time.
FLOAT64_ELEMENTS = 2**21


@torch.inference_mode()
def causal_log_probs(network: PreTrainedModel, sequences: Sequence[Sequence[int]]) -> Floats:
    """Return the log-probability of each token given those before it, NaN for each first token.

    All sequences have the same length; shape (sequences, length).
    """
    ids = torch.tensor(sequences, device=network.device)
    logits = network(input_ids=ids, use_cache=False).logits
    later = _log_probs(logits[:, :-1], ids[:, 1:])
    first = torch.full_like(later[:, :1], torch.nan) if ids.shape[1] > 1 else later.new_full((len(ids), 1), torch.nan)
    log_probs: Floats = torch.cat([first, later], dim=1).cpu().numpy()
    return log_probs


@torch.inference_mode()
def masked_log_probs(
    network: PreTrainedModel, inputs: Sequence[Sequence[int]], rows: Ints, positions: Ints, targets: Ints
) -> Floats:
    """Return the log-probability of `targets[i]` at `positions[i]` of `inputs[rows[i]]`, shape of `rows`.

    All inputs have the same length.
    """
    logits = network(input_ids=torch.tensor(inputs, device=network.device)).logits
    row, position, target = (torch.from_numpy(array).to(network.device) for array in (rows, positions, targets))
    log_probs: Floats = _log_probs(logits[row, position][None], target[None])[0].cpu().numpy()
    return log_probs


@torch.inference_mode()
def decoder_logits(network: PreTrainedModel, source: Sequence[int], ids: Sequence[int]) -> torch.Tensor:
    """Return an encoder-decoder's logits at each place of what its decoder reads, shape (places, vocabulary)."""
    read, written = (torch.tensor([tokens], device=network.device) for tokens in (source, ids))
    logits: torch.Tensor = network(input_ids=read, decoder_input_ids=written, use_cache=False).logits[0]
    return logits


def equal_lengths(sequences: Sequence[Sequence[int]], budget: Budget) -> Iterator[list[int]]:
    """Yield batches of indices of sequences of one length, the shortest first.

    Each batch takes as many sequences as the budget allows at the time when it is made.
    """
    order = sorted(range(len(sequences)), key=lambda index: len(sequences[index]))
    start = 0
    while start < len(order):
        length = len(sequences[order[start]])
        batch = [i for i in order[start : start + max(budget.tokens // length, 1)] if len(sequences[i]) == length]
        yield batch
        start += len(batch)


def _log_probs(logits: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
    """Return the tokens' log-probabilities in float64, computed a few positions at a time to save memory.

    `logits` has shape (rows, positions, vocabulary), `tokens` and the result (rows, positions).
    """
    size = max(FLOAT64_ELEMENTS // logits.shape[-1], 1)
    log_probs = tokens.new_empty(tokens.shape, dtype=torch.float64)
    for row, targets, values in zip(logits, tokens, log_probs, strict=True):
        for start in range(0, len(targets), size):
            part = slice(start, start + size)
            values[part] = row[part].double().log_softmax(-1).gather(-1, targets[part, None])[:, 0]
    return log_probs
