"""Safe loading of models: files are checked first, and no code of theirs is run."""

import struct
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext, redirect_stderr
from dataclasses import dataclass, replace
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
from probing.extras import extra_package
from probing.files.adapters import Adapter, locate_adapter, split_adapter
from probing.files.architectures import require_kind
from probing.files.clean_folder import clean_folder
from probing.files.description import Description, describe, weights_of
from probing.files.gguf_cache import GgufCache, key_of
from probing.files.listing import Listing
from probing.files.model_files import ModelFiles, locate
from probing.files.quantisation import Quantisation
from probing.kinds import Kind
from probing.language_model import ModelCard
from probing.model_source import refuse_bad_batch
from probing.revisions import position
from probing.scoring.adapters import merged, require_peft
from probing.scoring.causal import CausalModel
from probing.scoring.encoder_decoder import EncoderDecoderModel
from probing.scoring.kept_gguf import keep_network
from probing.scoring.loading_options import LoadingOptions
from probing.scoring.masked import MaskedModel
from probing.scoring.quantised import (
    loading_options,
    plain_config,
    refuse_bad_layers,
    refuse_bad_statistics,
    without_packed,
)
from probing.scoring.spans import span_encoder
from probing.scoring.trial import try_network, try_tokenizer
from probing.scoring.verbs import AnsweringModel

# For each kind, the class of transformers that loads a network, and ours that scores with it.
CLASSES: Mapping[Kind, tuple[Any, type[AnsweringModel]]] = {
    "causal": (AutoModelForCausalLM, CausalModel),
    "masked": (AutoModelForMaskedLM, MaskedModel),
    "encoder-decoder": (AutoModelForSeq2SeqLM, EncoderDecoderModel),
}
LARGEST_BUFFERS = 10**9  # bytes of what a network computes when it is built, such as positions and masks
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
    tokenizer: str = "",
    device: str = "auto",
    device_map: str | Mapping[str, Any] | None = None,
    dtype: Any = "float32",
    quantization: str = "none",
    attn_implementation: str = "",
    batch_tokens: int | None = None,
    adapter: str = "",
    on_phase: Callable[[str], None] = lambda phase: None,
) -> AnsweringModel:
    """Load a hub id (at `commit`), a folder in Hugging Face format, or a `.gguf` file, and run the self-check.

    Models of a hub are downloaded with the token in HF_TOKEN, or that of `hf auth login`, if there is one.

    `model+adapter` names a LoRA adapter as well, a folder or a hub id (`org/name@commit` pins it); it is merged into
    the weights. `adapter`: the same beside a model whose path has a plus.
    `tokenizer`: the folder or hub id whose tokenizer a folder is loaded with, in place of its own. A checkpoint such as
    `checkpoint-500` that has none takes that of the folder around it.
    `device`: auto (a GPU if there is one), cpu, cuda, cuda:1 ... `device_map`: where the parts of a model go that is
    spread over several devices, as accelerate takes it ("auto", "balanced", "sequential", or a mapping from modules to
    devices); in place of `device`.
    `dtype`: number format of the weights: float32, bfloat16 or float16, by name ("torch.bfloat16" too) or as
    `torch.dtype`. "auto": as they are stored on a GPU; on a CPU bfloat16 where they are stored in 16 bits and a short
    trial finds that faster on this processor, else float32, as for GGUF files.
    `quantization`: "4bit" or "8bit" quantises plain weights by bitsandbytes while they are loaded. A checkpoint that is
    stored quantised is loaded as it is; its layers compute in `dtype`.
    `attn_implementation`: sdpa or eager; by default what transformers chooses.
    `batch_tokens`: token positions per batch, calibrated on the real work if not given.
    `on_phase` is called with "tokenizer", "weights" and "trial" before each of these phases begins.
    Raises ModelNotFound, UnsupportedModel, UnsafeModel, SourceUnavailable or BadInput.

    Examples:
        >>> import probing
        >>> model = probing.load("openai-community/gpt2", device="cpu")
        >>> model.card.kind, model.card.id
        ('causal', 'openai-community/gpt2')
        >>> probing.run(model, "starter", relations=["country_capital"], progress=False).record["device"]
        'cpu'
    """
    options = LoadingOptions.of(device, device_map, dtype, quantization, attn_implementation)
    refuse_bad_batch(batch_tokens)
    base, adapter_name = (model, adapter) if adapter else split_adapter(model)
    lora = _adapter(adapter_name) if adapter_name else None
    source = _Source.of(base, commit, tokenizer)
    options = options.for_weights(source.stored_dtype)
    logging.disable_progress_bar()
    on_phase("tokenizer")
    source = source.with_kept(options)
    with source.folder() as folder:
        _refuse_config(source, folder)
        loaded_tokenizer = _tokenizer(source, folder)
        ids = try_tokenizer(source.where, loaded_tokenizer)
        on_phase("weights")
        network = _network(source, folder, options)
        if source.key and not source.kept:
            keep_network(source.key, network, loaded_tokenizer, CLASSES[source.kind][0])
        card = _card(model, source, network, options, lora, commit)
        network = merged(network, lora) if lora else network
    loaded = CLASSES[source.kind][1](network, loaded_tokenizer, card, batch_tokens)
    loaded.usage.notes += source.notes
    if lora:
        place = "added to the layers" if card.quantisation else "merged into the weights"
        loaded.usage.notes.append(f"The LoRA adapter {lora.identity} is {place}.")
    on_phase("trial")
    with loaded.scoring_state():
        try_network(model, network, ids)
    loaded.check()
    return loaded


def _card(
    model: str,
    source: "_Source",
    network: PreTrainedModel,
    options: LoadingOptions,
    adapter: Adapter | None,
    commit: str,
) -> ModelCard:
    quantised = source.quantisation or options.quantised
    return ModelCard(
        id=model,
        kind=source.kind,
        architecture=type(network).__name__,
        parameters=network.num_parameters(),
        commit=source.files.commit,
        source=source.files.source,
        files=source.files.digests | (adapter.digests() if adapter else {}),
        adapter=adapter.identity if adapter else "",
        revision=_revision(commit, source.files),
        quantisation=quantised.title if quantised else "",
    )


def _revision(commit: str, files: ModelFiles) -> str:
    """Return the branch, tag or step that the caller named, or a folder is named for; empty for a commit's own hash."""
    if files.source == "hub":
        return "" if files.commit.startswith(commit) else commit
    return files.folder.name if position(files.folder.name) else ""


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
    """A model's files after all checks. Of a GGUF file, there is no listing and no description.

    `key`: the name under which the network of a GGUF file is kept, empty for other files. `kept`: the folder that it
    was kept in earlier and is read from, None if there is none.
    """

    files: ModelFiles
    kind: Kind
    listing: Listing | None = None
    description: Description | None = None
    key: str = ""
    kept: Path | None = None

    @classmethod
    def of(cls, model: str, commit: str, tokenizer: str = "") -> "_Source":
        """Locate the model's files and check those that are on this disk now, even if they come from a hub."""
        files = locate(model, commit, tokenizer=tokenizer)
        if files.gguf:
            extra_package("gguf", "gguf", "Reading a GGUF file")
            return cls(files, "causal")
        listing = files.listing()
        description = describe(listing)
        return cls(files, require_kind(description.architecture), listing, description)

    def with_kept(self, options: LoadingOptions) -> "_Source":
        """Return the source that reads the network of a GGUF file where it was kept earlier, if it was."""
        if not self.files.gguf:
            return self
        key = key_of(self.files.digests[self.files.gguf], str(options.dtype))
        return replace(self, key=key, kept=GgufCache.of_user().find(key))

    @property
    def where(self) -> str:
        """The path of the folder or GGUF file, for messages."""
        return str(self.files.folder / self.files.gguf)

    @property
    def notes(self) -> list[str]:
        """What the checks have ignored."""
        return list(self.description.notes) if self.description else []

    @property
    def quantisation(self) -> Quantisation | None:
        """How the files of weights are quantised, None where they are not, or are GGUF."""
        return self.description.quantisation if self.description else None

    @property
    def parameters(self) -> int:
        """The number of stored parameters, 0 if it is not known."""
        return self.description.weights.parameters if self.description else 0

    @property
    def stored_dtype(self) -> str:
        """The number format of most of the stored weights; that of GGUF files, which are de-quantised, is float32."""
        return self.description.weights.dtype if self.description else "float32"

    def folder(self) -> AbstractContextManager[Path]:
        """Return a context in which there is a folder that only holds what the checks have seen."""
        if self.listing is None or self.description is None:
            return nullcontext(self.kept or self.files.path(self.files.gguf).parent)
        return clean_folder(self.files, self.listing, self.description.config)

    def arguments(self, folder: Path) -> dict[str, Any]:
        """Return arguments that make the loaders of transformers read these files and nothing else."""
        arguments: dict[str, Any] = {"pretrained_model_name_or_path": folder, "local_files_only": True}
        if self.files.gguf and not self.kept:
            return arguments | {"gguf_file": self.files.path(self.files.gguf).name}
        return arguments | {"trust_remote_code": False}

    @property
    def again(self) -> str:
        """What to do about damaged files."""
        return "Copy it again." if self.files.gguf else "Save it again with save_pretrained."


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


def _network(source: _Source, folder: Path, options: LoadingOptions) -> PreTrainedModel:
    """Load the network, after building it without memory to see whether all of its weights are there."""
    auto = CLASSES[source.kind][0]
    arguments = source.arguments(folder) | {"dtype": options.dtype, "output_loading_info": True}
    if options.attention:
        arguments["attn_implementation"] = options.attention
    _refuse_quantising(source, options)
    quantised = loading_options(source.quantisation, options.quantised, folder, options.device, options.dtype)
    try:
        with redirect_stderr(StringIO()):  # the progress bar of reading GGUF cannot be switched off
            if source.description:
                arguments["use_safetensors"] = True
                _compare_with_files(source, folder, arguments)
            placement = options.placement(source.parameters)
            network, info = auto.from_pretrained(**arguments, **quantised, device_map=placement)
    except LOADING_ERRORS as error:
        if isinstance(error, torch.OutOfMemoryError):
            raise TooLarge(
                "The model does not fit on the device.", "Use a larger device or --dtype bfloat16."
            ) from error
        reason = first_line(error).replace(str(folder), str(source.files.folder))
        raise BadConfig(f"The model in {source.where} cannot be loaded: {reason}", source.again) from error
    _refuse_missing(source.where, info["missing_keys"])
    refuse_bad_layers(source.where, network)
    loaded: PreTrainedModel = network
    return loaded


def _refuse_quantising(source: _Source, options: LoadingOptions) -> None:
    """Raise `BadInput` where weights are to be quantised that are quantised already."""
    if options.quantised and (source.quantisation or source.files.gguf):
        raise BadInput(
            f"The weights in {source.where} are quantised already, or a GGUF file, which is computed as it is.",
            "Leave out quantization.",
        )


def _compare_with_files(source: _Source, folder: Path, arguments: Mapping[str, Any]) -> None:
    """Build the network of the config without memory, and compare it with the files of weights."""
    assert source.description is not None and source.listing is not None, "a GGUF file is not compared"
    plain = {}
    if source.quantisation:
        files = weights_of(source.listing)
        refuse_bad_statistics(source.where, folder, files, source.description.tensors)
        plain = {"config": plain_config(folder)}
    auto = CLASSES[source.kind][0]
    network, info = _quietly(auto, **arguments, **plain, device_map="meta", ignore_mismatched_sizes=True)
    _compare(source.where, network, without_packed(info) if source.quantisation else info)


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


def first_line(error: BaseException) -> str:
    """Return the first line of the error's message as a sentence."""
    return str(error).strip().split("\n")[0].rstrip(".: ") + "."
