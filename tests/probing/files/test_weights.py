"""Headers of safetensors files, and what a `quantization_config` may say: lies are refused before anything is read."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from probing.errors import BadConfig, BadWeights, MissingPackage, QuantisedWeights
from probing.files import weights as module
from probing.files.description import describe
from probing.files.listing import folder_listing
from probing.files.weights import (
    LARGEST_HEADER,
    QUANTISATION,
    Quantisation,
    Tensor,
    WeightSummary,
    joined_headers,
    parse_header,
    quantised_to,
    read_header,
    read_quantisation,
    require_library,
    summarise,
)
from tests.tiny_models import build_gpt2, set_keys


def entry(dtype: Any = "F32", shape: Any = (2, 3), offsets: Any = (0, 24)) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets}


def parsed(header: Any, data_size: int = 24) -> dict[str, Tensor]:
    return parse_header("x.safetensors", json.dumps(header).encode(), data_size)


def header_of(path: Path) -> dict[str, Tensor]:
    content = path.read_bytes()
    return read_header(path.name, len(content), lambda start, stop: content[start:stop])


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    """A file of two float tensors and one of positions."""
    path = tmp_path / "model.safetensors"
    tensors = {"a": np.zeros((2, 3), np.float32), "b": np.zeros(5, np.float32), "positions": np.arange(4)}
    save_file(tensors, path, metadata={"format": "pt"})
    return path


def test_a_file_is_summarised_by_its_header(weights: Path) -> None:
    tensors = header_of(weights)
    assert tensors == {"a": Tensor("F32", (2, 3)), "b": Tensor("F32", (5,)), "positions": Tensor("I64", (4,))}
    assert summarise("org/name", tensors) == WeightSummary(parameters=11, bytes=76, dtype="float32")


def test_only_the_header_of_a_file_is_read(weights: Path) -> None:
    ranges = []

    def read(start: int, stop: int) -> bytes:
        ranges.append((start, stop))
        return weights.read_bytes()[start:stop]

    read_header("model.safetensors", weights.stat().st_size, read)
    length = int.from_bytes(weights.read_bytes()[:8], "little")
    assert ranges == [(0, 8), (8, 8 + length)]


@pytest.mark.parametrize(
    ("dtypes", "dtype"),
    [(("F32", "BF16", "BF16"), "bfloat16"), (("F16", "F32", "F16"), "float16"), (("F64", "I64", "BOOL"), "float32")],
)
def test_the_format_of_a_model_is_that_of_most_of_its_weights(dtypes: tuple[str, ...], dtype: str) -> None:
    tensors = {str(number): Tensor(name, (100,)) for number, name in enumerate(dtypes)}
    assert summarise("org/name", tensors).dtype == dtype


@pytest.mark.parametrize("dtype", ["U8", "I8", "I32", "F8_E4M3"])
def test_quantised_weights_are_refused_and_named(dtype: str) -> None:
    with pytest.raises(QuantisedWeights, match=rf"org/name are quantised \({dtype}\)"):
        summarise("org/name", {"a": Tensor(dtype, (1000,)), "scale": Tensor("F32", (1,))})


@pytest.mark.parametrize("tensors", [{}, {"a": Tensor("F32", (0, 10**9))}, {"a": Tensor("I64", (5,))}])
def test_files_without_weights_are_refused(tensors: dict[str, Tensor]) -> None:
    with pytest.raises(BadWeights, match="hold no weights"):
        summarise("org/name", tensors)


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ([], "not a JSON object"),
        ({"a": []}, "does not describe a tensor"),
        ({"a": entry() | {"code": 1}}, "does not describe a tensor"),
        ({"a": entry(dtype="F4")}, "unknown type 'F4'"),
        ({"a": entry(dtype=["F32"])}, "unknown type"),
        ({"a": entry(shape=[2, -3])}, "no list of sizes"),
        ({"a": entry(shape=[2, 3.0])}, "no list of sizes"),
        ({"a": entry(shape=[True, 6])}, "no list of sizes"),
        ({"a": entry(shape=[1] * 100)}, "no list of sizes"),
        ({"a": entry(offsets=[0, 10**30])}, "no list of sizes"),
        ({"a": entry(offsets=[0])}, "no list of sizes"),
        ({"a": entry(shape=[2, 4])}, "shape of 'a' does not fit its bytes"),
        ({"a": entry(shape=[10**9, 10**9])}, "shape of 'a' does not fit its bytes"),
        ({"a": entry(offsets=[4, 28])}, "does not begin where"),
        ({"a": entry(), "b": entry(offsets=[12, 36])}, "'b' does not begin where"),
        ({"a": entry(), "b": entry(offsets=[0, 24])}, "'b' does not begin where"),
        ({"a": entry(), "b": entry(offsets=[30, 54])}, "'b' does not begin where"),
        ({"a": entry(), "b": entry(offsets=[24, 48])}, "48 bytes, but the file has 24"),
        ({}, "take 0 bytes"),
    ],
)
def test_a_lying_header_is_refused(header: Any, words: str) -> None:
    with pytest.raises(BadWeights, match=words):
        parsed(header)


@pytest.mark.parametrize("header", [b"{", b"\xff", b"[" * 100_000, b""])
def test_a_header_that_is_no_json_is_refused(header: bytes) -> None:
    with pytest.raises(BadWeights, match="not valid JSON"):
        parse_header("x.safetensors", header, 0)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda content: content[:4], "too short"),
        (lambda content: content[:20], "longer than the file"),
        (lambda content: content[:-1], "the file has"),
        (lambda content: content + b"x", "the file has"),
        (lambda content: (10**10).to_bytes(8, "little") + content[8:], "claims 10,000,000,000 bytes"),
        (lambda content: (2**64 - 1).to_bytes(8, "little") + content[8:], "claims 18,446,744,073,709,551,615 bytes"),
        (lambda content: (LARGEST_HEADER).to_bytes(8, "little") + content[8:], "longer than the file"),
    ],
)
def test_a_damaged_file_is_refused(weights: Path, damage: Callable[[bytes], bytes], words: str) -> None:
    weights.write_bytes(damage(weights.read_bytes()))
    with pytest.raises(BadWeights, match=f"^model.safetensors is damaged: .*{words}"):
        header_of(weights)


def test_more_tensors_than_any_model_has_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_TENSORS", 3)
    header = {str(number): entry(shape=[1], offsets=[4 * number, 4 * number + 4]) for number in range(4)}
    with pytest.raises(BadWeights, match="claims 4 tensors"):
        parsed(header, 16)
    halves = [("first", {"a": Tensor("F32", (1,)), "b": Tensor("F32", (1,))})] * 2
    with pytest.raises(BadWeights, match="'a' is in another file too"):
        joined_headers(halves)
    others = {"c": Tensor("F32", (1,)), "d": Tensor("F32", (1,))}
    with pytest.raises(BadWeights, match="more than 3 tensors"):
        joined_headers([halves[0], ("second", others)])


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


@pytest.mark.parametrize(
    "config", [{}, {QUANTISATION: None}, stated(quant_method=None), stated(load_in_4bit=False, load_in_8bit=False)]
)
def test_a_config_that_asks_for_no_quantisation_has_none(config: dict[str, Any]) -> None:
    assert read_quantisation("org/name", config) is None


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
    monkeypatch.setattr("probing.extras.find_spec", lambda name: None)
    monkeypatch.setattr("probing.files.weights.find_spec", lambda name: None)
    for quantised, package in ((FOUR_BITS, "bitsandbytes"), (GPTQ, "gptqmodel")):
        set_keys(folder, "config.json", **stated(**quantised))
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
