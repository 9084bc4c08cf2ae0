"""Typical model types are accepted from a folder, and scored as the network that was saved scores."""

import pytest

from tests.zoo.model_types import CLOSE, outcome
from tests.zoo.tiny_types import model_types

TYPES = {row.architecture: row for row in model_types()}
TYPICAL = [
    "LlamaForCausalLM",
    "GPT2LMHeadModel",
    "Qwen3ForCausalLM",
    "Gemma3ForCausalLM",
    "BertForMaskedLM",
    "T5ForConditionalGeneration",
    "MambaForCausalLM",
    "Qwen3NextForCausalLM",
]


@pytest.mark.parametrize("architecture", TYPICAL)
def test_a_typical_type_is_scored_right_and_computes_each_distinct_input_once(architecture: str) -> None:
    result = outcome(TYPES[architecture])
    assert result.state == "accepted", result.sentence
    assert result.scoring == "shared"
    assert result.decide == "same"
    assert float(result.difference) <= CLOSE
