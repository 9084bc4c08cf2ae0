"""Which model classes are causal, masked or neither, without loading torch."""

import pytest

from probing.files.architectures import kind_of, known_model_types


@pytest.mark.parametrize(
    ("architecture", "kind"),
    [
        ("GPT2LMHeadModel", "causal"),
        ("LlamaForCausalLM", "causal"),
        ("BertForMaskedLM", "masked"),
        ("XLMRobertaForMaskedLM", "masked"),
        ("FlaubertWithLMHeadModel", "masked"),
        ("T5ForConditionalGeneration", None),
        ("BartForConditionalGeneration", None),
        ("MBartForConditionalGeneration", None),
        ("BertForSequenceClassification", None),
        ("XLMWithLMHeadModel", None),
        ("NeverHeardOfForCausalLM", None),
        ("", None),
    ],
)
def test_the_class_tells_the_kind(architecture: str, kind: str | None) -> None:
    assert kind_of(architecture) == kind


def test_model_types_are_those_of_the_installed_transformers() -> None:
    assert {"gpt2", "llama", "bert", "t5"} <= known_model_types()
    assert "no-such-model" not in known_model_types()
