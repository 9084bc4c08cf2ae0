"""Tensors from arrays and back, and the softmax over a vocabulary in chunks."""

from collections.abc import Sequence

import numpy as np
import torch

from probing.arrays import Floats, Ints

# Logits per softmax: as many as fit into a CPU's cache, or as occupy a GPU.
SOFTMAX_ELEMENTS = {"cpu": 2**21, "cuda": 2**28}


def to_device(array: Ints, device: torch.device) -> torch.Tensor:
    """Copy an array to the device without waiting for it."""
    tensor = torch.from_numpy(array)
    if device.type == "cuda":
        tensor = tensor.pin_memory()
    return tensor.to(device, non_blocking=True)


def computed_values(log_probs: torch.Tensor) -> Floats:
    """Convert to float64, with -inf for NaN.

    The scoring code marks values that are not computed yet by NaN, and -inf is reported as non-finite all the same.
    """
    values: Floats = np.nan_to_num(log_probs.double().cpu().numpy(), nan=-np.inf, neginf=-np.inf)
    return values


def token_log_probs(logits: torch.Tensor, rows: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
    """Return the log-probability of each token by its row of the logits, in float32."""
    return (logits[rows, tokens].float() - log_sum_exp(logits)[rows]).clamp(max=0.0)


def log_sum_exp(logits: torch.Tensor) -> torch.Tensor:
    """Return the log-sum-exp over the vocabulary in float32, from shape (positions, vocabulary) to (positions,)."""
    return torch.cat([chunk.float().logsumexp(-1) for chunk in softmax_chunks(logits)])


def softmax_chunks(logits: torch.Tensor) -> Sequence[torch.Tensor]:
    """Split logits along the positions into chunks of a size for which a softmax is fast."""
    elements = SOFTMAX_ELEMENTS.get(logits.device.type, SOFTMAX_ELEMENTS["cpu"])
    return torch.split(logits, max(elements // logits.shape[-1], 1))
