"""What a `quantization_config` may say, and what is used of it."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from probing.errors import BadConfig, MissingPackage, QuantisedWeights
from probing.files.description import describe
from probing.files.listing import folder_listing
from probing.files.weights import (
    QUANTISATION,
    Quantisation,
    Tensor,
    quantised_to,
    read_quantisation,
    require_library,
    summarise,
)
from tests.tiny_models import build_gpt2

FOUR_BITS = {"quant_method": "bitsandbytes", "load_in_4bit": True, "load_in_8bit": False}
GPTQ = {"quant_method": "gptq", "bits": 4, "group_size": 128}


def stated(**keys: Any) -> dict[str, Any]:
    return {QUANTISATION: keys}


@pytest.mark.parametrize(
    ("config", "title"),
    [
        (FOUR_BITS, "bitsandbytes, 4 bits"),
        ({"load_in_8bit": True}, "bitsandbytes, 8 bits"),
        (GPTQ, "GPTQ, 4 bits"),
        ({"quant_method": "AWQ", "bits": 4, "version": "gemm"}, "AWQ, 4 bits"),
    ],
)
def test_a_quantisation_is_named_by_its_method_and_bits(config: dict[str, Any], title: str) -> None:
    quantisation = read_quantisation("org/name", stated(**config))
    assert quantisation
    assert quantisation.title == title


def test_only_the_keys_that_are_known_reach_the_libraries() -> None:
    config = stated(**FOUR_BITS, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype="evil", hook="os.system")
    quantisation = read_quantisation("org/name", config)
    assert quantisation
    assert quantisation.config == {**FOUR_BITS, "bnb_4bit_quant_type": "nf4"}
    assert read_quantisation("org/name", {"model_type": "gpt2"}) is None


@pytest.mark.parametrize(
    "config",
    [
        {**FOUR_BITS, "load_in_8bit": True},
        {**FOUR_BITS, "load_in_4bit": 10**30},
        {**FOUR_BITS, "bnb_4bit_quant_type": "../../etc"},
        {**FOUR_BITS, "bnb_4bit_quant_storage": "bfloat16"},
        {**FOUR_BITS, "llm_int8_threshold": -1},
        {**FOUR_BITS, "llm_int8_threshold": float("nan")},
        {**FOUR_BITS, "llm_int8_skip_modules": ["(a+)+$"]},
        {**FOUR_BITS, "llm_int8_skip_modules": ["x"] * 10**6},
        {"quant_method": "gptq"},
        {**GPTQ, "bits": 10**9},
        {**GPTQ, "bits": True},
        {**GPTQ, "group_size": 0},
        {**GPTQ, "checkpoint_format": {"a": "b"}},
    ],
)
def test_absurd_values_are_refused_in_one_sentence(config: dict[str, Any]) -> None:
    with pytest.raises(BadConfig, match="org/name") as caught:
        read_quantisation("org/name", stated(**config))
    assert "\n" not in caught.value.message


@pytest.mark.parametrize("config", ["<script>", ["gptq"], {"quant_method": "hqq"}, {"quant_method": {"a": 1}}])
def test_unknown_methods_are_refused(config: Any) -> None:
    with pytest.raises(QuantisedWeights, match="by an unknown method"):
        read_quantisation("org/name", {QUANTISATION: config})


def test_a_missing_library_is_named_before_a_download(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = build_gpt2(tmp_path / "gpt2")
    config = json.loads((folder / "config.json").read_text())
    monkeypatch.setattr("probing.extras.find_spec", lambda name: None)
    monkeypatch.setattr("probing.files.weights.find_spec", lambda name: None)
    for quantised, package in ((FOUR_BITS, "bitsandbytes"), (GPTQ, "gptqmodel")):
        (folder / "config.json").write_text(json.dumps(config | stated(**quantised)))
        with pytest.raises(MissingPackage, match=package):
            describe(folder_listing(folder))


def test_the_library_of_weights_quantised_for_a_gpu_is_named_with_the_gpu() -> None:
    with pytest.raises(MissingPackage, match=r"gptqmodel.*NVIDIA GPU"):
        require_library(Quantisation("gptq", 4, {}))


def test_the_library_is_looked_for_without_importing_it_and_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "bitsandbytes", raising=False)
    require_library(Quantisation("bitsandbytes", 4, {}))
    assert "bitsandbytes" not in sys.modules


def test_packed_weights_are_counted_as_what_they_hold_if_they_are_packed_as_the_config_says() -> None:
    tensors = {
        "a.weight": Tensor("U8", (32, 1)),
        "a.weight.absmax": Tensor("F32", (1,)),
        "a.weight.quant_map": Tensor("F32", (16,)),
        "norm.weight": Tensor("F32", (8,)),
    }
    summary = summarise("org/name", tensors, quantised_to("4bit"))
    assert (summary.parameters, summary.dtype) == (64 + 8, "float32")
    tensors = {"a.weight": Tensor("I8", (1000,)), "norm.weight": Tensor("F32", (8,))}
    with pytest.raises(QuantisedWeights, match=r"\(I8\)"):
        summarise("org/name", tensors, quantised_to("4bit"))
