"""Products by oneDNN: they equal those of torch, replace only layers that they fit, and leave no trace."""

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn
from transformers.pytorch_utils import Conv1D

from probing.scoring import cpu_products
from probing.scoring.cpu_products import fast_products, float32_product, linear, onednn_is_faster

STATES = torch.rand((3, 50, 24), generator=torch.Generator().manual_seed(0))


class Doubled(nn.Linear):
    """A layer that computes something else than its class's parent."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return 2 * super().forward(input)


@pytest.fixture
def products(monkeypatch: pytest.MonkeyPatch) -> list[torch.Size]:
    """The shapes of the weights of all products by oneDNN, which is taken as the faster one for any size."""
    shapes: list[torch.Size] = []

    def noted(states: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
        shapes.append(weight.shape)
        return linear(states, weight, bias)

    monkeypatch.setattr(cpu_products, "onednn_is_faster", lambda: True)
    monkeypatch.setattr(cpu_products, "FEWEST_MULTIPLICATIONS", 1)
    monkeypatch.setattr(cpu_products, "linear", noted)
    return shapes


@pytest.fixture
def untried() -> Iterator[None]:
    onednn_is_faster.cache_clear()
    yield
    onednn_is_faster.cache_clear()


@pytest.mark.parametrize("make", [nn.Linear, lambda *sizes: nn.Linear(*sizes, bias=False), lambda a, b: Conv1D(b, a)],
                         ids=["with bias", "without bias", "transposed weights"])  # fmt: skip
@torch.inference_mode()
def test_layers_give_the_same_outputs_by_onednn(make: Callable[..., nn.Module], products: list[torch.Size]) -> None:
    network = nn.Sequential(make(24, 40))
    usual = network(STATES)
    with fast_products(network):
        fast = network(STATES)
    assert products == [(40, 24)]
    assert fast.shape == usual.shape
    torch.testing.assert_close(fast, usual, rtol=1e-5, atol=1e-6)


@torch.inference_mode()
def test_layers_that_compute_something_else_are_left_alone(products: list[torch.Size]) -> None:
    hooked = nn.Linear(24, 24)
    hooked.__dict__["forward"] = lambda states: states
    network = nn.Sequential(Doubled(24, 24), hooked, nn.LayerNorm(24), nn.Linear(24, 24).bfloat16())
    with fast_products(network):
        network[:-1](STATES)
        network[-1](STATES.bfloat16())
    assert not products
    assert "forward" in hooked.__dict__


@torch.inference_mode()
def test_small_products_are_left_to_torch(products: list[torch.Size], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_products, "FEWEST_MULTIPLICATIONS", 100 * 24 * 24)
    network = nn.Sequential(nn.Linear(24, 24))
    with fast_products(network):
        network(STATES[0])
        assert not products
        network(STATES)
    assert len(products) == 1


def test_layers_are_as_before_also_after_an_error(products: list[torch.Size]) -> None:
    network = nn.Sequential(nn.Linear(24, 24))
    with pytest.raises(KeyError), fast_products(network):
        assert "forward" in network[0].__dict__
        raise KeyError
    assert "forward" not in network[0].__dict__


def test_nothing_is_replaced_where_torch_is_as_fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_products, "onednn_is_faster", lambda: False)
    network = nn.Sequential(nn.Linear(24, 24))
    with fast_products(network):
        assert "forward" not in network[0].__dict__
    assert float32_product() is nn.functional.linear


@pytest.mark.parametrize(("seconds_of_torch", "faster"), [(2.0, True), (1.2, True), (1.1, False), (0.5, False)])
def test_onednn_has_to_be_clearly_faster(
    seconds_of_torch: float, faster: bool, monkeypatch: pytest.MonkeyPatch, untried: None
) -> None:
    def seconds(product: Callable[..., torch.Tensor], matrix: torch.Tensor) -> float:
        return seconds_of_torch if product is nn.functional.linear else 1.0

    monkeypatch.setattr(cpu_products, "fastest_product", seconds)
    assert onednn_is_faster() is faster


def test_inexact_products_are_not_used_however_fast_they_are(monkeypatch: pytest.MonkeyPatch, untried: None) -> None:
    def rounded(states: torch.Tensor, weight: torch.Tensor, bias: Any = None) -> torch.Tensor:
        return nn.functional.linear(states.bfloat16(), weight.bfloat16()).float()

    monkeypatch.setattr(cpu_products, "linear", rounded)
    monkeypatch.setattr(cpu_products, "fastest_product", lambda product, matrix: float(product is not rounded))
    assert not onednn_is_faster()


def test_a_torch_without_these_products_is_used_as_it_is(monkeypatch: pytest.MonkeyPatch, untried: None) -> None:
    monkeypatch.setattr(torch.ops, "mkldnn", SimpleNamespace())
    assert not onednn_is_faster()


def test_the_trial_puts_the_number_of_threads_back(untried: None) -> None:
    threads = torch.get_num_threads()
    onednn_is_faster()
    assert torch.get_num_threads() == threads
