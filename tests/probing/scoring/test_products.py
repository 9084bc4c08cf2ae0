"""Products of linear layers: by oneDNN as by torch, on any network, and the trial of bfloat16."""

import itertools
import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, nullcontext
from copy import deepcopy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from peft import LoraConfig, get_peft_model
from torch import nn
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer, PreTrainedModel
from transformers.pytorch_utils import Conv1D

import probing
from probing.language_model import Request, Scoring
from probing.scoring import products as products_module
from probing.scoring.products import (
    GROWTH,
    LONGEST_SUM,
    SIZES,
    TRIAL_PRODUCTS,
    fast_products,
    float32_product,
    linear,
    one_thread,
    onednn_is_faster,
    speed_up,
)
from probing.scoring.verbs import AnsweringModel
from probing.template import prompt

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


@pytest.mark.parametrize("inputs", [24, LONGEST_SUM + 24])
@pytest.mark.parametrize("make", [nn.Linear, lambda *sizes: nn.Linear(*sizes, bias=False), lambda a, b: Conv1D(b, a)],
                         ids=["with bias", "without bias", "transposed weights"])  # fmt: skip
@torch.inference_mode()
def test_layers_give_the_same_outputs_by_onednn(
    make: Callable[..., nn.Module], inputs: int, products: list[torch.Size]
) -> None:
    network, states = nn.Sequential(make(inputs, 40)), torch.rand((3, 50, inputs))
    usual = network(states)
    with fast_products(network):
        fast = network(states)
    assert products == [(40, inputs)]
    assert fast.shape == usual.shape
    torch.testing.assert_close(fast, usual, rtol=1e-5, atol=1e-5)


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


@pytest.mark.parametrize("transposed", [False, True])
@torch.inference_mode()
def test_the_rounding_of_onednn_does_not_grow_with_the_number_of_inputs(transposed: bool) -> None:
    def rounding(inputs: int) -> float:
        weight = torch.randn((inputs, 64)).T if transposed else torch.randn((64, inputs))
        states = torch.randn((256, inputs))
        exact = states.double() @ weight.double().T
        return float((linear(states, weight) - exact).norm() / exact.norm())

    torch.manual_seed(0)
    assert rounding(8 * LONGEST_SUM) < 1.25 * rounding(LONGEST_SUM)


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


PROMPTS: list[Request] = [
    (prompt("[X] is in [Y].", "Chad"), ["Africa", "South America", "Norway"]),
    (prompt("[X] is the capital of [Y].", "Oslo"), ["Norway", "Chad"]),
]


@pytest.fixture(params=["gpt2", "llama", "bert"])
def model(request: pytest.FixtureRequest, model_folders: dict[str, Path]) -> AnsweringModel:
    """A model with tied and transposed weights, one without biases, or one that reads in both directions."""
    folder = model_folders[request.param]
    kind = AutoModelForMaskedLM if request.param == "bert" else AutoModelForCausalLM
    return probing.wrap(kind.from_pretrained(folder), AutoTokenizer.from_pretrained(folder))


def scores(model: AnsweringModel) -> list[float]:
    return [score for answer in model.score(PROMPTS, Scoring()) for score in answer.reduce().tolist()]


def scores_by_torch(model: AnsweringModel) -> list[float]:
    """Return the scores of a model whose products are computed as torch does by itself."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(products_module, "onednn_is_faster", lambda: False)
        return scores(model)


def layers(network: nn.Module) -> dict[str, Any]:
    return {name: module for name, module in network.named_modules() if type(module) in (nn.Linear, Conv1D)}


def as_loaded(network: PreTrainedModel) -> None:
    """Leave the network as it is."""


def transpose_storage(network: PreTrainedModel) -> None:
    for layer in layers(network).values():
        layer.weight = nn.Parameter(layer.weight.detach().T.contiguous().T)


def cut_out_of_larger_weights(network: PreTrainedModel) -> None:
    for layer in layers(network).values():
        rows, columns = layer.weight.shape
        larger = torch.zeros((rows + 3, columns + 5))
        larger[1 : rows + 1, 2 : columns + 2] = layer.weight.detach()
        layer.weight = nn.Parameter(larger[1 : rows + 1, 2 : columns + 2])


def freeze(network: PreTrainedModel) -> None:
    network.requires_grad_(False)


def train_one_step(network: PreTrainedModel) -> None:
    """Change the weights in place, as an optimiser does."""
    optimiser = torch.optim.SGD(network.parameters(), lr=0.1)
    ids = torch.arange(6, 12)[None]
    network(input_ids=ids, labels=ids).loss.backward()
    optimiser.step()


def replace_weights(network: PreTrainedModel) -> None:
    for layer in layers(network).values():
        layer.weight = nn.Parameter(layer.weight.detach() * 1.1)


def load_other_weights(network: PreTrainedModel) -> None:
    network.load_state_dict({name: 1.1 * weight for name, weight in network.state_dict().items()})


LEFT_ALONE = [as_loaded, transpose_storage, cut_out_of_larger_weights, freeze]
CHANGED = [train_one_step, replace_weights, load_other_weights]


@pytest.mark.slow
@pytest.mark.parametrize("change", [*LEFT_ALONE, *CHANGED], ids=lambda change: change.__name__)
def test_scores_are_those_by_torch_also_after_the_weights_have_changed(
    model: AnsweringModel, change: Callable[[PreTrainedModel], None], products: list[torch.Size]
) -> None:
    before = scores(model)
    change(model.network)
    expected = scores_by_torch(model)
    products.clear()
    after = scores(model)
    assert products
    assert after == pytest.approx(expected, abs=1e-4)
    assert (after == pytest.approx(before, abs=1e-3)) is (change in LEFT_ALONE)


@pytest.mark.filterwarnings("ignore:fan_in_fan_out is set to False", "ignore:`is_gradient_checkpointing` is deprecated")
def test_adapters_are_added_to_products_by_onednn(model: AnsweringModel, products: list[torch.Size]) -> None:
    targets = list(layers(model.network.base_model))
    adapted = probing.wrap(
        get_peft_model(model.network, LoraConfig(r=4, init_lora_weights=False, target_modules=targets)), model.tokenizer
    )
    products.clear()
    by_onednn = scores(adapted)
    assert any(4 in shape for shape in products), "the small weights of the adapters are multiplied by it as well"
    assert by_onednn == pytest.approx(scores_by_torch(adapted), abs=1e-4)


@pytest.mark.parametrize("mode", [nullcontext, torch.no_grad, torch.inference_mode, torch.enable_grad])
def test_scores_do_not_depend_on_whether_the_caller_records_gradients(
    model: AnsweringModel, mode: Callable[[], AbstractContextManager[None]], products: list[torch.Size]
) -> None:
    expected = scores_by_torch(model)
    with mode():
        assert scores(model) == pytest.approx(expected, abs=1e-4)
    assert products
    assert all(parameter.grad is None for parameter in model.network.parameters())


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16], ids=str)
def test_other_formats_are_left_to_torch(model: AnsweringModel, dtype: torch.dtype, products: list[torch.Size]) -> None:
    other = probing.wrap(deepcopy(model.network).to(dtype), model.tokenizer)
    assert scores(other) == scores_by_torch(other)
    assert not products


def unpickled(network: PreTrainedModel) -> Any:
    return pickle.loads(pickle.dumps(network))


@pytest.mark.parametrize("copied", [deepcopy, unpickled])
def test_a_copy_that_is_made_during_scoring_can_be_trained_and_scored(
    model: AnsweringModel, copied: Callable[[Any], Any], products: list[torch.Size]
) -> None:
    def requests() -> Iterator[Request]:
        copies.append(copied(model.network))
        yield from PROMPTS

    copies: list[PreTrainedModel] = []
    expected = [score for answer in model.score(requests(), Scoring()) for score in answer.reduce().tolist()]
    (copy,) = copies
    assert scores(probing.wrap(copy, model.tokenizer)) == pytest.approx(expected, abs=1e-4)
    products.clear()
    train_one_step(copy)
    assert not products
    assert all(layer.weight.grad is not None for layer in layers(copy).values())


def test_nothing_is_left_of_it_when_the_network_fails(model: AnsweringModel, products: list[torch.Size]) -> None:
    def fail(*_: Any) -> None:
        raise KeyError("a fault of the network")

    *_, last = layers(model.network).values()
    handle = last.register_forward_pre_hook(fail)
    with pytest.raises(KeyError, match="a fault of the network"):
        scores(model)
    handle.remove()
    assert not any("forward" in module.__dict__ for module in model.network.modules())
    assert scores(model) == pytest.approx(scores_by_torch(model), abs=1e-4)


FLOAT32_SECONDS = 1e-5  # of the smallest product


class Clock:
    """A clock that only products move, each by the time that a processor takes for it."""

    def __init__(self, slow_down: float) -> None:
        self.now = 0.0
        self.slow_down = slow_down
        self.products: list[tuple[int, torch.dtype]] = []

    def perf_counter(self) -> float:
        return self.now

    def fastest(self, size: int, dtype: torch.dtype) -> float:
        self.products.append((size, dtype))
        seconds = FLOAT32_SECONDS * (size / SIZES[0]) ** 3 * (1 if dtype == torch.float32 else self.slow_down)
        self.now += TRIAL_PRODUCTS * seconds
        return seconds


@pytest.fixture
def clock(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock(request.param)
    monkeypatch.setattr(products_module, "time", clock)
    monkeypatch.setattr(products_module, "_fastest", clock.fastest)
    return clock


@pytest.mark.parametrize("clock", [0.2, 0.5, 1.0], indirect=True)
def test_the_largest_product_tells_how_much_faster_bfloat16_is(clock: Clock) -> None:
    assert speed_up() == pytest.approx(1 / clock.slow_down)
    assert clock.products == list(itertools.product(SIZES, (torch.float32, torch.bfloat16)))


@pytest.mark.parametrize("clock", [44.0, 500.0], indirect=True)
def test_a_slow_processor_is_found_out_before_the_time_is_up(clock: Clock) -> None:
    assert speed_up(0.2) == 0
    assert clock.now <= 0.2
    assert clock.products[-1][0] < SIZES[-1]


def test_the_number_of_threads_is_put_back() -> None:
    threads = torch.get_num_threads()
    assert speed_up() >= 0
    assert torch.get_num_threads() == threads


def test_each_size_takes_as_many_times_longer_as_the_trial_expects() -> None:
    assert all((larger / smaller) ** 3 == GROWTH for smaller, larger in itertools.pairwise(SIZES))
