"""Devices, number formats and attention: bad choices are refused, and "auto" chooses what suits the machine."""

from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from probing.benchmark import Benchmark
from probing.errors import BadInput
from probing.files.description import describe
from probing.files.listing import folder_listing
from probing.runner import run
from probing.scoring import loading_options
from probing.scoring.load import load
from probing.scoring.loading_options import DTYPES, LoadingOptions
from probing.settings import Settings


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"dtype": "float8"}, r"Unknown dtype 'float8'\. .*Did you mean 'float"),
        ({"device": "gpu"}, "Unknown device 'gpu'"),
        ({"device": "cuda:99"}, "no device cuda:99"),
        ({"device": "meta"}, "no device meta"),
        ({"device": "hpu"}, "no device hpu"),
        ({"commit": "0" * 40}, "has no commits"),
        ({"batch_tokens": 0}, "Batches cannot hold 0 tokens"),
        ({"quantization": "2bit"}, r"Unknown quantization '2bit'\. .*Did you mean '8bit'\?"),
        ({"attn_implementation": "flash_attention_2"}, "needs a mask for each pair of tokens"),
        ({"device_map": "everywhere"}, "device_map cannot be 'everywhere'"),
        ({"device_map": 3}, "device_map cannot be 3"),
        ({"device_map": "auto", "device": "cpu"}, "both say where the model goes"),
    ],
)
def test_a_bad_option_is_bad_input(model_folders: dict[str, Path], options: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput, match=words) as caught:
        load(str(model_folders["gpt2"]), **options)
    assert caught.value.next_step


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "torch.bfloat16", torch.bfloat16])
def test_the_weights_are_loaded_in_the_requested_type(model_folders: dict[str, Path], dtype: Any) -> None:
    loaded = load(str(model_folders["gpt2"]), dtype=dtype, device="cpu").dtype
    assert loaded == str(dtype).removeprefix("torch.")


@pytest.mark.parametrize("attention", ["sdpa", "eager"])
def test_the_attention_can_be_chosen(model_folders: dict[str, Path], attention: str) -> None:
    model = load(str(model_folders["gpt2"]), device="cpu", attn_implementation=attention)
    assert model.network.config._attn_implementation == attention  # type: ignore[attr-defined]


def test_a_map_of_devices_takes_the_place_of_the_device(model_folders: dict[str, Path]) -> None:
    model = load(str(model_folders["gpt2"]), device_map={"": "cpu"})
    assert model.device == "cpu"
    assert LoadingOptions.of("auto", "balanced", "float32", "none", "").placement(10**9) == "balanced"


@pytest.mark.parametrize(("dtype", "spread"), [("float32", True), ("bfloat16", False)])
def test_a_model_is_spread_if_one_gpu_cannot_hold_it_in_the_type_asked_for(
    gpt2: Path, dtype: str, spread: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The type in which the weights are stored (here half precision) does not matter."""
    weights = {name: tensor.bfloat16() for name, tensor in load_file(gpt2 / "model.safetensors").items()}
    save_file(weights, gpt2 / "model.safetensors", metadata={"format": "pt"})
    free = 3 * sum(tensor.numel() for tensor in weights.values())
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (free, free))
    one_gpu = torch.device("cuda")
    options = LoadingOptions(one_gpu, True, None, DTYPES[dtype], None, "")
    placed = options.placement(describe(folder_listing(gpt2)).weights.parameters)
    assert placed == ("auto" if spread else one_gpu)


def stored_in(folder: Path, dtype: torch.dtype) -> Path:
    """Store the weights of the folder in this number format."""
    weights = {name: tensor.to(dtype) for name, tensor in load_file(folder / "model.safetensors").items()}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


@pytest.mark.parametrize(
    ("stored", "is_faster", "computed"),
    [
        (torch.float32, True, "float32"),
        (torch.bfloat16, True, "bfloat16"),
        (torch.float16, True, "bfloat16"),
        (torch.bfloat16, False, "float32"),
    ],
    ids=str,
)
def test_auto_computes_in_bfloat16_what_is_stored_in_16_bits_where_the_cpu_is_faster_in_it(
    gpt2: Path, stored: torch.dtype, is_faster: bool, computed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading_options, "bfloat16_is_faster", lambda: is_faster)
    assert load(str(stored_in(gpt2, stored)), device="cpu", dtype="auto").dtype == computed
    assert load(str(gpt2), device="cpu").dtype == "float32"


@pytest.mark.parametrize("stored", DTYPES)
def test_auto_computes_on_a_gpu_as_the_weights_are_stored(stored: str) -> None:
    options = LoadingOptions(torch.device("cuda"), True, None, torch.float32, None, "", chooses_dtype=True)
    assert options.for_weights(stored).dtype == DTYPES[stored]


@pytest.mark.parametrize("stored", DTYPES)
def test_a_chosen_number_format_is_kept_whatever_is_stored(stored: str) -> None:
    assert LoadingOptions.of("cpu", None, "float16", "none", "").for_weights(stored).dtype == torch.float16


@pytest.mark.parametrize("is_faster", [True, False])
def test_the_record_and_the_digest_name_the_number_format_that_auto_stood_for(
    gpt2: Path, is_faster: bool, benchmark: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading_options, "bfloat16_is_faster", lambda: is_faster)
    record = run(str(stored_in(gpt2, torch.bfloat16)), benchmark, device="cpu", dtype="auto", progress=False).record
    dtype = "bfloat16" if is_faster else "float32"
    assert (record["dtype"], record["settings"]["dtype"]) == (dtype, dtype)
    assert record["settings_digest"] == Settings.from_json(record["settings"] | {"dtype": dtype}).digest
    assert (record["settings_digest"] == Settings.from_json(record["settings"] | {"dtype": "float32"}).digest) == (
        not is_faster
    )
