"""The self-check at load: does a fast way of sharing work give the scores of the reference implementation?

Each class of models has its own ways and compares them with `reference` on a few random texts (`use_fast_path`, and
`continues_states` of causal models); without a way that is right, it scores with the reference, and a note says so.

What was found is remembered in the user's cache folder under a digest of all that it follows from, so that a network is
not checked at each start. Whatever is missing, damaged or not private to this user counts as not remembered. Where no
networks of GGUF files are kept, as in the processes of a site, nothing is remembered.
"""

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch

from probing.errors import ProbingError
from probing.files.folders import new_file
from probing.files.gguf_cache import PRIVATE, GgufCache, cache_folder, is_private
from probing.scoring.verbs import AnsweringModel

FOLDER = "checks"
LONGEST = 20  # characters of what is kept
# The packages that compute a network; some are installed with an extra only.
CHECKED_PACKAGES = ("torch", "transformers", "accelerate", "peft", "bitsandbytes", "numpy")


def self_check(model: AnsweringModel) -> None:
    """Let a model that was just loaded share work in the way that is right, as remembered or as checked now."""
    facts = _facts(model)
    if not model.take_way(recall(facts)):
        remember(facts, model.check())


def recall(facts: Mapping[str, Any]) -> str:
    """Return the way of sharing work that an earlier check has found right under these facts, "" if there is none."""
    path = _path(facts)
    with suppress(OSError, ValueError):
        if GgufCache.of_user().room > 0 and is_private(path.parent) and not path.is_symlink():
            return path.read_text(encoding="utf-8")[:LONGEST]
    return ""


def remember(facts: Mapping[str, Any], way: str) -> None:
    """Keep the way for later, where the folder can be written; a check that failed ("") is not kept."""
    path = _path(facts)
    if not way or GgufCache.of_user().room <= 0:
        return
    with suppress(ProbingError, OSError):
        path.parent.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
        if is_private(path.parent):
            with new_file(path) as temporary:
                temporary.write_text(way, encoding="utf-8")


def _facts(model: AnsweringModel) -> Mapping[str, Any]:
    """Return all that the outcome of a self-check follows from: the network, what computes it, and this code."""
    network = model.network
    config = network.config.to_dict()
    code = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        code.update(path.read_bytes())
    return {
        "files": dict(model.card.files),
        "config": {name: value for name, value in config.items() if name != "_name_or_path"},  # a temporary folder
        "adapter": model.card.adapter,
        "quantisation": model.card.quantisation,
        "dtype": model.dtype,
        "attention": network.config._attn_implementation,
        "device": str(getattr(network, "hf_device_map", model.device)),
        "processor": _processor(network.device),
        "packages": {name: version(name) for name in CHECKED_PACKAGES if find_spec(name)},
        "code": code.hexdigest(),
    }


def _processor(device: torch.device) -> str:
    """Return what computes: the name of a GPU, or the instructions that the CPU has."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else torch.backends.cpu.get_cpu_capability()


def _path(facts: Mapping[str, Any]) -> Path:
    written = json.dumps(facts, sort_keys=True, default=str)
    return cache_folder() / FOLDER / hashlib.sha256(written.encode()).hexdigest()
