"""The GGUF file in float32: the same tensors and metadata as in the file that it is made of."""

from pathlib import Path

import gguf
import numpy as np
from gguf import GGMLQuantizationType, GGUFReader, GGUFWriter

from speed.weights import write_gguf

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


def test_weights_are_those_that_the_quantised_file_stands_for(tmp_path: Path) -> None:
    write_gguf(tmp_path / "float32.gguf", quantised_file(tmp_path))
    (before,) = GGUFReader(tmp_path / "quantised.gguf").tensors
    (after,) = GGUFReader(tmp_path / "float32.gguf").tensors
    assert (after.name, after.tensor_type) == ("token_embd.weight", GGMLQuantizationType.F32)
    np.testing.assert_array_equal(after.data, gguf.quants.dequantize(before.data, before.tensor_type))


def test_metadata_are_kept_but_for_the_type_of_the_weights(tmp_path: Path) -> None:
    write_gguf(tmp_path / "float32.gguf", quantised_file(tmp_path))
    fields = GGUFReader(tmp_path / "float32.gguf").fields
    assert fields["general.architecture"].contents() == "llama"
    assert fields["llama.context_length"].contents() == 128
    assert fields["tokenizer.ggml.tokens"].contents() == ["a", "b"]
    assert fields["general.file_type"].contents() == gguf.LlamaFileType.ALL_F32
