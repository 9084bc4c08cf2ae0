"""Models that help to make a benchmark, a corrector or a judge: loaded as safely as those that are probed."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from transformers import AutoConfig, AutoTokenizer
from transformers.utils import logging

from probing.errors import UnsupportedModel
from probing.files.model_files import locate, refuse_pickles
from probing.scoring.load import BROKEN, first_line


@dataclass(frozen=True)
class Auxiliary:
    """`about`: which model it is, with its commit and the digests of its files."""

    network: Any
    tokenizer: Any
    about: str


def load_auxiliary(model: str, what: str, auto: Callable[[Any], Any], commit: str = "") -> Auxiliary:
    """A hub id or a folder in Hugging Face format, of safetensors, without code of its own.

    `auto`: from its config to the transformers' class that loads it; `what` it should be, for errors.
    """
    files = locate(model, commit)
    if files.gguf:
        raise UnsupportedModel(f"A GGUF file is not {what}.", "Give a folder in Hugging Face format.")
    refuse_pickles(str(files.folder), (path.name for path in files.folder.iterdir()))
    logging.disable_progress_bar()
    where = {"local_files_only": True, "trust_remote_code": False}
    options = {"use_safetensors": True, "dtype": torch.float32, "output_loading_info": True}
    try:
        tokenizer = AutoTokenizer.from_pretrained(files.folder, **where)
        kind = auto(AutoConfig.from_pretrained(files.folder, **where))
        network, info = kind.from_pretrained(files.folder, **where, **options)
    except BROKEN as error:
        raise UnsupportedModel(
            f"{model} is not {what} that can be loaded: {first_line(error)}", "Choose one that was trained for it."
        ) from error
    if missing := sorted(info["missing_keys"]):  # they would be random numbers
        raise UnsupportedModel(f"{model} is not {what}: it lacks {missing[0]}.", "Choose one that was trained for it.")
    if tokenizer.pad_token is None:
        raise UnsupportedModel(f"{model} has no padding token.", "Save it with a tokenizer that names one.")
    digests = ", ".join(f"{name} {digest[:12]}" for name, digest in files.digests().items())
    return Auxiliary(network.eval(), tokenizer, f"{model} {files.commit} ({digests})")
