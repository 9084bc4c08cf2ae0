"""Loading of a model's network, after a comparison of its config with its files of weights."""

from collections.abc import Collection, Iterable, Mapping
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoModelForSeq2SeqLM, PreTrainedModel
from transformers.utils import logging

from probing.errors import BadConfig, BadInput, BadWeights, TooLarge
from probing.files.description import weights_of
from probing.kinds import Kind
from probing.scoring.checked_source import CheckedSource
from probing.scoring.loading_errors import LOADING_ERRORS, first_line
from probing.scoring.loading_options import LoadingOptions
from probing.scoring.quantised import (
    loading_options,
    plain_config,
    refuse_bad_layers,
    refuse_bad_statistics,
    without_packed,
)

# The class of transformers that loads a network of each kind.
AUTO_CLASSES: Mapping[Kind, Any] = {
    "causal": AutoModelForCausalLM,
    "masked": AutoModelForMaskedLM,
    "encoder-decoder": AutoModelForSeq2SeqLM,
}
LARGEST_BUFFERS = 10**9  # bytes of what a network computes when it is built, such as positions and masks


def load_network(source: CheckedSource, folder: Path, options: LoadingOptions) -> PreTrainedModel:
    """Load the network, after building it without memory to see whether all of its weights are there."""
    auto = AUTO_CLASSES[source.kind]
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
        raise BadConfig(f"The model in {source.where} cannot be loaded: {reason}", source.remedy) from error
    _refuse_missing(source.where, info["missing_keys"])
    refuse_bad_layers(source.where, network)
    loaded: PreTrainedModel = network
    return loaded


def _refuse_quantising(source: CheckedSource, options: LoadingOptions) -> None:
    """Raise `BadInput` where weights are to be quantised that are quantised already."""
    if options.quantised and (source.quantisation or source.files.gguf):
        raise BadInput(
            f"The weights in {source.where} are quantised already, or a GGUF file, which is computed as it is.",
            "Leave out quantization.",
        )


def _compare_with_files(source: CheckedSource, folder: Path, arguments: Mapping[str, Any]) -> None:
    """Build the network of the config without memory, and compare it with the files of weights."""
    assert source.description is not None and source.listing is not None, "a GGUF file is not compared"
    plain = {}
    if source.quantisation:
        files = weights_of(source.listing)
        refuse_bad_statistics(source.where, folder, files, source.description.tensors)
        plain = {"config": plain_config(folder)}
    auto = AUTO_CLASSES[source.kind]
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
