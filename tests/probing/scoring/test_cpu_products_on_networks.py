"""Networks whose linear layers are computed by oneDNN: they are scored as by torch, whatever their weights are like."""

import pickle
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from copy import deepcopy
from pathlib import Path
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
from probing.scoring.verbs import AnsweringModel
from probing.template import prompt

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


def pickled(network: PreTrainedModel) -> Any:
    return pickle.loads(pickle.dumps(network))


@pytest.mark.parametrize("copied", [deepcopy, pickled])
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
