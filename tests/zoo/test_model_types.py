"""Typical model types are accepted from a folder, and scored as the network that was saved scores."""

import pytest

from tests.zoo.model_types import CLOSE, Outcome, outcome
from tests.zoo.tiny_types import ModelType, model_types

TYPES = {row.architecture: row for row in model_types()}
SHARED = [
    "LlamaForCausalLM",
    "GPT2LMHeadModel",
    "Qwen3ForCausalLM",
    "Gemma3ForCausalLM",
    "BertForMaskedLM",
    "T5ForConditionalGeneration",
]
# Recurrent types are right however they are scored: with the reference implementation, or with shared prefixes.
RECURRENT = ["MambaForCausalLM", "Qwen3NextForCausalLM"]


def accepted(row: ModelType) -> Outcome:
    """Return the outcome of a type that must be accepted and scored right."""
    result = outcome(row)
    assert result.state == "accepted", result.sentence
    assert result.decide == "same"
    assert float(result.difference) <= CLOSE
    return result


@pytest.mark.parametrize("architecture", SHARED)
def test_a_typical_type_is_scored_right_and_computes_each_distinct_input_once(architecture: str) -> None:
    assert accepted(TYPES[architecture]).scoring == "shared"


@pytest.mark.parametrize("architecture", RECURRENT)
def test_a_recurrent_type_is_scored_right(architecture: str) -> None:
    accepted(TYPES[architecture])
