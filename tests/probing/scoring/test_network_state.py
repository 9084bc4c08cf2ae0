"""A network that is handed over is scored as if it were loaded from a file, and is left exactly as it was."""

import random
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from accelerate import Accelerator
from accelerate.state import AcceleratorState, PartialState
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, PreTrainedModel

import probing
from probing.errors import BadInput
from probing.language_model import Scoring
from probing.scoring.load import load
from probing.scoring.verbs import AnsweringModel
from probing.template import prompt
from tests.tiny_models import build_bert, build_gpt2, build_llama

PROMPTS = [(prompt("[X] is in [Y].", "Chad"), ["Africa", "South America", "Norway"])]
KINDS = {
    "gpt2": (build_gpt2, AutoModelForCausalLM),
    "llama": (build_llama, AutoModelForCausalLM),
    "bert": (build_bert, AutoModelForMaskedLM),
}


@pytest.fixture(scope="module", params=KINDS)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    build, _ = KINDS[request.param]
    return build(tmp_path_factory.mktemp("model") / request.param)


@pytest.fixture
def network(folder: Path) -> PreTrainedModel:
    """Return a network that is in evaluation mode, as it was loaded."""
    network: PreTrainedModel = KINDS[folder.name][1].from_pretrained(folder)
    return network


def scores(model: AnsweringModel) -> list[float]:
    (answer,) = model.score(PROMPTS, Scoring())
    return answer.reduce().tolist()


def snapshot(network: PreTrainedModel) -> dict[str, Any]:
    """Return everything about a network and the random generators that scoring must leave alone."""
    return {
        "modes": [module.training for module in network.modules()],
        "wants_gradient": [parameter.requires_grad for parameter in network.parameters()],
        "gradients": [parameter.grad for parameter in network.parameters()],
        "weights": [hash(parameter.detach().numpy().tobytes()) for parameter in network.parameters()],
        "attention": network.config._attn_implementation,
        "configuration": deepcopy(network.config.to_dict()),
        "forward": network.__dict__.get("forward"),
        "hooks": [len(module._forward_hooks) + len(module._forward_pre_hooks) for module in network.modules()],
        "random": (random.getstate(), str(np.random.get_state()), torch.get_rng_state().tolist()),
        "records_gradients": torch.is_grad_enabled(),
        "autocast": torch.is_autocast_enabled("cpu"),
    }


def test_a_network_in_training_mode_is_scored_without_dropout_each_time(network: PreTrainedModel, folder: Path) -> None:
    expected = scores(load(str(folder)))
    model = probing.wrap(network)
    network.train()
    assert scores(model) == expected
    network.train()
    assert scores(model) == expected, "the wrapper is used again"
    assert network.training


def test_a_wrapper_that_is_made_before_the_training_is_checked_in_evaluation_mode(
    network: PreTrainedModel, folder: Path
) -> None:
    kind = type(load(str(folder)))
    model = kind(network.eval(), load(str(folder)).tokenizer)
    network.train()
    assert scores(model) == scores(load(str(folder)))
    assert not [note for note in model.usage.notes if "reference implementation" in note]


def test_everything_is_as_it_was_afterwards(network: PreTrainedModel) -> None:
    network.train()
    next(network.parameters()).requires_grad_(False)
    before = snapshot(network)
    model = probing.wrap(network)
    assert snapshot(network) == before
    scores(model)
    list(model.embed(["Oslo"]))
    assert snapshot(network) == before


def test_the_training_goes_on_between_two_answers_and_after_an_error(network: PreTrainedModel) -> None:
    network.train()
    before, model = snapshot(network), probing.wrap(network)
    stream = model.score(PROMPTS * 3, Scoring())
    next(stream)
    assert snapshot(network) == before
    with pytest.raises(BadInput, match="nothing to score"):
        list(model.score([(prompt("[X] is in [Y]", "Chad"), [""])], Scoring(span="answer")))
    assert snapshot(network) == before


def random_numbers(network: Any, args: Any, output: Any) -> None:
    """Draw from every generator, as the modules of some networks do."""
    random.random(), np.random.random(), torch.rand(1)


def test_random_numbers_that_a_network_draws_are_not_missed_by_the_training(network: PreTrainedModel) -> None:
    network.register_forward_hook(random_numbers)
    before = snapshot(network)
    scores(probing.wrap(network))
    assert snapshot(network) == before


@pytest.mark.parametrize("implementation", ["flex_attention", "flash_attention_2", "eager"])
def test_an_attention_that_takes_no_mask_for_pairs_is_replaced_for_the_time(
    network: PreTrainedModel, folder: Path, implementation: str
) -> None:
    network.config._attn_implementation_internal = implementation
    model = probing.wrap(network)
    assert scores(model) == pytest.approx(scores(load(str(folder))), abs=1e-4)
    assert network.config._attn_implementation == implementation
    assert not [note for note in model.usage.notes if "reference implementation" in note]


def test_mixed_precision_is_set_aside_for_the_time(network: PreTrainedModel, folder: Path) -> None:
    prepared = Accelerator(mixed_precision="bf16", cpu=True).prepare_model(network)
    before = snapshot(network)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert scores(probing.wrap(prepared)) == scores(load(str(folder)))
    assert snapshot(network) == before


def test_a_compiled_module_is_not_compiled_again_for_each_batch(network: PreTrainedModel, folder: Path) -> None:
    calls: list[str] = []

    def compiled(*args: Any, **kwargs: Any) -> Any:
        calls.append("compiled")
        return network._call_impl(*args, **kwargs)

    network._compiled_call_impl = compiled
    assert scores(probing.wrap(network)) == scores(load(str(folder)))
    assert not calls and network._compiled_call_impl is compiled


@pytest.fixture(autouse=True)
def no_other_accelerator() -> Iterator[None]:
    """Let each test make an accelerator of its own."""
    yield
    AcceleratorState._reset_state(True)
    PartialState._reset_state()
