"""The reference implementation takes little memory beside the logits, whatever the size of the vocabulary."""

from typing import Any

import numpy as np
import pytest
import torch
from torch.overrides import TorchFunctionMode

from probing.scoring import reference
from tests.probing.scoring.stubs import bigram, random_table, right_neighbour


class Largest(TorchFunctionMode):
    """Records the number of elements of the largest float64 tensor in `most`."""

    most = 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor) and result.dtype == torch.float64:
            self.most = max(self.most, result.numel())
        return result


def test_a_few_positions_at_a_time_are_converted_to_float64(monkeypatch: pytest.MonkeyPatch) -> None:
    table, sequences = random_table(50), np.random.default_rng(0).integers(50, size=(8, 20))
    rows, positions = np.repeat(np.arange(8), 20), np.tile(np.arange(20), 8)
    inputs = list(map(tuple, sequences.tolist()))

    def both() -> tuple[Any, Any]:
        masked = reference.masked_log_probs(right_neighbour(table), inputs, rows, positions, sequences.ravel())
        return reference.causal_log_probs(bigram(table), inputs), masked

    at_once = both()
    monkeypatch.setattr(reference, "FLOAT64_ELEMENTS", 150)
    with Largest() as largest:
        in_parts = both()
    assert largest.most <= len(rows)
    for one, other in zip(in_parts, at_once, strict=True):
        np.testing.assert_array_equal(one, other)
    expected = table.double().log_softmax(-1).numpy()
    np.testing.assert_allclose(in_parts[0][:, 1:], expected[sequences[:, :-1], sequences[:, 1:]], atol=1e-12)
