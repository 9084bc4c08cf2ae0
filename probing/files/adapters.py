"""LoRA adapters: small changes to a model's weights, from a hub or a folder, named as `model+adapter`.

Of an adapter, two files are read: safetensors weights, and a config from which only the keys of a plain LoRA are taken.
peft would follow others (`auto_mapping` imports a library, `base_model_name_or_path` loads another model, patterns are
regular expressions), so none of them reaches it. The base model is the one that the user names.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from probing.errors import BadConfig, ModelNotFound, UnsafeModel, UnsupportedModel
from probing.files.listing import ADAPTER_CONFIG, Listing, file_in, folder_listing, hub_listing
from probing.files.model_files import environment_client
from probing.files.weights import read_header

FILES = CONFIG, WEIGHTS = ADAPTER_CONFIG, "adapter_model.safetensors"
# Keys that peft's LoraConfig takes, each with the types that are accepted.
TAKEN: Mapping[str, tuple[type, ...]] = {
    "r": (int,),
    "lora_alpha": (int, float),
    "target_modules": (list,),
    "fan_in_fan_out": (bool,),
    "use_rslora": (bool,),
    "use_dora": (bool,),
    "ensure_weight_tying": (bool,),
}
# Keys that say how an adapter was trained, or where peft should look for what the user names.
IGNORED = {
    "peft_type", "peft_version", "task_type", "inference_mode", "init_lora_weights", "lora_dropout", "revision",
    "base_model_name_or_path", "auto_mapping", "megatron_core", "qalora_group_size", "eva_config",
}  # fmt: skip
LARGEST_RANK = 4_096
HUB_NAME = re.compile(r"[\w][\w.-]{0,95}(/[\w][\w.-]{0,95})?", re.ASCII)
MODULE = re.compile(r"[\w.]{1,200}")
PREFIX, STORED = "base_model.model.", ".base_layer.weight"  # the second: of unchanged weights that peft saves as well
TENSOR = re.compile(
    rf"{re.escape(PREFIX)}[\w.]+(\.lora_(A|B|embedding_A|embedding_B|magnitude_vector)(\.weight)?|{re.escape(STORED)})"
)
# How the matrices may be initialized that begin beside unchanged weights. Others, such as "pissa", belong to weights
# from which their product was subtracted before the training.
BESIDE = ("none", "true", "false", "gaussian", "orthogonal", "eva")
MERGE = "Merge it into its model with peft, save the result with save_pretrained, and probe that."


@dataclass(frozen=True)
class Adapter:
    """A checked adapter on this disk; `config` has the arguments of peft's LoraConfig."""

    name: str
    commit: str
    folder: Path
    config: Mapping[str, Any]

    @property
    def identity(self) -> str:
        """The name with the commit, if there is one."""
        return f"{self.name}@{self.commit}" if self.commit else self.name

    @property
    def weights(self) -> Path:
        """The path of the weights, links followed."""
        return file_in(self.folder, WEIGHTS)

    def digests(self) -> dict[str, str]:
        """Return the SHA-256 of each file that is read."""
        paths = {name: file_in(self.folder, name) for name in FILES}
        return {f"adapter/{name}": hashlib.sha256(path.read_bytes()).hexdigest() for name, path in paths.items()}


def split_adapter(model: str) -> tuple[str, str]:
    """Split `model+adapter` into its parts; the second is empty where no adapter is named, as in a path with a plus."""
    if Path(model).exists():
        return model, ""
    base, _, adapter = model.partition("+")
    return base, adapter


def locate_adapter(name: str) -> Adapter:
    """Find an adapter's folder, or check and download that of a hub, `org/name` or `org/name@commit`.

    Raises `UnsafeModel` for pickled weights, and `UnsupportedModel` for anything but a plain LoRA.
    """
    if Path(name).is_dir():
        listing = folder_listing(Path(name))
        return Adapter(name, "", Path(name), checked_config(listing))
    hub_id, _, commit = name.partition("@")
    if not hub_id:
        raise ModelNotFound("No adapter is named after the plus.", "Write it as model+adapter.")
    listing = hub_listing(environment_client(), hub_id, commit)
    folder = download_adapter(listing)
    return Adapter(listing.hub_id, listing.commit, folder, checked_config(listing))


def download_adapter(listing: Listing) -> Path:
    """Check an adapter of a hub and download the two files that are read; return their folder."""
    checked_config(listing)
    assert listing.client is not None, "only adapters of a hub are downloaded"
    return listing.client.download(listing.hub_id, listing.commit, sizes_of(listing))


def sizes_of(listing: Listing) -> dict[str, int]:
    """Return the sizes in bytes of the two files that are read."""
    return {file: listing.files[file] for file in FILES}


def refuse_other_base(listing: Listing, base: str) -> str:
    """Raise `BadConfig` if an adapter's config names another model of the hub than `base`; else say what it names.

    Where it names a folder of whoever trained it, nothing can be compared before the adapter is merged.
    """
    base_name = str(listing.read_json(CONFIG).get("base_model_name_or_path") or "")
    if not HUB_NAME.fullmatch(base_name):
        return "Its config names no model of the hub as its base."
    if base_name.lower() not in (base.lower(), base.rpartition("/")[-1].lower()):
        raise BadConfig(
            f"The adapter {listing.hub_id} was made for {base_name}, not for {base}.",
            f"Name it with its own model: {base_name}+{listing.hub_id}.",
        )
    return f"It was made for {base_name}."


def checked_config(listing: Listing) -> dict[str, Any]:
    """Check both files of an adapter; return the arguments of peft's LoraConfig."""
    where = listing.hub_id
    if CONFIG not in listing.files:
        raise UnsupportedModel(
            f"{where} is not an adapter: it has no {CONFIG}.", "Name a folder or id of a LoRA adapter."
        )
    if WEIGHTS not in listing.files:
        raise UnsafeModel(
            f"The adapter {where} has no {WEIGHTS}; pickled weights could run code and are never loaded.",
            "Save it with save_pretrained and safe_serialization=True.",
        )
    listing.refuse_sizes(list(FILES))
    config = _lora(where, listing.read_json(CONFIG))
    tensors = read_header(WEIGHTS, listing.files[WEIGHTS], partial(listing.read, WEIGHTS))
    if other := next((name for name in tensors if not TENSOR.fullmatch(name)), None):
        raise UnsupportedModel(f"The adapter {where} changes more than a LoRA does: {other[:100]}.", MERGE)
    return config


def _lora(where: str, adapter_config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys that are taken, if the config is that of a plain LoRA."""
    if adapter_config.get("peft_type") != "LORA":
        raise UnsupportedModel(
            f"The adapter {where} is not a LoRA adapter ({str(adapter_config.get('peft_type'))[:40]}).", MERGE
        )
    others = [
        key for key, value in adapter_config.items() if value and value != "none" and key not in {*TAKEN, *IGNORED}
    ]
    if others:
        raise UnsupportedModel(
            f"The adapter {where} asks for more than a plain LoRA: {', '.join(others)[:100]}.", MERGE
        )
    start = str(adapter_config.get("init_lora_weights")).lower()
    if start not in BESIDE:
        raise UnsupportedModel(
            f"The adapter {where} was trained beside weights that were changed first ({start[:40]}).", MERGE
        )
    config = {key: adapter_config[key] for key in TAKEN if adapter_config.get(key) is not None}
    for key, value in config.items():
        if type(value) not in TAKEN[key]:
            raise BadConfig(f"{CONFIG} of {where} has an unusable {key}: {str(value)[:40]!r}.", MERGE)
    modules = config.get("target_modules") or [""]
    if not all(isinstance(module, str) and MODULE.fullmatch(module) for module in modules):
        raise BadConfig(f"{CONFIG} of {where} does not name the modules that it changes.", MERGE)
    if not 1 <= config.get("r", 0) <= LARGEST_RANK:
        raise BadConfig(f"{CONFIG} of {where} has no usable rank r.", MERGE)
    return config
