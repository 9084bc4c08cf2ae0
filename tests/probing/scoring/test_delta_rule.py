"""Single steps of the gated delta rule: equal to those of transformers, and only for the time of scoring."""

from typing import Any

import pytest
import torch
from transformers.models.qwen3_5 import modeling_qwen3_5
from transformers.models.qwen3_next import modeling_qwen3_next

from probing.scoring import network_state
from probing.scoring.causal import CausalModel
from probing.scoring.network_state import GATED_DELTA_RULE, fast_steps, in_place_where_possible
from tests.probing.scoring.hybrid_networks import HYBRID
from tests.tiny_models import byte_level_bpe

USUAL = modeling_qwen3_5.torch_recurrent_gated_delta_rule
TEXTS, KEYS, HEADS, SIZE, WIDTH = 3, 2, 4, 8, 6


def inputs(tokens: int = 1, **options: Any) -> dict[str, Any]:
    torch.manual_seed(0)
    return {
        "query": torch.randn(TEXTS, tokens, KEYS, SIZE),
        "key": torch.randn(TEXTS, tokens, KEYS, SIZE),
        "value": torch.randn(TEXTS, tokens, HEADS, WIDTH),
        "g": -torch.rand(TEXTS, tokens, HEADS),
        "beta": torch.rand(TEXTS, tokens, HEADS),
        "initial_state": torch.randn(TEXTS, HEADS, SIZE, WIDTH),
        "output_final_state": True,
        "use_qk_l2norm_in_kernel": True,
    } | options


@torch.inference_mode()
def test_a_step_equals_that_of_transformers() -> None:
    tensors = inputs()
    state = tensors["initial_state"]
    expected, expected_state = USUAL(**tensors | {"initial_state": state.clone()})
    output, new_state = in_place_where_possible(USUAL)(**tensors)
    torch.testing.assert_close(output, expected)
    torch.testing.assert_close(new_state, expected_state)
    assert new_state is state


@pytest.mark.parametrize(
    "other",
    [
        {"tokens": 2},
        {"initial_state": None},
        {"initial_state": torch.zeros(TEXTS, HEADS, SIZE, WIDTH, dtype=torch.float64)},
        {"use_qk_l2norm_in_kernel": False},
    ],
)
@torch.inference_mode()
def test_anything_else_is_left_to_transformers(other: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(network_state, "step")
    tensors = inputs(**other)
    for output, expected in zip(in_place_where_possible(USUAL)(**tensors), USUAL(**tensors), strict=True):
        torch.testing.assert_close(output, expected, rtol=0, atol=0)


def test_the_state_of_a_training_is_not_changed_in_place() -> None:
    tensors = inputs()
    before = tensors["initial_state"].clone()
    in_place_where_possible(USUAL)(**tensors)
    assert tensors["initial_state"].equal(before)


def test_transformers_is_as_before_after_the_last_of_several_networks() -> None:
    networks = [HYBRID[name](64) for name in ("qwen3.5", "qwen3.5", "qwen3-next", "lfm2")]
    usual = {module: getattr(module, GATED_DELTA_RULE) for module in (modeling_qwen3_5, modeling_qwen3_next)}
    blocks = [fast_steps(network) for network in networks]
    for block in blocks:
        block.__enter__()
    assert all(getattr(module, GATED_DELTA_RULE) is not function for module, function in usual.items())
    for block in blocks[:-1]:
        block.__exit__(None, None, None)
    assert all(getattr(module, GATED_DELTA_RULE) is function for module, function in usual.items())


def test_networks_are_scored_by_these_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    steps, step = [], network_state.step

    def counted(*tensors: torch.Tensor) -> torch.Tensor:
        steps.append(tensors)
        return step(*tensors)

    monkeypatch.setattr(network_state, "step", counted)
    tokenizer = byte_level_bpe(start="<s>")
    assert CausalModel(HYBRID["qwen3.5"](len(tokenizer)), tokenizer).check() == "states"
    assert steps
