"""Products by oneDNN: they equal those of torch, replace only layers that they fit, and leave no trace."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn
from transformers.pytorch_utils import Conv1D

from probing.scoring import products as products_module
from probing.scoring.products import fast_products, float32_product, one_thread, onednn_is_faster

STATES = torch.rand((3, 50, 24), generator=torch.Generator().manual_seed(0))


class Doubled(nn.Linear):
    """A layer that computes something else than its class's parent."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return 2 * super().forward(input)


class Halved(torch.Tensor):
    """A weight that is multiplied in its own way, as those are that some libraries have quantised."""

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        outputs = super().__torch_function__(function, types, args, kwargs or {})
        return outputs / 2 if function is nn.functional.linear else outputs


def sparse(weight: torch.Tensor) -> torch.Tensor:
    return weight.to_sparse_csr()


def with_weight(change: Callable[[torch.Tensor], torch.Tensor]) -> nn.Linear:
    layer = nn.Linear(24, 24, bias=False)
    layer.weight = nn.Parameter(change(layer.weight.detach()), requires_grad=False)
    return layer


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


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta")
@torch.inference_mode()
def test_layers_that_compute_something_else_are_left_alone(products: list[torch.Size]) -> None:
    hooked = nn.Linear(24, 24)
    hooked.__dict__["forward"] = lambda states: states
    network = nn.Sequential(
        Doubled(24, 24),
        hooked,
        nn.LayerNorm(24),
        with_weight(Halved),
        with_weight(sparse),
        nn.Linear(24, 24).bfloat16(),
    )
    with fast_products(network):
        network[:-1](STATES)
        network[-1](STATES.bfloat16())
    assert not products
    assert "forward" in hooked.__dict__


@torch.inference_mode()
def test_outputs_of_a_weight_with_its_own_product_stay_as_they_are(products: list[torch.Size]) -> None:
    network = nn.Sequential(with_weight(Halved))
    expected = network(STATES)
    with fast_products(network):
        torch.testing.assert_close(network(STATES), expected)


LAYOUTS = {
    "one position": STATES[0, 0],
    "none": STATES[:0],
    "transposed": STATES.transpose(0, 1),
    "every second": STATES[:, ::2],
    "repeated": STATES[:1].expand(3, 50, 24),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@torch.inference_mode()
def test_states_of_any_shape_and_layout_give_the_same_outputs(layout: str, products: list[torch.Size]) -> None:
    network, states = nn.Sequential(nn.Linear(24, 40)), LAYOUTS[layout]
    with fast_products(network):
        fast = network(states)
    assert len(products) == (states.numel() > 0)
    torch.testing.assert_close(fast, network(states), rtol=1e-5, atol=1e-6)


@torch.inference_mode()
def test_a_bias_that_is_part_of_a_larger_tensor_is_added(products: list[torch.Size]) -> None:
    layer = nn.Linear(24, 40)
    layer.bias = nn.Parameter(torch.rand(80)[::2])
    network = nn.Sequential(layer)
    with fast_products(network):
        fast = network(STATES)
    assert products
    torch.testing.assert_close(fast, network(STATES), rtol=1e-5, atol=1e-6)


@torch.inference_mode()
def test_small_products_are_left_to_torch(products: list[torch.Size], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(products_module, "FEWEST_MULTIPLICATIONS", 100 * 24 * 24)
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
    monkeypatch.setattr(products_module, "onednn_is_faster", lambda: False)
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

    monkeypatch.setattr(products_module, "fastest_product", seconds)
    assert onednn_is_faster() is faster


def test_inexact_products_are_not_used_however_fast_they_are(monkeypatch: pytest.MonkeyPatch, untried: None) -> None:
    def rounded(states: torch.Tensor, weight: torch.Tensor, bias: Any = None) -> torch.Tensor:
        return nn.functional.linear(states.bfloat16(), weight.bfloat16()).float()

    monkeypatch.setattr(products_module, "linear", rounded)
    monkeypatch.setattr(products_module, "fastest_product", lambda product, matrix: float(product is not rounded))
    assert not onednn_is_faster()


def test_a_torch_without_these_products_is_used_as_it_is(monkeypatch: pytest.MonkeyPatch, untried: None) -> None:
    monkeypatch.setattr(torch.ops, "mkldnn", SimpleNamespace())
    assert not onednn_is_faster()


def test_a_torch_that_refuses_these_products_is_used_as_it_is(monkeypatch: pytest.MonkeyPatch, untried: None) -> None:
    def refused(*_: Any) -> torch.Tensor:
        raise RuntimeError("there is no such kernel")

    monkeypatch.setattr(products_module, "linear", refused)
    assert not onednn_is_faster()


def test_the_trial_puts_the_number_of_threads_back(untried: None) -> None:
    threads = torch.get_num_threads()
    onednn_is_faster()
    assert torch.get_num_threads() == threads


def test_trials_of_two_threads_do_not_change_the_number_of_threads_at_once() -> None:
    def own_trial() -> None:
        with one_thread():
            pass

    with ThreadPoolExecutor(1) as pool, one_thread():
        other = pool.submit(own_trial)
        assert wait([other], timeout=0.2).not_done
    other.result()
