"""Loading of a model's network and tokenizer, after a comparison of its config with its files of weights.

What a model of its kind cannot be scored with is refused. The network and the tokenizer of a GGUF file are kept in
Hugging Face format, if they are the same when they are read again.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import redirect_stderr
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import torch
import transformers
from safetensors import SafetensorError
from safetensors.torch import save_file
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from probing.errors import BadConfig, BadInput, BadWeights, NoFastTokenizer, TooLarge, UnsupportedModel, first_named
from probing.files.adapters import split_adapter
from probing.files.configs import is_listed
from probing.files.description import weights_of
from probing.files.gguf_cache import GgufCache
from probing.files.model_files import HUB_GGUF, tokenizer_alone
from probing.files.text_parts import RENAMED, of_text
from probing.files.weights import QUANTISATION
from probing.kinds import Kind
from probing.machine_memory import available_memory
from probing.scoring.gguf_tokens import follow_gguf
from probing.scoring.loading_options import LOADING_ERRORS, SAVE_AGAIN, CheckedSource, LoadingOptions, first_line
from probing.scoring.network_state import without_advice
from probing.scoring.quantised import (
    loading_options,
    plain_config,
    refuse_bad_layers,
    refuse_bad_statistics,
    without_packed,
)
from probing.scoring.spans import span_encoder
from probing.scoring.tokenizer_files import loaded_tokenizer, read_tokenizer
from probing.scoring.trial import try_tokenizer

# The class of transformers that loads a network of each kind.
AUTO_CLASSES: Mapping[Kind, Any] = {
    "causal": AutoModelForCausalLM,
    "masked": AutoModelForMaskedLM,
    "encoder-decoder": AutoModelForSeq2SeqLM,
}
# Returns a network and what transformers says about its loading.
Loader = Callable[..., tuple[PreTrainedModel, dict[str, Any]]]
LARGEST_BUFFERS = 10**9  # bytes of what a network computes when it is built, such as positions and masks
WEIGHTS = "model.safetensors"
CONFIG = "config.json"
# Of the memory that is free, the share that a second copy of the weights may take.
MEMORY_SHARE = 0.5
NAMED_WEIGHTS = 4  # a note names no more
OF_LAYER = re.compile(r"\.\d+\.")  # in the name of a weight


def load_network(source: CheckedSource, folder: Path, options: LoadingOptions) -> tuple[PreTrainedModel, list[str]]:
    """Load the network, after building it without memory to see whether all of its weights are there.

    Returns a note on stored weights that the network does not have as well: whoever saved them may have computed more.
    """
    load = _loader(source)
    arguments = source.arguments(folder) | {"dtype": options.dtype, "output_loading_info": True}
    if options.attention:
        arguments["attn_implementation"] = options.attention
    _refuse_quantising(source, options)
    quantised = loading_options(source.quantisation, options.quantised, folder, options.device, options.dtype)
    try:
        with redirect_stderr(StringIO()):  # the progress bar of reading GGUF cannot be switched off
            if source.description:
                arguments["use_safetensors"] = True
                if source.description.text_part and source.description.text_part.stands_alone:
                    arguments["key_mapping"] = RENAMED
                _compare_with_files(source, load, folder, arguments)
            placement = options.placement(source.parameters)
            with without_advice():
                network, info = load(**arguments, **quantised, device_map=placement)
    except LOADING_ERRORS as error:
        if isinstance(error, torch.OutOfMemoryError):
            raise TooLarge(
                "The model does not fit on the device.", "Use a larger device or --dtype bfloat16."
            ) from error
        reason = first_line(error).replace(str(folder), str(source.files.folder))
        raise BadConfig(f"The model in {source.where} cannot be loaded: {reason}", source.remedy) from error
    _refuse_missing(source, info["missing_keys"])
    refuse_bad_layers(source.where, network)
    return network, _left_out(source, network, info["unexpected_keys"])


def _loader(source: CheckedSource) -> Loader:
    """Return what loads the network: that of the automatic class of its kind, or of the class that the config names.

    The automatic ones do not list the types of some networks, among them parts of larger models that were saved alone.
    """
    load: Loader = AUTO_CLASSES[source.kind].from_pretrained
    if source.description is None:
        return load
    model_type = source.description.config.get("model_type")
    named = getattr(transformers, source.description.architecture, None)
    is_its_class = model_type == getattr(getattr(named, "config_class", None), "model_type", None)
    part = source.description.text_part
    if named and part and not part.stands_alone:
        return partial(_load_text_part, named)
    if named and is_its_class and not is_listed(source.kind, str(model_type)):
        load = named.from_pretrained
    return load


def _load_text_part(whole: type[PreTrainedModel], **options: Any) -> tuple[PreTrainedModel, dict[str, Any]]:
    """Return a network of a whole model without all that texts do not pass through, and what the loader says of it."""

    def build(network: PreTrainedModel, *arguments: Any, **more: Any) -> None:
        whole.__init__(network, *arguments, **more)
        _keep(of_text(_parameters(network)).keys(), network)

    # from_pretrained builds the network by its class and fills it in one call. A class of the loading's own is the only
    # place between the two, and what is removed there takes no memory. transformers renames tensors by the name and the
    # module of the class, which are therefore those of the whole.
    alone: Any = type(whole.__name__, (whole,), {"__init__": build, "__module__": whole.__module__})
    network, info = alone.from_pretrained(**options)
    # Pickling finds a class by its name and module, where only the whole is; the two differ in `__init__` alone.
    network.__class__ = whole
    return network, info


def _keep(names: Collection[str], module: torch.nn.Module, prefix: str = "") -> None:
    """Remove the modules of which no parameter has one of these names."""
    for name, child in list(module.named_children()):
        path = f"{prefix}{name}."
        inside = {f"{path}{parameter}" for parameter in _parameters(child)}
        if inside and inside.isdisjoint(names):
            setattr(module, name, None)
        elif not inside.issubset(names):
            _keep(names, child, path)


def _parameters(module: torch.nn.Module) -> dict[str, torch.nn.Parameter]:
    """Return the parameters of a module, those that are in it twice under both names."""
    return dict(module.named_parameters(remove_duplicate=False))


def _refuse_quantising(source: CheckedSource, options: LoadingOptions) -> None:
    if options.quantised and (source.quantisation or source.files.gguf):
        raise BadInput(
            f"The weights in {source.where} are quantised already, or a GGUF file, which is computed as it is.",
            "Leave out quantization.",
        )


def _compare_with_files(source: CheckedSource, load: Loader, folder: Path, arguments: Mapping[str, Any]) -> None:
    """Build the network of the config without memory, and compare it with the files of weights."""
    assert source.description is not None and source.listing is not None, "a GGUF file is not compared"
    plain = {}
    if source.quantisation:
        files = weights_of(source.listing)
        refuse_bad_statistics(source.where, folder, files, source.description.tensors)
        plain = {"config": plain_config(folder)}
    network, info = _quietly(load, **arguments, **plain, device_map="meta", ignore_mismatched_sizes=True)
    _compare(source, network, without_packed(info) if source.quantisation else info)


def _quietly(load: Loader, **options: Any) -> tuple[PreTrainedModel, dict[str, Any]]:
    """Return the network and what the loader says about it.

    Nothing is initialized: some networks compute masks in ordinary memory for that, of any size that the config names.
    """
    initialize = PreTrainedModel.initialize_weights
    PreTrainedModel.initialize_weights = lambda network: None
    try:
        with without_advice():
            network, info = load(**options)
    finally:
        PreTrainedModel.initialize_weights = initialize
    return network, info


def _compare(source: CheckedSource, network: PreTrainedModel, info: dict[str, Any]) -> None:
    """Raise `BadConfig` or `BadWeights` if the files of weights are not those of the network that the config builds.

    `network`: on the meta device, where it takes no memory. Its buffers are computed and not stored, so their size is
    limited here.
    """
    if info["mismatched_keys"]:
        name, stored, built = sorted(info["mismatched_keys"])[0]
        raise BadConfig(
            f"The config in {source.where} describes another model than the weights: "
            f"{name} is {_shape(built)} by the config, but {_shape(stored)} in the file.",
            "Use the config that the model was saved with.",
        )
    _refuse_missing(source, info["missing_keys"])
    buffers = sum(buffer.numel() * buffer.itemsize for buffer in network.buffers())
    if buffers > LARGEST_BUFFERS:
        raise BadConfig(
            f"The config in {source.where} asks for {buffers / 1e9:,.1f} GB beside the weights, for positions and "
            "masks.",
            "Use the config that the model was saved with.",
        )


def _refuse_missing(source: CheckedSource, names: Collection[str]) -> None:
    """Raise `BadWeights` if weights are missing, which transformers fills with random numbers."""
    if not names:
        return
    weights = f"{min(names)} and {len(names) - 1} more of its weights"
    if source.description and (part := source.description.text_part):
        raise BadWeights(
            f"{part.architecture}, the text part of {part.whole} in {source.where}, finds no tensors for {weights} "
            "under the names that transformers gives them.",
            "Save the text part as a model of its own.",
        )
    raise BadWeights(
        f"The model in {source.where} lacks {weights}.",
        "Use the checkpoint that was saved with its language modelling head.",
    )


def _left_out(source: CheckedSource, network: PreTrainedModel, names: Collection[str]) -> list[str]:
    """Return a note on stored weights of layers that the network does not have.

    Heads and poolers beside the head in use change no score. Weights beside a text part are named elsewhere, and
    quantised weights are stored under other names.
    """
    of_layers = sorted(filter(OF_LAYER.search, names))
    is_plain = source.description and not source.description.text_part and not source.quantisation
    if not of_layers or not is_plain:
        return []
    named = first_named(of_layers, NAMED_WEIGHTS)
    return [f"Weights of layers that {type(network).__name__} does not have by the config are ignored: {named}."]


def _shape(sizes: Iterable[int]) -> str:
    return " x ".join(map(str, sizes))


def load_tokenizer(model: str, commit: str = "") -> tuple[PreTrainedTokenizerBase, Kind]:
    """Load the tokenizer alone, and return it with the kind of its model."""
    source = CheckedSource.of(split_adapter(model)[0], commit)
    with source.folder() as folder:
        return checked_tokenizer(source, folder)[0], source.kind


def load_tokenizer_alone(model: str) -> PreTrainedTokenizerBase:
    """Load the tokenizer of a causal model: a folder, a GGUF file, or a hub id of which nothing else is downloaded."""
    if Path(model).suffix == ".gguf" or model.startswith(HUB_GGUF):
        return load_tokenizer(model)[0]
    with tokenizer_alone(model) as folder:
        arguments = {"pretrained_model_name_or_path": folder, "local_files_only": True, "trust_remote_code": False}
        tokenizer, _ = read_tokenizer(model, arguments, SAVE_AGAIN)
    refuse_tokenizer(tokenizer, "causal", f"The tokenizer of {model}", SAVE_AGAIN)
    try_tokenizer(model, tokenizer)
    return tokenizer


def checked_tokenizer(source: CheckedSource, folder: Path) -> tuple[Any, list[str]]:
    """Load the tokenizer in a folder; return it with notes on its tokens.

    The config is read first, as without it the loader would blame the tokenizer.
    """
    _refuse_config(source, folder)
    where, arguments, gguf = source.where, source.arguments(folder), source.files.gguf
    if gguf:
        tokenizer = loaded_tokenizer(where, arguments, source.remedy)
        notes = follow_gguf(where, tokenizer, source.files.path(gguf))
    else:
        tokenizer, notes = read_tokenizer(where, arguments, source.remedy)
    refuse_tokenizer(tokenizer, source.kind, f"The tokenizer in {where}", source.remedy)
    return tokenizer, notes


def _refuse_config(source: CheckedSource, folder: Path) -> None:
    """Raise `BadConfig` if transformers cannot read the config; the loaders would blame the tokenizer."""
    if source.files.gguf:
        return
    try:
        AutoConfig.from_pretrained(**source.arguments(folder))
    except LOADING_ERRORS as error:
        reason = " ".join(str(error).split()).replace(str(folder), str(source.files.folder))[:300].rstrip(". ")
        raise BadConfig(f"The config in {source.where} cannot be read: {reason}.", source.remedy) from error


def refuse_tokenizer(tokenizer: PreTrainedTokenizerBase, kind: Kind, what: str, remedy: str) -> None:
    """Raise if a model of this kind cannot be scored with the tokenizer; `what` is the subject of the error message."""
    if not tokenizer.is_fast:
        raise NoFastTokenizer(f"{what} is not a fast one.", remedy)
    if kind == "encoder-decoder":
        span_encoder(tokenizer)  # raises if it has no blanks
    if kind == "masked" and tokenizer.mask_token is None:
        raise UnsupportedModel(
            f"{what} has no mask token, so nothing can be hidden.",
            "Save the model with the tokenizer that it was trained with.",
        )


class Differs(OSError):
    """What was written is not read again as what it was."""


def keep_network(key: str, network: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, auto: Any) -> None:
    """Keep a network and its tokenizer in the user's cache, where that is possible and changes nothing.

    They are read again before they are kept: every weight and everything that turns texts into tokens must be the same.
    `auto`: the class of transformers that loads the network.
    """
    size = network.get_memory_footprint()
    if size > MEMORY_SHARE * available_memory():
        return

    def write(folder: Path) -> None:
        try:
            _write(folder, network, tokenizer)
            _refuse_other_tokenizer(folder, tokenizer)
            _refuse_other_network(folder, network, auto)
        except (SafetensorError, ValueError, RuntimeError, LookupError, TypeError, AttributeError) as error:
            raise Differs(str(error)) from error

    GgufCache.of_user().keep(key, size, write)


def unpack_gguf(file: str, folder: Path) -> None:
    """Write the network of a GGUF file in float32, and its tokenizer, as files that are read much faster."""
    source, options = CheckedSource.of(file, ""), LoadingOptions.of("cpu", None, "float32", "none", "")
    with source.folder() as files:
        tokenizer, _ = checked_tokenizer(source, files)
        network, _ = load_network(source, files, options)
    _write(folder, network, tokenizer)


def _write(folder: Path, network: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
    """Write the config without its mention of GGUF, and each weight once, as `save_pretrained` refuses to do both."""
    tokenizer.save_pretrained(folder)
    network.config.architectures = [type(network).__name__]  # which checks of a folder ask for, and no GGUF file names
    config = {name: value for name, value in network.config.to_diff_dict().items() if name != QUANTISATION}
    (folder / CONFIG).write_text(json.dumps(config), encoding="utf-8")
    network.generation_config.save_pretrained(folder)
    tied = getattr(network, "all_tied_weights_keys", {})
    weights = {name: weight.cpu().contiguous() for name, weight in network.state_dict().items() if name not in tied}
    save_file(weights, folder / WEIGHTS, metadata={"format": "pt"})


def _refuse_other_network(folder: Path, network: PreTrainedModel, auto: Any) -> None:
    """Raise `Differs` unless the folder holds the same network: the same config, and the same values of all weights."""
    again, info = auto.from_pretrained(
        folder, local_files_only=True, use_safetensors=True, dtype=network.dtype, output_loading_info=True
    )
    weights = again.state_dict()
    same = (
        type(again) is type(network)
        and _facts(again) == _facts(network)
        and again.generation_config.to_dict() == network.generation_config.to_dict()
        and not any(info[fault] for fault in ("missing_keys", "unexpected_keys", "mismatched_keys"))
        and weights.keys() == network.state_dict().keys()
        and all(_equal(weight, weights[name]) for name, weight in network.state_dict().items())
    )
    if not same:
        raise Differs("the network")


def _facts(network: PreTrainedModel) -> dict[str, Any]:
    """Return a network's config without its mention of GGUF and the folder that it was read from."""
    return {
        name: value for name, value in network.config.to_dict().items() if name not in (QUANTISATION, "_name_or_path")
    }


def _equal(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one.dtype == other.dtype and torch.equal(one.cpu(), other.cpu())


def _refuse_other_tokenizer(folder: Path, tokenizer: PreTrainedTokenizerBase) -> None:
    """Raise `Differs` unless the folder holds the same tokenizer, with the same special tokens and chat template."""
    again = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    same = (
        type(again) is type(tokenizer)
        and again.backend_tokenizer.to_str() == tokenizer.backend_tokenizer.to_str()
        and again.special_tokens_map == tokenizer.special_tokens_map
        and again.all_special_ids == tokenizer.all_special_ids
        and again.chat_template == tokenizer.chat_template
        and again.model_max_length == tokenizer.model_max_length
        and (again.padding_side, again.truncation_side) == (tokenizer.padding_side, tokenizer.truncation_side)
        and again.model_input_names == tokenizer.model_input_names
    )
    if not same:
        raise Differs("the tokenizer")
