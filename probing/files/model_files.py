"""A model's files: finding or downloading them, and refusing those that could run code.

Models are untrusted input: weights must be safetensors, never pickles, and code from a repository is never run.
"""

import hashlib
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from probing.errors import BadInput, ModelNotFound, UnsafeModel
from probing.files.hub_client import HubClient

SHARD = re.compile(r"model-\d+-of-\d+\.safetensors")
WEIGHTS = ("model.safetensors", "model.safetensors.index.json")
WANTED = {
    "config.json",
    "generation_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    *WEIGHTS,
}
# Keys of a config, at any depth, that make loaders download or run something.
CODE_KEYS = re.compile(
    r"auto_map|custom_pipelines|trust_remote_code|_?attn_implementation(_internal)?|.*kernel_config|use_kernels"
)


@dataclass(frozen=True)
class ModelFiles:
    """A model's files on this disk: a folder in Hugging Face format, or one GGUF file in it."""

    folder: Path
    source: Literal["hub", "folder", "gguf"]
    gguf: str = ""
    commit: str = ""

    def digests(self) -> dict[str, str]:
        """Return the SHA-256 of each file that is loaded."""
        names = [self.gguf] if self.gguf else wanted(path.name for path in self.folder.iterdir())
        digests = {}
        for name in names:
            with (self.folder / name).open("rb") as file:
                digests[name] = hashlib.file_digest(file, "sha256").hexdigest()
        return digests


def wanted(names: Iterable[str]) -> list[str]:
    """Return those of the files that loading needs, in order; nothing else is downloaded or read."""
    return sorted(name for name in names if name in WANTED or SHARD.fullmatch(name))


def locate(model: str, commit: str = "") -> ModelFiles:
    """Find the model's GGUF file or folder, else download the model of that id from the hub.

    `commit`: of a hub model; the newest if empty.
    """
    path = Path(model)
    if commit and path.exists():
        raise BadInput(f"{model} is on this disk, where it has no commits.", "Leave the commit out.")
    if path.suffix == ".gguf":
        if not path.is_file():
            raise ModelNotFound(f"There is no file {model}.", "Check the path.")
        return ModelFiles(path.parent, "gguf", path.name)
    if path.is_dir():
        files = sorted(path.glob("*.gguf"))
        if len(files) == 1 and not (path / "config.json").exists():
            return ModelFiles(path, "gguf", files[0].name)
        return ModelFiles(path, "folder")
    if path.is_file():
        raise ModelNotFound(f"{model} is a file.", "Give the folder that it lies in, or a file that ends in .gguf.")
    hub = HubClient(os.environ.get("HF_ENDPOINT", "https://huggingface.co"), os.environ.get("HF_TOKEN", ""))
    folder = hub.download(model, commit, [*WANTED, "model-*-of-*.safetensors"])
    return ModelFiles(folder, "hub", commit=folder.name)


def code_key(value: Any) -> str | None:
    """Return the first key, at any depth, that names code, kernels or an attention back end and has a value."""
    if isinstance(value, Mapping):
        named = (key for key, child in value.items() if child and CODE_KEYS.fullmatch(str(key)))
        return next(named, None) or next(filter(None, map(code_key, value.values())), None)
    if isinstance(value, list):
        return next(filter(None, map(code_key, value)), None)
    return None


def refuse_code(name: str, config: Any) -> None:
    """Raise `UnsafeModel` if a config asks for code from outside."""
    if key := code_key(config):
        raise UnsafeModel(
            f"{name} has the key {key!r}, which asks for code from outside.",
            "Only models that the transformers library knows by itself can be probed; remove the key.",
        )


def refuse_pickles(where: str, names: Iterable[str]) -> None:
    """Raise `UnsafeModel` if there are no safetensors weights."""
    if not set(WEIGHTS) & set(names):
        raise UnsafeModel(
            f"{where} has no safetensors weights; pickled ones could run code and are never loaded.",
            "Save the model with save_pretrained and use its model.safetensors.",
        )
