"""Values as networks give them, and sums over chunks of a vocabulary."""

import numpy as np
import pytest
import torch

from probing.scoring import tensors
from probing.scoring.tensors import computed_values, log_sum_exp


def test_missing_values_are_told_apart_from_those_that_a_network_gave() -> None:
    """NaN marks what is not computed yet, so that a network's own NaN becomes -inf, which is not finite either."""
    values = computed_values(torch.tensor([-1.5, torch.nan, -torch.inf], dtype=torch.bfloat16))
    assert values.tolist() == [-1.5, -np.inf, -np.inf]
    assert values.dtype == np.float64


def test_the_log_sum_exp_does_not_depend_on_the_size_of_its_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    logits = torch.randn(7, 5, generator=torch.Generator().manual_seed(0)).bfloat16()
    whole = log_sum_exp(logits)
    for elements in (1, 10, 35):
        monkeypatch.setitem(tensors.SOFTMAX_ELEMENTS, "cpu", elements)
        torch.testing.assert_close(log_sum_exp(logits), whole)
    assert (whole.dtype, whole.shape) == (torch.float32, (7,))
