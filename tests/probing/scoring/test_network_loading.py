"""Loading of networks: all weights are there and fit the config, which reaches transformers unchanged."""

from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
import torch
from transformers import (
    AutoModelForCausalLM,
    BertConfig,
    BertForMaskedLM,
    GPTJConfig,
    GPTNeoConfig,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)

from probing.errors import BadConfig, BadWeights, TooLarge
from probing.results.run_json import peak_memory
from probing.scoring.load import load
from tests.probing.scoring.networks import HEAD_APART, REFERENCE_CAUSAL, REFERENCE_MASKED, SHARING, SIZES
from tests.tiny_models import byte_level_bpe, set_keys, word_piece


def test_a_base_model_saved_without_its_head_is_unsupported(tmp_path: Path) -> None:
    tokenizer = word_piece()
    tokenizer.save_pretrained(tmp_path)
    network = BertForMaskedLM(BertConfig(vocab_size=len(tokenizer), pad_token_id=0, **SIZES))
    network.bert.save_pretrained(tmp_path)
    set_keys(tmp_path, "config.json", architectures=["BertForMaskedLM"])
    with pytest.raises(BadWeights, match="lacks cls"):
        load(str(tmp_path), device="cpu")


def test_a_network_that_does_not_fit_on_the_device_is_told_as_such(gpt2: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise torch.OutOfMemoryError("out of memory")

    monkeypatch.setattr(AutoModelForCausalLM, "from_pretrained", full)
    with pytest.raises(TooLarge, match=r"does not fit on the device\. Use a larger device or --dtype"):
        load(str(gpt2), device="cpu")


def test_unknown_keys_of_the_config_never_reach_transformers(gpt2: Path) -> None:
    set_keys(gpt2, "config.json", surprise=1, num_labels=10**9, per_layer_config={"0": {"n_embd": 10**9}})
    model = load(str(gpt2), device="cpu")
    assert not hasattr(model.network.config, "surprise")
    assert model.usage.notes == ["Keys of config.json that transformers does not know are ignored: surprise."]


def test_positions_that_are_computed_not_stored_have_a_limit(model_folders: dict[str, Path], tmp_path: Path) -> None:
    """GPT-NeoX-like buffers of masks grow with the square of a number that no weight has to match."""
    folder = copytree(model_folders["gpt2"], tmp_path / "neo")
    tokenizer = byte_level_bpe()
    network = AutoModelForCausalLM.from_config(
        GPTNeoConfig(
            vocab_size=len(tokenizer), hidden_size=32, num_layers=2, num_heads=2, attention_types=[[["global"], 2]]
        )
    )
    network.save_pretrained(folder)
    set_keys(folder, "config.json", max_position_embeddings=100_000)
    with pytest.raises(BadConfig, match="describes another model than the weights"):
        load(str(folder), device="cpu")


def test_positions_that_no_weight_has_to_match_are_not_built(model_folders: dict[str, Path], tmp_path: Path) -> None:
    """Those of GPT-J grow with a number of the config, here to more than a gigabyte."""
    folder = copytree(model_folders["gpt2"], tmp_path / "j")
    config = GPTJConfig(vocab_size=len(byte_level_bpe()), n_embd=32, n_layer=2, n_head=2, rotary_dim=16)
    AutoModelForCausalLM.from_config(config).save_pretrained(folder)
    set_keys(folder, "config.json", n_positions=10_000_000)
    before = peak_memory("cpu")["process"]
    with pytest.raises(BadConfig, match=r"asks for 1\.3 GB beside the weights, for positions and masks"):
        load(str(folder), device="cpu")
    assert peak_memory("cpu")["process"] - before < 10**9


@pytest.mark.slow
@pytest.mark.parametrize("name", [*SHARING, *REFERENCE_CAUSAL])
def test_every_causal_architecture_is_loaded_with_its_config_unchanged(name: str, tmp_path: Path) -> None:
    tokenizer = byte_level_bpe()
    network = (SHARING | REFERENCE_CAUSAL)[name](len(tokenizer))
    assert_loaded_unchanged(network, tokenizer, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*HEAD_APART, *REFERENCE_MASKED])
def test_every_masked_architecture_is_loaded_with_its_config_unchanged(name: str, tmp_path: Path) -> None:
    tokenizer = word_piece()
    network = (HEAD_APART | REFERENCE_MASKED)[name](len(tokenizer))
    assert_loaded_unchanged(network, tokenizer, tmp_path)


def assert_loaded_unchanged(network: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, folder: Path) -> None:
    """The network that `load` builds computes what the saved one computes."""
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    model = load(str(folder), device="cpu")
    ids = torch.tensor([[5, 6, 7, 8]])
    with torch.inference_mode():
        assert torch.allclose(model.network(input_ids=ids).logits, network(input_ids=ids).logits, atol=1e-5)
    assert not [note for note in model.usage.notes if "config.json" in note]
