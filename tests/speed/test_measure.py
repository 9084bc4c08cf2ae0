from typing import cast

import numpy as np
import pytest
import torch

from probing.scoring.cpu_products import linear
from speed.measure import accuracy, observe_operations
from speed.systems import OptionScores, Ours
from speed.work import ChoiceItem, Workload

WORK = Workload("starter", (), (ChoiceItem("[X] is in [Y].", "Chad", ("Asia", "Africa"), 1),) * 2)


def test_accuracy_is_the_share_of_items_whose_right_option_is_best() -> None:
    exact = np.array([True, True])
    scores = [OptionScores(np.array([-2.0, -1.0]), exact), OptionScores(np.array([-1.0, -2.0]), exact)]
    assert accuracy(scores, WORK) == 0.5


def test_products_by_onednn_are_counted() -> None:
    class Product:
        def observe(self, workload: Workload) -> float:
            outputs = linear(torch.rand(2, 3, 5), torch.rand(7, 5))
            return float(outputs.sum())

    _, gflop = observe_operations(cast(Ours, Product()), WORK)
    assert gflop == pytest.approx(2e-9 * 2 * 3 * 5 * 7)
