"""Model types of the installed transformers are scored as well as the kept table says.

Those of `MEASURED` are measured here: at least one of each way of attending, of placing tokens, of caching, of being
part of a larger network, and of being refused. `make zoo`, weekly and by hand, measures every type of the table.
"""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from probing.files.tokenizer_trial import try_tokenizer
from probing.kinds import KINDS
from probing.scoring import tokenizer_files
from probing.scoring.trial import TEXTS
from tests.zoo.model_types import CLOSE, Outcome, outcome, read_table
from tests.zoo.tiny_types import model_types

TYPES = {row.architecture: row for row in model_types()}
REMARKS = {row.key: row.exception.get("remark") for row in model_types()}
FEW, COMPARED = 3, 1  # questions, fewer than for the kept table, which is measured once
BEST = Outcome("causal", "new", "NewForCausalLM", "accepted", "", "shared", "1.0", "same", "1e-05")
TYPICAL = [
    "LlamaForCausalLM",
    "GPT2LMHeadModel",
    "Qwen3ForCausalLM",
    "Gemma3ForCausalLM",
    "BertForMaskedLM",
    "T5ForConditionalGeneration",
    "MambaForCausalLM",
    "Qwen3NextForCausalLM",
    "Gemma4ForCausalLM",  # whose heads have another size in some layers
    "Mistral4ForCausalLM",  # which is listed only among models that see
    "M2M100ForConditionalGeneration",  # which does not prepare labels
    "Glm4vForConditionalGeneration",  # whose text part has no head of its own
    "MllamaForConditionalGeneration",  # whose text part is listed by the name of the whole
    "HYV4ForCausalLM",  # which attends to a choice of tokens
    "Blip2ForConditionalGeneration",  # which as a whole needs an image
    "RobertaForCausalLM",  # its start token is its padding here, which it counts in another way
]
# Beside the typical ones, a type of each further way of behaving that the table has.
MEASURED = [
    *TYPICAL,
    *("BloomForCausalLM", "GPTJForCausalLM", "CTRLLMHeadModel", "OPTForCausalLM", "GPTNeoForCausalLM"),  # positions
    *("MistralForCausalLM", "GptOssForCausalLM", "Llama4ForConditionalGeneration"),  # windows, sinks and chunks
    *("DeepseekV3ForCausalLM", "DeepseekV32ForCausalLM", "GPTBigCodeForCausalLM"),  # latent, chosen and single keys
    *("MixtralForCausalLM", "CohereForCausalLM", "Gemma2ForCausalLM", "Gemma3nForCausalLM"),  # experts, logits, layers
    *("Mamba2ForCausalLM", "FalconH1ForCausalLM", "JambaForCausalLM", "KimiLinearForCausalLM", "Lfm2ForCausalLM"),
    *("NemotronHForCausalLM", "MiniMaxForCausalLM", "RecurrentGemmaForCausalLM", "Zamba2ForCausalLM"),  # states
    *("BartForCausalLM", "BertLMHeadModel", "AyaVisionForConditionalGeneration", "Qwen2VLForConditionalGeneration"),
    *("AXK2ForCausalLM", "BlipForConditionalGeneration", "xLSTMForCausalLM", "CpmAntForCausalLM"),  # refused
    *("RobertaForMaskedLM", "DebertaV2ForMaskedLM", "ModernBertForMaskedLM", "LongformerForMaskedLM"),
    *("BigBirdForMaskedLM", "XLMRobertaForMaskedLM", "FlaubertWithLMHeadModel", "EsmcForMaskedLM"),
    *("ConvBertForMaskedLM", "FNetForMaskedLM", "PerceiverForMaskedLM"),  # not shared
    *(
        "BartForConditionalGeneration",
        "EncoderDecoderModel",
        "LongT5ForConditionalGeneration",
    ),
    *(
        "ProphetNetForConditionalGeneration",
        "SwitchTransformersForConditionalGeneration",
        "T5GemmaForConditionalGeneration",
    ),
    *("VoxtralForConditionalGeneration", "VoxtralRealtimeForConditionalGeneration", "SeamlessM4TForTextToText"),
]


def test_a_network_that_cannot_share_prefixes_is_scored_right_by_the_reference() -> None:
    result = outcome(TYPES["RwkvForCausalLM"])
    assert (result.state, result.scoring, result.decide) == ("accepted", "reference", "same")
    assert float(result.difference) <= CLOSE


def test_a_network_that_writes_codes_of_sound_is_refused_in_a_sentence() -> None:
    result = outcome(TYPES["MusicgenForCausalLM"])
    assert (result.state, result.sentence) == (
        "refused",
        "The folder reads several codes at once, such as those of sound, and no text.",
    )


def test_a_text_part_whose_tensors_have_other_names_is_refused_for_that_reason() -> None:
    result = outcome(TYPES["QianfanOCRForConditionalGeneration"])
    assert (result.state, result.sentence) == (
        "refused",
        "Qwen3ForCausalLM, the text part of QianfanOCRForConditionalGeneration in the folder, finds no tensors for "
        "model.layers.0.input_layernorm.weight and 43 more of its weights under the names that transformers gives "
        "them.",
    )


def test_a_type_that_is_not_compared_has_its_reason_in_a_sentence() -> None:
    result = outcome(TYPES["BltForCausalLM"])
    assert (result.state, result.sentence) == (
        "not built",
        "No tiny network of it can be built by the rules for sizes: ValueError: it has 96,325,664 parameters.",
    )
    sentences = [row.sentence for row in read_table().values() if row.state != "accepted"]
    assert [sentence for sentence in sentences if not re.fullmatch(r"[A-Z].*\.", sentence)] == []


def tokens_alone(where: str, path: Path) -> dict[str, list[int]]:
    """Return the tokens that a tokenizer.json makes of fixed texts, without a process of its own."""
    return try_tokenizer({"path": str(path), "texts": TEXTS})


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_no_measured_type_is_worse_than_in_the_table(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokenizer_files, "try_tokenizer_apart", tokens_alone)  # they are a few of our own
    table = read_table()
    types = [TYPES[architecture] for architecture in MEASURED if TYPES[architecture].kind == kind]
    results = ((outcome(row, FEW, COMPARED), table[row.key]) for row in types)
    assert [(after, before) for after, before in results if after.is_worse_than(before)] == []


def test_the_table_has_the_types_of_the_installed_transformers() -> None:
    table = read_table()
    assert list(table) == [row.key for row in model_types()], "run python -m tests.zoo.model_types --write"
    accepted = [row for row in table.values() if row.state == "accepted"]
    assert {row.decide for row in accepted} == {"same"}
    typical = [table[TYPES[architecture].key] for architecture in TYPICAL]
    assert {(row.state, row.scoring) for row in typical} == {("accepted", "shared")}
    assert max(float(row.difference) for row in typical) <= CLOSE
    assert [row for row in accepted if float(row.difference) > CLOSE and not REMARKS[row.key]] == []


@pytest.mark.parametrize(
    "change",
    [
        {"state": "refused"},
        {"state": "failed"},
        {"state": "not built"},
        {"scoring": "reference"},
        {"decide": "other"},
        {"difference": "2e-03"},
        {"difference": "nan"},
    ],
)
def test_what_works_less_is_worse(change: dict[str, str]) -> None:
    other = replace(BEST, **change)
    assert other.is_worse_than(BEST)
    assert not BEST.is_worse_than(other)


def test_a_difference_by_rounding_is_not_worse() -> None:
    assert not replace(BEST, difference="9e-04").is_worse_than(BEST)
    assert not replace(BEST, sentence="another note").is_worse_than(BEST)
    refused = Outcome("causal", "new", "NewForCausalLM", "refused", "another sentence")
    assert not refused.is_worse_than(replace(refused, sentence="a sentence"))
