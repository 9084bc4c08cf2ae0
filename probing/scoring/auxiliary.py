"""Models that help to make a benchmark (a corrector, a judge), loaded with the same precautions as probed models."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from transformers import AutoConfig, AutoTokenizer
from transformers.utils import logging

from probing.errors import UnsupportedModel
from probing.files.description import describe
from probing.files.model_files import locate
from probing.scoring.loading_errors import LOADING_ERRORS, first_line


@dataclass(frozen=True)
class Auxiliary:
    """`description` names the model with its commit and the digests of its files."""

    network: Any
    tokenizer: Any
    description: str


def load_auxiliary(model: str, purpose: str, auto_class: Callable[[Any], Any], commit: str = "") -> Auxiliary:
    """Load a hub id or a folder in Hugging Face format, from safetensors and without running code of its own.

    `auto_class`: maps the model's config to the class of transformers that loads it. `purpose`: what the model should
    be, for error messages.
    """
    files = locate(model, commit, any_head=True)
    if files.gguf:
        raise UnsupportedModel(f"A GGUF file is not {purpose}.", "Give a folder in Hugging Face format.")
    describe(files.listing(), any_head=True)
    logging.disable_progress_bar()
    safely = {"local_files_only": True, "trust_remote_code": False}
    options = {"use_safetensors": True, "dtype": torch.float32, "output_loading_info": True}
    try:
        tokenizer = AutoTokenizer.from_pretrained(files.folder, **safely)
        loader = auto_class(AutoConfig.from_pretrained(files.folder, **safely))
        network, info = loader.from_pretrained(files.folder, **safely, **options)
    except LOADING_ERRORS as error:
        raise UnsupportedModel(
            f"{model} is not {purpose} that can be loaded: {first_line(error)}", "Choose one that was trained for it."
        ) from error
    if missing := sorted(info["missing_keys"]):  # transformers has filled these weights with random numbers
        raise UnsupportedModel(
            f"{model} is not {purpose}: it lacks {missing[0]}.", "Choose one that was trained for it."
        )
    if tokenizer.pad_token is None:
        raise UnsupportedModel(f"{model} has no padding token.", "Save it with a tokenizer that names one.")
    digests = ", ".join(f"{name} {digest[:12]}" for name, digest in files.digests.items())
    return Auxiliary(network.eval(), tokenizer, f"{model} {files.commit} ({digests})")
