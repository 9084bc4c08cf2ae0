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
    "RobertaForCausalLM",  # its start token is its padding here, which it counts in another way
]


@pytest.mark.parametrize("architecture", TYPICAL)
def test_a_typical_type_is_scored_right_and_computes_each_distinct_input_once(architecture: str) -> None:
    result = outcome(TYPES[architecture])
    assert result.state == "accepted", result.sentence
    assert result.scoring == "shared"
    assert result.decide == "same"
    assert float(result.difference) <= CLOSE


def test_a_network_that_attends_to_a_choice_of_tokens_is_scored_right_by_the_reference() -> None:
    result = outcome(TYPES["HYV4ForCausalLM"])
    assert (result.state, result.scoring, result.decide) == ("accepted", "reference", "same")
    assert float(result.difference) <= CLOSE
