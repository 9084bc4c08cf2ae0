"""The comparison of ways to compute products: ratios, differences of scores, and what a screen would leave open."""

import numpy as np
import pytest
import torch

from probing.scoring import cpu_products
from speed.products import BY_TORCH, CHOSEN, differences, products, ratios, within_margin
from speed.systems import OptionScores


def scores(*values: float) -> OptionScores:
    return OptionScores(np.array(values), np.ones(len(values), bool))


def test_a_ratio_compares_the_ways_within_each_round() -> None:
    rounds = [{"slow": 3.0, "fast": 2.0}, {"slow": 4.0, "fast": 1.0}, {"slow": 4.0, "fast": 2.0}]
    assert ratios(rounds, "slow", "fast") == {"rounds": [1.5, 4.0, 2.0], "median": 2.0}


def test_a_margin_is_the_largest_difference_between_options_of_an_item() -> None:
    exact = [scores(-1.0, -5.0, -9.0), scores(-2.0, -3.0)]
    short = [scores(-1.5, -5.0, -9.0), scores(-1.0, -1.4)]  # by 0.5 apart, and by 1.0 and 1.6
    assert within_margin(exact, short) == {"margin": 0.6, "undecided": 0.5}
    assert np.abs(differences(exact, short)).max() == pytest.approx(1.6)


@pytest.mark.parametrize(("way", "by_onednn"), [(BY_TORCH, False), (CHOSEN, True)])
def test_products_are_computed_in_the_way_that_is_named(
    way: str, by_onednn: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cpu_products, "onednn_is_faster", lambda: True)
    with products(way):
        assert (cpu_products.float32_product() is not torch.nn.functional.linear) is by_onednn
    assert cpu_products.onednn_is_faster()
