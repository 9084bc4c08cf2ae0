"""Weights in 4 and 8 bits: loaded from checkpoints, quantised while they are loaded, and in memory."""

import json
from collections.abc import Callable
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer, BitsAndBytesConfig

import probing
from probing.errors import BadInput, ProbingError
from probing.scoring.hf_model import HFModel
from probing.scoring.load import load
from tests.conftest import BearFolder
from tests.tiny_models import build_bert, build_gpt2, build_llama, set_keys

FAMILIES = {
    "llama": (build_llama, AutoModelForCausalLM),
    "gpt2": (build_gpt2, AutoModelForCausalLM),
    "bert": (build_bert, AutoModelForMaskedLM),
}
BITS = {
    "4bit": BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_use_double_quant=True),
    "8bit": BitsAndBytesConfig(load_in_8bit=True),
}
STATE = ".quant_state.bitsandbytes__nf4"
WEIGHT = "transformer.h.0.mlp.c_fc.weight"
Quantised = dict[tuple[str, str], Path]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("plain")
    return {name: build(folder / name) for name, (build, _) in FAMILIES.items()}


@pytest.fixture(scope="module")
def quantised(plain: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Quantised:
    """Checkpoints as transformers saves them."""
    place, saved = tmp_path_factory.mktemp("quantised"), {}
    for name, (_, auto) in FAMILIES.items():
        for bits, config in BITS.items():
            saved[name, bits] = place / f"{name}-{bits}"
            network = auto.from_pretrained(plain[name], quantization_config=config, dtype=torch.float32)
            network.save_pretrained(saved[name, bits])
            AutoTokenizer.from_pretrained(plain[name]).save_pretrained(saved[name, bits])
    return saved


def logits(model: Any) -> torch.Tensor:
    assert isinstance(model, HFModel)
    with torch.inference_mode(), model.scoring_state():
        output: torch.Tensor = model.network(torch.arange(5, 25)[None]).logits
    return output


@pytest.mark.slow
@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_quantised_checkpoint_scores_as_the_same_weights_do_as_plain_numbers(
    quantised: Quantised, plain: dict[str, Path], bear_folder: BearFolder, family: str, bits: str
) -> None:
    folder = quantised[family, bits]
    model = load(str(folder), device="cpu")
    assert model.card.quantisation == f"bitsandbytes, {bits[0]} bits"
    assert model.card.parameters == load(str(plain[family]), device="cpu").card.parameters
    assert isinstance(model, HFModel)
    assert model.use_fast_path
    plain_numbers = FAMILIES[family][1].from_pretrained(folder, dtype=torch.float32).dequantize()
    same = probing.wrap(plain_numbers, model.tokenizer)
    torch.testing.assert_close(logits(model), logits(same), atol=1e-4, rtol=1e-4)
    benchmark = bear_folder.write()
    ours, theirs = (probing.run(part, benchmark, progress=False).items for part in (model, same))
    for mine, other in zip(ours["scores"], theirs["scores"], strict=True):
        assert mine == pytest.approx(other, abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("bits", BITS)
def test_a_plain_checkpoint_is_quantised_while_it_is_loaded_and_the_record_says_so(
    quantised: Quantised, plain: dict[str, Path], bear_folder: BearFolder, bits: str
) -> None:
    stored = load(str(quantised["bert", bits]), device="cpu")
    benchmark = bear_folder.write()
    result = probing.run(plain["bert"], benchmark, quantization=bits, progress=False)
    assert result.record["model"]["quantisation"] == stored.card.quantisation
    assert result.record["settings"]["quantization"] == bits
    usual = probing.run(plain["bert"], benchmark, progress=False)
    assert result.record["settings_digest"] != usual.record["settings_digest"]
    assert usual.record["model"]["quantisation"] == ""
    chosen = load(str(plain["bert"]), device="cpu", quantization=bits)
    torch.testing.assert_close(logits(chosen), logits(stored), atol=0.1, rtol=0.1)


def test_what_is_quantised_already_is_not_quantised_again(quantised: Quantised) -> None:
    with pytest.raises(BadInput, match="quantised already"):
        load(str(quantised["gpt2", "4bit"]), device="cpu", quantization="8bit")


@pytest.mark.parametrize("bits", BITS)
def test_a_quantised_network_in_memory_is_scored_and_left_as_it_is(quantised: Quantised, bits: str) -> None:
    folder = quantised["gpt2", bits]
    network = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    before = {name: tensor.clone() for name, tensor in network.named_parameters()}
    model = probing.wrap(network, AutoTokenizer.from_pretrained(folder))
    assert model.card.quantisation == f"bitsandbytes, {bits[0]} bits"
    torch.testing.assert_close(logits(model), logits(load(str(folder), device="cpu")))
    assert all(torch.equal(before[name], tensor) for name, tensor in network.named_parameters())
    assert all("forward" not in vars(module) for module in network.modules())


@pytest.mark.parametrize("bits", BITS)
def test_a_quantised_network_with_an_adapter_of_peft_is_scored(quantised: Quantised, tmp_path: Path, bits: str) -> None:
    peft = pytest.importorskip("peft")
    folder = quantised["llama", bits]
    network = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    config = peft.LoraConfig(r=2, target_modules=["q_proj"], init_lora_weights=False, task_type="CAUSAL_LM")
    wrapped = peft.get_peft_model(network, config)
    model = probing.wrap(wrapped, AutoTokenizer.from_pretrained(folder))
    assert (model.card.quantisation, model.card.adapter) == (f"bitsandbytes, {bits[0]} bits", "default (LORA)")
    assert not torch.allclose(logits(model), logits(load(str(folder), device="cpu")))
    wrapped.save_pretrained(tmp_path / "adapter")
    loaded = load(f"{folder}+{tmp_path / 'adapter'}", device="cpu")
    torch.testing.assert_close(logits(loaded), logits(model))
    assert any("added to the layers" in note for note in loaded.usage.notes)


Change = Callable[[dict[str, torch.Tensor]], Any]


def state(**values: Any) -> Change:
    """Return a change of what a checkpoint says of one of its weights."""

    def change(tensors: dict[str, torch.Tensor]) -> None:
        content = json.loads(tensors[WEIGHT + STATE].numpy().tobytes()) | values
        tensors[WEIGHT + STATE] = torch.frombuffer(bytearray(json.dumps(content).encode()), dtype=torch.uint8)

    return change


def fewer(name: str) -> Change:
    return lambda tensors: tensors.update({name: tensors[name][:-1].clone()})


def missing(name: str) -> Change:
    return lambda tensors: tensors.pop(name)


@pytest.mark.parametrize(
    ("bits", "change"),
    [
        ("4bit", state(shape=[10**6, 10**6])),
        ("4bit", state(shape=[16, 256])),
        ("4bit", state(shape="everything")),
        ("4bit", state(blocksize=1)),
        ("4bit", state(blocksize=[64])),
        ("4bit", state(dtype="load")),
        ("4bit", state(quant_type="fp4")),
        ("4bit", state(nested_blocksize=2**30)),
        ("4bit", fewer(f"{WEIGHT}.absmax")),
        ("4bit", fewer(f"{WEIGHT}.quant_map")),
        ("4bit", fewer(f"{WEIGHT}.nested_absmax")),
        ("4bit", fewer(WEIGHT)),
        ("4bit", missing(WEIGHT)),
        ("4bit", missing(WEIGHT + STATE)),
        ("8bit", fewer(WEIGHT.replace("weight", "SCB"))),
        ("8bit", missing(WEIGHT.replace("weight", "SCB"))),
        ("8bit", missing(WEIGHT)),
    ],
)
def test_statistics_that_do_not_fit_their_weights_are_refused(
    quantised: Quantised, tmp_path: Path, bits: str, change: Change
) -> None:
    folder = copytree(quantised["gpt2", bits], tmp_path / "changed")
    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ProbingError) as caught:
        load(str(folder), device="cpu")
    assert caught.value.code in ("bad-weights", "bad-config")
    assert "\n" not in caught.value.message


def test_weights_for_a_gpu_are_refused_in_one_sentence_without_one(
    plain: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = copytree(plain["gpt2"], tmp_path / "gptq")
    stated = {"quant_method": "gptq", "bits": 4, "group_size": 128}
    set_keys(folder, "config.json", quantization_config=stated)
    monkeypatch.setattr("probing.files.weights.find_spec", lambda name: True)
    with pytest.raises(BadInput, match=r"GPTQ, 4 bits.*need an NVIDIA GPU; this is the device cpu"):
        load(str(folder), device="cpu")
