"""A model's files: finding or downloading them, and refusing those that could run code.

Models are untrusted input: weights must be safetensors, never pickles, and code from a repository is never run.
"""

import hashlib
import json
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from probing.errors import BadInput, ModelNotFound, UnsafeModel, UnsupportedModel
from probing.files.hub_client import HubClient

SHARD = re.compile(r"model-\d+-of-\d+\.safetensors")
SINGLE = "model.safetensors"
INDEX = "model.safetensors.index.json"
WEIGHTS = (SINGLE, INDEX)
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

    def weights(self) -> list[str]:
        """Return the files of the folder that hold weights, by `weight_files`."""
        names = {path.name for path in self.folder.iterdir()}
        return weight_files(str(self.folder), names, lambda: self.read_json(INDEX))

    def read_json(self, name: str) -> dict[str, Any]:
        """Return the JSON object in a file of the folder, empty if there is no such file."""
        path = self.folder / name
        if not path.exists():
            return {}
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except (ValueError, RecursionError) as error:
            raise UnsupportedModel(f"{path} is not valid JSON.", "Save the model again.") from error
        if not isinstance(content, dict):
            raise UnsupportedModel(f"{path} is not a JSON object.", "Save the model again.")
        return content


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


def weight_files(where: str, names: Collection[str], read_index: Callable[[], Mapping[str, Any]]) -> list[str]:
    """Return the single file of weights, or the shards that the weight index names.

    `names`: the model's files. Raises `UnsafeModel` if there are no safetensors weights, or if the index names any file
    that is not a shard beside it: loaders would read a pickle or a file outside the folder.
    """
    refuse_pickles(where, names)
    if SINGLE in names:
        return [SINGLE]
    shards = read_index().get("weight_map")
    if not isinstance(shards, Mapping) or not shards:
        raise UnsupportedModel(f"The weight index of {where} names no files.", "Save the model again.")
    for shard in shards.values():
        if not isinstance(shard, str) or not SHARD.fullmatch(shard):
            raise UnsafeModel(
                f"The weight index of {where} names {shard!r}, which is not one of its shards.",
                "Shards are named like model-00001-of-00002.safetensors and lie beside the index.",
            )
        if shard not in names:
            raise UnsupportedModel(f"{where} lacks {shard}, which its weight index names.", "Add the file.")
    return sorted(set(shards.values()))


def refuse_pickles(where: str, names: Iterable[str]) -> None:
    """Raise `UnsafeModel` if there are no safetensors weights."""
    if not set(WEIGHTS) & set(names):
        raise UnsafeModel(
            f"{where} has no safetensors weights; pickled ones could run code and are never loaded.",
            "Save the model with save_pretrained and use its model.safetensors.",
        )
