"""The plain way: equal-length batches, and memory beside the logits that is small whatever the vocabulary."""

from typing import Any

import numpy as np
import pytest
import torch
from torch.overrides import TorchFunctionMode

from probing.scoring import reference
from tests.probing.scoring.stubs import bigram, random_table, right_neighbour


class Largest(TorchFunctionMode):
    """How many numbers the largest float64 tensor has."""

    most = 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        found = func(*args, **(kwargs or {}))
        if isinstance(found, torch.Tensor) and found.dtype == torch.float64:
            self.most = max(self.most, found.numel())
        return found


def test_float64_takes_a_few_positions_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    table, sequences = random_table(50), np.random.default_rng(0).integers(50, size=(8, 20))
    rows, positions = np.repeat(np.arange(8), 20), np.tile(np.arange(20), 8)
    inputs = list(map(tuple, sequences.tolist()))

    def both() -> tuple[Any, Any]:
        masked = reference.masked_log_probs(right_neighbour(table), inputs, rows, positions, sequences.ravel())
        return reference.causal_log_probs(bigram(table), inputs), masked

    wanted = both()
    monkeypatch.setattr(reference, "ELEMENTS", 150)
    with Largest() as largest:
        found = both()
    assert largest.most <= len(rows)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, other)
    right = table.double().log_softmax(-1).numpy()
    np.testing.assert_allclose(found[0][:, 1:], right[sequences[:, :-1], sequences[:, 1:]], atol=1e-12)
