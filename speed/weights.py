"""The weights of a comparison as all systems take them: a folder in float32, and a GGUF file in float32."""

from pathlib import Path

import gguf
import numpy as np
from gguf import GGMLQuantizationType, GGUFReader, GGUFValueType, GGUFWriter

from speed.networks import LoadedNetwork, smollm2_file

ARCHITECTURE = "general.architecture"


def write_folder(loaded: LoadedNetwork, folder: Path) -> None:
    """Write the network and its tokenizer in the format of transformers.

    A network from a GGUF file counts as quantised, although its weights are in float32, and cannot be saved as it is.
    """
    config = type(loaded.network.config).from_dict(loaded.network.config.to_dict() | {"quantization_config": None})
    plain = type(loaded.network)(config)
    plain.load_state_dict(loaded.network.state_dict())
    plain.save_pretrained(folder)
    loaded.tokenizer.save_pretrained(folder)


def write_gguf(target: Path, source: Path | None = None) -> None:
    """Write a GGUF file (SmolLM2's by default) again with its weights in float32, as transformers reads them."""
    reader = GGUFReader(source or smollm2_file())
    writer = GGUFWriter(target, str(reader.fields[ARCHITECTURE].contents()))
    for name, field in reader.fields.items():
        kind, *inner = field.types or [GGUFValueType.UINT32]
        if name == ARCHITECTURE or name.startswith("GGUF."):
            continue
        value = gguf.LlamaFileType.ALL_F32 if name == "general.file_type" else field.contents()
        writer.add_key_value(name, value, kind, inner[0] if inner else None)
    for tensor in reader.tensors:
        values = gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
        writer.add_tensor(tensor.name, values, raw_dtype=GGMLQuantizationType.F32)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
