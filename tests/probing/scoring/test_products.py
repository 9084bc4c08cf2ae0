"""Products of linear layers: by oneDNN as by torch, on any network, and where oneDNN and bfloat16 are taken."""

import pickle
from collections.abc import Callable, Iterator
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
from probing.scoring.products import LONGEST_SUM, bfloat16_is_faster, fast_products, linear, onednn_is_faster
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


def on_processor(monkeypatch: pytest.MonkeyPatch, **capabilities: object) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: capabilities)


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


@pytest.mark.parametrize(
    ("capabilities", "is_faster"),
    [
        ({"cpu_name": "AMD EPYC 9V74", "avx512_f": True}, True),
        ({"cpu_name": "AMD EPYC 7763", "avx512_f": False}, False),
        ({"cpu_name": "Intel Xeon", "avx512_f": True}, False),
        ({"architecture": "aarch64", "sve": True}, False),
    ],
)
def test_onednn_multiplies_on_processors_by_amd_with_wide_instructions(
    capabilities: dict[str, object], is_faster: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_processor(monkeypatch, **capabilities)
    assert onednn_is_faster() is is_faster


def test_a_torch_without_these_products_is_used_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    on_processor(monkeypatch, cpu_name="AMD EPYC 9V74", avx512_f=True)
    monkeypatch.setattr(torch.ops, "mkldnn", SimpleNamespace())
    assert not onednn_is_faster()


@pytest.mark.parametrize(
    ("capabilities", "is_faster"),
    [
        ({"avx512_f": True, "avx512_bf16": True}, True),
        ({"avx512_f": True, "amx_bf16": True}, True),
        ({"bf16": True}, True),
        ({"avx512_f": True, "avx512_bf16": False, "amx_bf16": False}, False),
        ({}, False),
    ],
    ids=str,
)
def test_bfloat16_is_faster_on_processors_with_instructions_for_it(
    capabilities: dict[str, object], is_faster: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_processor(monkeypatch, **capabilities)
    assert bfloat16_is_faster() is is_faster


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
