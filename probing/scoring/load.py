"""Safe loading of models: files are checked first, and no code of theirs is run."""

import struct
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext, redirect_stderr
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import torch
from huggingface_hub.errors import StrictDataclassError
from safetensors import SafetensorError
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)
from transformers.utils import logging

from probing.errors import (
    BadConfig,
    BadInput,
    BadWeights,
    BrokenTokenizer,
    NoFastTokenizer,
    TooLarge,
    UnsupportedModel,
)
from probing.files.adapters import Adapter, locate_adapter, split_adapter
from probing.files.architectures import require_kind
from probing.files.clean_folder import clean_folder
from probing.files.description import Description, describe
from probing.files.listing import Listing
from probing.files.model_files import ModelFiles, locate
from probing.kinds import Kind
from probing.language_model import ModelCard
from probing.scoring.adapters import merged, require_peft
from probing.scoring.causal import CausalModel
from probing.scoring.encoder_decoder import EncoderDecoderModel
from probing.scoring.masked import MaskedModel
from probing.scoring.spans import span_encoder
from probing.scoring.trial import try_network, try_tokenizer
from probing.scoring.verbs import AnsweringModel

# For each kind, the class of transformers that loads a network, and ours that scores with it.
CLASSES: Mapping[Kind, tuple[Any, type[AnsweringModel]]] = {
    "causal": (AutoModelForCausalLM, CausalModel),
    "masked": (AutoModelForMaskedLM, MaskedModel),
    "encoder-decoder": (AutoModelForSeq2SeqLM, EncoderDecoderModel),
}
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
LARGEST_BUFFERS = 10**9  # bytes of what a network computes when it is built, such as positions and masks
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

    `model+adapter` names a LoRA adapter as well, a folder or a hub id (`org/name@commit` pins it); it is merged into
    the weights.
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
    base, adapter_name = split_adapter(model)
    adapter = _adapter(adapter_name) if adapter_name else None
    source = _Source.of(base, commit)
    logging.disable_progress_bar()
    on_phase("tokenizer")
    with source.folder() as folder:
        _refuse_config(source, folder)
        tokenizer = _tokenizer(source, folder)
        ids = try_tokenizer(source.where, tokenizer)
        on_phase("weights")
        network = _network(source, folder, DTYPES[dtype], target, spread=device == "auto")
        network = merged(network, adapter) if adapter else network
    card = _card(model, source, network, adapter)
    loaded = CLASSES[source.kind][1](network, tokenizer, card, batch_tokens)
    loaded.usage.notes += source.notes
    if adapter:
        loaded.usage.notes.append(f"The LoRA adapter {adapter.identity} is merged into the weights.")
    on_phase("trial")
    try_network(model, network, ids)
    loaded.check()
    return loaded


def _card(model: str, source: "_Source", network: PreTrainedModel, adapter: Adapter | None) -> ModelCard:
    return ModelCard(
        id=model,
        kind=source.kind,
        architecture=type(network).__name__,
        parameters=network.num_parameters(),
        commit=source.files.commit,
        source=source.files.source,
        files=source.files.digests() | (adapter.digests() if adapter else {}),
        adapter=adapter.identity if adapter else "",
    )


def _adapter(name: str) -> Adapter:
    """Check an adapter, and that there is a library to merge it."""
    adapter = locate_adapter(name)
    require_peft()
    return adapter


def load_tokenizer(model: str, commit: str = "") -> tuple[PreTrainedTokenizerBase, Kind]:
    """Load the tokenizer alone, and return it with the kind of its model."""
    source = _Source.of(split_adapter(model)[0], commit)
    with source.folder() as folder:
        _refuse_config(source, folder)
        return _tokenizer(source, folder), source.kind


@dataclass(frozen=True)
class _Source:
    """A model's files after all checks. Of a GGUF file, there is no listing and no description."""

    files: ModelFiles
    kind: Kind
    listing: Listing | None = None
    description: Description | None = None

    @classmethod
    def of(cls, model: str, commit: str) -> "_Source":
        """Locate the model's files and check those that are on this disk now, even if they come from a hub."""
        files = locate(model, commit)
        if files.gguf:
            return cls(files, "causal")
        listing = files.listing()
        description = describe(listing)
        return cls(files, require_kind(description.architecture), listing, description)

    @property
    def where(self) -> str:
        """The path of the folder or GGUF file, for messages."""
        return str(self.files.folder / self.files.gguf)

    @property
    def notes(self) -> list[str]:
        """What the checks have ignored."""
        return list(self.description.notes) if self.description else []

    @property
    def parameters(self) -> int:
        """The number of stored parameters, 0 if it is not known."""
        return self.description.weights.parameters if self.description else 0

    def folder(self) -> AbstractContextManager[Path]:
        """Return a context in which there is a folder that only holds what the checks have seen."""
        if self.listing is None or self.description is None:
            return nullcontext(self.files.path(self.files.gguf).parent)
        return clean_folder(self.files, self.listing, self.description.config)

    def arguments(self, folder: Path) -> dict[str, Any]:
        """Return arguments that make the loaders of transformers read these files and nothing else."""
        arguments: dict[str, Any] = {"pretrained_model_name_or_path": folder, "local_files_only": True}
        if self.files.gguf:
            return arguments | {"gguf_file": self.files.path(self.files.gguf).name}
        return arguments | {"trust_remote_code": False}

    @property
    def again(self) -> str:
        """What to do about damaged files."""
        return "Copy it again." if self.files.gguf else "Save it again with save_pretrained."


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


def _refuse_config(source: _Source, folder: Path) -> None:
    """Raise `BadConfig` if transformers cannot read the config; the loaders would blame the tokenizer."""
    if source.files.gguf:
        return
    try:
        AutoConfig.from_pretrained(**source.arguments(folder))
    except LOADING_ERRORS as error:
        reason = " ".join(str(error).split()).replace(str(folder), str(source.files.folder))[:300].rstrip(". ")
        raise BadConfig(f"The config in {source.where} cannot be read: {reason}.", source.again) from error


def _tokenizer(source: _Source, folder: Path) -> Any:
    try:
        tokenizer = AutoTokenizer.from_pretrained(**source.arguments(folder))
    except (KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError):
        raise
    except BaseException as error:  # the tokenizers library raises nothing more specific, and panics of Rust
        reason = first_line(error).replace(str(folder), str(source.files.folder))
        raise BrokenTokenizer(f"The tokenizer in {source.where} cannot be loaded: {reason}", source.again) from error
    refuse_tokenizer(tokenizer, source.kind, f"The tokenizer in {source.where}", source.again)
    return tokenizer


def refuse_tokenizer(tokenizer: PreTrainedTokenizerBase, kind: Kind, what: str, again: str) -> None:
    """Raise where a model of this kind cannot be scored with the tokenizer; `what` begins the sentence that says so."""
    if not tokenizer.is_fast:
        raise NoFastTokenizer(f"{what} is not a fast one.", again)
    if kind == "encoder-decoder":
        span_encoder(tokenizer)  # raises if it has no blanks
    if kind == "masked" and tokenizer.mask_token is None:
        raise UnsupportedModel(
            f"{what} has no mask token, so nothing can be hidden.",
            "Save the model with the tokenizer that it was trained with.",
        )


def _network(source: _Source, folder: Path, dtype: torch.dtype, device: torch.device, spread: bool) -> PreTrainedModel:
    """Load the network, after building it without memory to see whether all of its weights are there."""
    auto = CLASSES[source.kind][0]
    options = source.arguments(folder) | {"dtype": dtype, "output_loading_info": True}
    if source.description:
        options["use_safetensors"] = True
    try:
        with redirect_stderr(StringIO()):  # the progress bar of reading GGUF cannot be switched off
            if source.description:
                _compare(source.where, *_quietly(auto, **options, device_map="meta", ignore_mismatched_sizes=True))
            device_map = _placement(source.parameters, dtype, device, spread)
            network, info = auto.from_pretrained(**options, device_map=device_map)
    except LOADING_ERRORS as error:
        if isinstance(error, torch.OutOfMemoryError):
            raise TooLarge(
                "The model does not fit on the device.", "Use a larger device or --dtype bfloat16."
            ) from error
        reason = first_line(error).replace(str(folder), str(source.files.folder))
        raise BadConfig(f"The model in {source.where} cannot be loaded: {reason}", source.again) from error
    _refuse_missing(source.where, info["missing_keys"])
    loaded: PreTrainedModel = network
    return loaded


def _quietly(auto: Any, **options: Any) -> tuple[PreTrainedModel, dict[str, Any]]:
    """Return the network and what the loader says about it, without its long report of weights that do not fit.

    Nothing is initialized: some networks compute masks in ordinary memory for that, of any size that the config names.
    """
    verbosity, initialize = logging.get_verbosity(), PreTrainedModel.initialize_weights
    logging.set_verbosity_error()
    PreTrainedModel.initialize_weights = lambda network: None
    try:
        network, info = auto.from_pretrained(**options)
    finally:
        logging.set_verbosity(verbosity)
        PreTrainedModel.initialize_weights = initialize
    return network, info


def _compare(where: str, network: PreTrainedModel, info: dict[str, Any]) -> None:
    """Raise `BadConfig` or `BadWeights` if the files of weights are not those of the network that the config builds.

    `network`: on the meta device, where it takes no memory. Its buffers are computed and not stored, so their size is
    limited here.
    """
    if info["mismatched_keys"]:
        name, stored, built = sorted(info["mismatched_keys"])[0]
        raise BadConfig(
            f"The config in {where} describes another model than the weights: "
            f"{name} is {_shape(built)} by the config, but {_shape(stored)} in the file.",
            "Use the config that the model was saved with.",
        )
    _refuse_missing(where, info["missing_keys"])
    buffers = sum(buffer.numel() * buffer.itemsize for buffer in network.buffers())
    if buffers > LARGEST_BUFFERS:
        raise BadConfig(
            f"The config in {where} asks for {buffers / 1e9:,.1f} GB beside the weights, for positions and masks.",
            "Use the config that the model was saved with.",
        )


def _refuse_missing(where: str, names: Collection[str]) -> None:
    """Raise `BadWeights` if weights are missing, which transformers fills with random numbers."""
    if names:
        raise BadWeights(
            f"The model in {where} lacks {min(names)} and {len(names) - 1} more of its weights.",
            "Use the checkpoint that was saved with its language modelling head.",
        )


def _shape(sizes: Iterable[int]) -> str:
    return " x ".join(map(str, sizes))


def _placement(parameters: int, dtype: torch.dtype, device: torch.device, spread: bool) -> Any:
    """Return the device, or "auto" to spread a model over several GPUs if one of them cannot hold it."""
    if not (spread and device.type == "cuda" and torch.cuda.device_count() > 1):
        return device
    fits = parameters * dtype.itemsize <= ONE_GPU_SHARE * torch.cuda.mem_get_info(device)[0]
    return device if fits else "auto"


def first_line(error: BaseException) -> str:
    """Return the first line of the error's message as a sentence."""
    return str(error).strip().split("\n")[0].rstrip(".: ") + "."
