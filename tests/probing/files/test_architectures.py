"""Which kind a model class is, without loading torch."""

import pytest

from probing.errors import UnsupportedModel
from probing.files.configs import _table, architecture_of, kind_of, known_model_types, require_kind, require_known_type


@pytest.mark.parametrize(
    ("architecture", "kind"),
    [
        ("GPT2LMHeadModel", "causal"),
        ("LlamaForCausalLM", "causal"),
        ("MPTForCausalLM", "causal"),  # as MPT's own repositories spell MptForCausalLM
        ("Mistral4ForCausalLM", "causal"),  # listed only among models that see
        ("BertForMaskedLM", "masked"),
        ("XLMRobertaForMaskedLM", "masked"),
        ("FlaubertWithLMHeadModel", "masked"),
        ("T5ForConditionalGeneration", "encoder-decoder"),
        ("BartForConditionalGeneration", "encoder-decoder"),
        ("MBartForConditionalGeneration", "encoder-decoder"),
        ("VoxtralForConditionalGeneration", None),
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


def test_the_first_architecture_of_a_config_is_the_models() -> None:
    assert architecture_of({"architectures": ["GPT2LMHeadModel", "BertModel"]}) == "GPT2LMHeadModel"
    for names in (None, [], {"a": 1}):
        assert architecture_of({"architectures": names}) == ""
    assert architecture_of({}) == ""


def test_what_cannot_be_probed_is_refused() -> None:
    assert require_kind("GPT2LMHeadModel") == "causal"
    require_known_type("gpt2")
    with pytest.raises(UnsupportedModel, match="BertModel has no language modelling head"):
        require_kind("BertModel")
    with pytest.raises(UnsupportedModel, match="The model has no language modelling head"):
        require_kind("")
    with pytest.raises(UnsupportedModel, match="'brandnew'"):
        require_known_type("brandnew")


def test_a_table_that_transformers_no_longer_has_is_named() -> None:
    with pytest.raises(LookupError, match=r"no table GONE in modeling_auto\.py: this version is not supported"):
        _table("modeling_auto.py", "GONE")
