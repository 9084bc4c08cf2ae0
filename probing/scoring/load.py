"""Safe loading of models: files are checked first, and no code of theirs is run."""

import struct
from collections.abc import Callable
from contextlib import redirect_stderr
from io import StringIO
from math import prod
from pathlib import Path
from typing import Any

import torch
from huggingface_hub.errors import StrictDataclassError
from safetensors import SafetensorError, safe_open
from transformers import (
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)
from transformers.utils import logging

from probing.errors import BadInput, UnsupportedModel
from probing.files.architectures import architecture_of, require_kind, require_known_type
from probing.files.model_files import ModelFiles, locate, refuse_code
from probing.language_model import Kind, ModelCard
from probing.scoring.causal import CausalModel
from probing.scoring.masked import MaskedModel
from probing.scoring.verbs import AnsweringModel

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
# A model that takes more of one GPU's free memory is spread over all of them.
ONE_GPU_SHARE = 0.8
# Exceptions that loaders raise for broken files.
LOADING_ERRORS = (
    OSError,
    ValueError,
    LookupError,
    TypeError,
    RuntimeError,
    AttributeError,
    ArithmeticError,
    AssertionError,
    ImportError,
    SafetensorError,
    StrictDataclassError,
    struct.error,
)


def load(
    model: str,
    *,
    commit: str = "",
    device: str = "auto",
    dtype: str = "float32",
    batch_tokens: int | None = None,
    on_phase: Callable[[str], None] = lambda phase: None,
) -> AnsweringModel:
    """Load a hub id (at `commit`), a folder in Hugging Face format, or a `.gguf` file, and run the self-check.

    `device`: auto (a GPU if there is one), cpu, cuda, cuda:1 ...
    `batch_tokens`: token positions per batch, calibrated on the real work if not given.
    `on_phase` is called with "tokenizer", "weights" and "trial" before each of these phases begins.
    Raises ModelNotFound, UnsupportedModel, UnsafeModel, SourceUnavailable or BadInput.
    """
    if dtype not in DTYPES:
        raise BadInput(f"Unknown dtype {dtype!r}.", f"Choose from: {', '.join(DTYPES)}.")
    if batch_tokens is not None and batch_tokens < 1:
        raise BadInput(f"Batches of {batch_tokens} tokens hold nothing.", "Give 1 or more.")
    target = _device(device)
    files = locate(model, commit)
    kind = _checked_kind(files)
    logging.disable_progress_bar()
    on_phase("tokenizer")
    tokenizer = _tokenizer(files, kind)
    on_phase("weights")
    network = _network(files, kind, DTYPES[dtype], target, spread=device == "auto")
    card = ModelCard(
        id=model,
        kind=kind,
        architecture=type(network).__name__,
        parameters=network.num_parameters(),
        commit=files.commit,
        source=files.source,
        files=files.digests(),
    )
    model_class = MaskedModel if kind == "masked" else CausalModel
    loaded = model_class(network, tokenizer, card, batch_tokens)
    on_phase("trial")
    loaded.check()
    return loaded


def load_tokenizer(model: str, commit: str = "") -> tuple[PreTrainedTokenizerBase, Kind]:
    """Load the tokenizer alone, and return it with the kind of its model."""
    files = locate(model, commit)
    kind = _checked_kind(files)
    return _tokenizer(files, kind), kind


def _device(name: str) -> torch.device:
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise BadInput(f"Unknown device {name!r}.", "Choose auto, cpu or cuda.") from error
    here = torch.accelerator.current_accelerator(check_available=True)
    count = torch.accelerator.device_count() if here and here.type == device.type else 0
    if device.type != "cpu" and (device.index or 0) >= count:
        raise BadInput(f"There is no device {name} here.", "Choose auto or cpu.")
    return device


def _checked_kind(files: ModelFiles) -> Kind:
    """Return the kind according to the config, after refusing files that could run code when they are loaded."""
    if files.gguf:
        return "causal"
    for name in ("config.json", "tokenizer_config.json"):
        refuse_code(name, files.read_json(name))
    config = files.read_json("config.json")
    if not config:
        raise UnsupportedModel(f"{files.folder} has no config.json.", "Give a folder in Hugging Face format.")
    files.weights()
    require_known_type(str(config.get("model_type") or ""))
    return require_kind(architecture_of(config))


def _loader_arguments(files: ModelFiles) -> dict[str, Any]:
    """Return arguments that make the loaders of transformers read these files and nothing else."""
    arguments: dict[str, Any] = {"pretrained_model_name_or_path": files.folder, "local_files_only": True}
    return arguments | ({"gguf_file": files.gguf} if files.gguf else {"trust_remote_code": False})


def _tokenizer(files: ModelFiles, kind: Kind) -> Any:
    again = "Copy it again." if files.gguf else "Load it with AutoTokenizer and save it with save_pretrained."
    if not files.gguf and not (files.folder / "tokenizer.json").exists():
        raise UnsupportedModel(f"{files.folder} has no fast tokenizer (tokenizer.json).", again)
    try:
        tokenizer = AutoTokenizer.from_pretrained(**_loader_arguments(files))
    except Exception as error:  # the tokenizers library raises nothing more specific
        raise UnsupportedModel(
            f"The tokenizer in {files.folder / files.gguf} cannot be loaded: {first_line(error)}", again
        ) from error
    if not tokenizer.is_fast:
        raise UnsupportedModel(f"The tokenizer in {files.folder} is not a fast one.", again)
    if kind == "masked" and tokenizer.mask_token is None:
        raise UnsupportedModel(
            f"The tokenizer in {files.folder} has no mask token, so nothing can be hidden.",
            "Save the model with the tokenizer that it was trained with.",
        )
    return tokenizer


def _network(files: ModelFiles, kind: Kind, dtype: torch.dtype, device: torch.device, spread: bool) -> PreTrainedModel:
    auto = AutoModelForMaskedLM if kind == "masked" else AutoModelForCausalLM
    options: dict[str, Any] = {} if files.gguf else {"use_safetensors": True}
    try:
        options |= {"dtype": dtype, "device_map": _placement(files, dtype, device, spread)}
        with redirect_stderr(StringIO()):  # the progress bar of reading GGUF cannot be switched off
            network, info = auto.from_pretrained(**_loader_arguments(files), **options, output_loading_info=True)
    except LOADING_ERRORS as error:
        if isinstance(error, torch.OutOfMemoryError):
            raise UnsupportedModel(
                "The model does not fit on the device.", "Use a larger device or --dtype bfloat16."
            ) from error
        raise UnsupportedModel(
            f"The model in {files.folder / files.gguf} cannot be loaded: {first_line(error)}",
            "Copy it again." if files.gguf else "Save it again with save_pretrained.",
        ) from error
    if missing := sorted(info["missing_keys"]):  # transformers has filled these weights with random numbers
        raise UnsupportedModel(
            f"The model in {files.folder} lacks {missing[0]} and {len(missing) - 1} more of its weights.",
            "Use the checkpoint that was saved with its language modelling head.",
        )
    loaded: PreTrainedModel = network
    return loaded


def _placement(files: ModelFiles, dtype: torch.dtype, device: torch.device, spread: bool) -> Any:
    """Return the device, or "auto" to spread a model over several GPUs if one of them cannot hold it."""
    if spread and device.type == "cuda" and torch.cuda.device_count() > 1:
        weights = sum(map(_elements, files.folder.glob("*.safetensors")))
        if weights * dtype.itemsize > ONE_GPU_SHARE * torch.cuda.mem_get_info(device)[0]:
            return "auto"
    return device


def _elements(path: Path) -> int:
    """Count the numbers in a file of weights; its size would mislead, as they may be loaded in another type."""
    with safe_open(path, framework="pt") as weights:
        return sum(prod(weights.get_slice(name).get_shape()) for name in weights.keys())  # noqa: SIM118 - no mapping


def first_line(error: Exception) -> str:
    """Return the first line of the error's message as a sentence."""
    return str(error).strip().split("\n")[0].rstrip(".: ") + "."
