"""Quantised checkpoints: the `quantization_config` of a model, checked, and those of its keys that are used.

Three methods can be loaded: that of bitsandbytes on any device, and GPTQ and AWQ on a GPU, with a further library.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Literal

from probing.errors import BadConfig, MissingPackage, QuantisedWeights
from probing.extras import extra_package

KEY = "quantization_config"
Method = Literal["bitsandbytes", "gptq", "awq"]
# The usual names of the methods that a config may state; those that cannot be loaded are refused by name.
TITLES = {
    "bitsandbytes": "bitsandbytes",
    "gptq": "GPTQ",
    "awq": "AWQ",
    "compressed-tensors": "compressed-tensors",
    "fp8": "FP8",
    "fbgemm_fp8": "FP8",
}
GPU_LIBRARY = "gptqmodel"  # loads GPTQ and AWQ
MODULE = re.compile(r"[\w.-]{1,200}")
WORD = re.compile(r"[\w-]{1,20}")
MOST_MODULES = 1_000
LARGEST_THRESHOLD = 1_000
LARGEST_GROUP = 2**14
USE_ORIGINAL = "Use the model in float32, bfloat16 or float16 from which it was made."


@dataclass(frozen=True)
class Quantisation:
    """How the weights of a model are quantised; `config` has the keys of its `quantization_config` that are used."""

    method: Method
    bits: int
    config: Mapping[str, Any]

    @property
    def title(self) -> str:
        """The method with its bits, such as `bitsandbytes, 4 bits`."""
        return f"{TITLES[self.method]}, {self.bits} bits"

    @property
    def needs_gpu(self) -> bool:
        """Tell whether only a GPU computes with such weights."""
        return self.method != "bitsandbytes"

    @property
    def packs(self) -> int:
        """The number of weights that one number of the packed tensors holds, which have the type `packed_dtype`."""
        return (8 if self.method == "bitsandbytes" else 32) // self.bits

    @property
    def packed_dtype(self) -> str:
        """The type of the tensors of quantised weights in a safetensors header."""
        if self.method == "bitsandbytes":
            return "U8" if self.bits == 4 else "I8"
        return "I32"


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value <= LARGEST_THRESHOLD


def _is_group(value: Any) -> bool:
    return type(value) is int and (value == -1 or 0 < value <= LARGEST_GROUP)


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and bool(WORD.fullmatch(value))


def _are_modules(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) <= MOST_MODULES
        and all(isinstance(name, str) and MODULE.fullmatch(name) for name in value)
    )


def _is_one_of(*values: Any) -> Callable[[Any], bool]:
    return lambda value: value in values and type(value) in map(type, values)


Keys = Mapping[str, Callable[[Any], bool]]
# For each method, the keys that change how weights are read, with a check of their values. Others are left out, among
# them the format in which bitsandbytes computes: that is the run's number format.
BITSANDBYTES: Keys = {
    "load_in_4bit": _is_flag,
    "load_in_8bit": _is_flag,
    "bnb_4bit_quant_type": _is_one_of("nf4", "fp4"),
    "bnb_4bit_use_double_quant": _is_flag,
    "bnb_4bit_quant_storage": _is_one_of("uint8"),
    "llm_int8_threshold": _is_number,
    "llm_int8_skip_modules": _are_modules,
    "llm_int8_has_fp16_weight": _is_one_of(False),
}
ON_GPU: Keys = {
    "group_size": _is_group,
    "sym": _is_flag,
    "desc_act": _is_flag,
    "zero_point": _is_flag,
    "version": _is_word,
    "checkpoint_format": _is_word,
    "modules_to_not_convert": _are_modules,
}
USED: Mapping[str, Keys] = {
    "bitsandbytes": BITSANDBYTES,
    "gptq": {"bits": _is_one_of(2, 4, 8), **ON_GPU},
    "awq": {"bits": _is_one_of(4), **ON_GPU},
}


def read_quantisation(where: str, config: Mapping[str, Any]) -> Quantisation | None:
    """Return how the weights of a model are quantised by its config, None where they are not.

    Raises `QuantisedWeights` for a method that cannot be loaded, and `BadConfig` for a value that no library writes.
    """
    entry = config.get(KEY)
    if not entry:
        return None
    facts = entry if isinstance(entry, dict) else {}
    method = str(facts.get("quant_method") or _unnamed_method(facts)).lower()
    if method not in USED:
        raise QuantisedWeights(
            f"The config of {where} says that its weights are quantised ({TITLES.get(method, 'by an unknown method')})."
            " Only weights that are quantised by bitsandbytes, GPTQ or AWQ can be loaded.",
            USE_ORIGINAL,
        )
    used = {key: facts[key] for key in USED[method] if facts.get(key) is not None}
    for key, value in used.items():
        if not USED[method][key](value):
            raise BadConfig(
                f"The config of {where} has an unusable {KEY}: {key} is {str(value)[:40]!r}.",
                f"Save the model again, quantised by {TITLES[method]}.",
            )
    return _quantisation(where, method, used)


def _unnamed_method(facts: Mapping[str, Any]) -> str:
    """Return the method of a config that names none, as the first versions of bitsandbytes wrote it."""
    return "bitsandbytes" if facts.get("load_in_4bit") or facts.get("load_in_8bit") else ""


def _quantisation(where: str, method: str, used: dict[str, Any]) -> Quantisation:
    """Return the quantisation that these keys state; raise `BadConfig` where they state no number of bits."""
    config = {"quant_method": method, **used}
    if method == "gptq" and type(bits := used.get("bits")) is int:
        return Quantisation("gptq", bits, config)
    if method == "awq" and type(bits := used.get("bits")) is int:
        return Quantisation("awq", bits, config)
    switches = [bits for bits in (4, 8) if used.get(f"load_in_{bits}bit")]
    if method == "bitsandbytes" and len(switches) == 1:
        return Quantisation("bitsandbytes", switches[0], config)
    raise BadConfig(f"The {KEY} of {where} does not say in how many bits.", "Save the model again.")


def require_library(quantisation: Quantisation) -> None:
    """Raise `MissingPackage` if the library that loads such weights is not installed."""
    task = f"Loading weights that are quantised ({quantisation.title})"
    if quantisation.method == "bitsandbytes":
        extra_package("bitsandbytes", "bitsandbytes", task)
    elif find_spec(GPU_LIBRARY) is None:
        raise MissingPackage(
            f"{task} needs the package {GPU_LIBRARY}, which is not installed, and an NVIDIA GPU.",
            f"Install it: pip install {GPU_LIBRARY} optimum.",
        )


def quantised_to(bits: str) -> Quantisation:
    """Return the quantisation by which plain weights are quantised while they are loaded; `bits`: "4bit" or "8bit"."""
    nf4 = {"bnb_4bit_quant_type": "nf4"} if bits == "4bit" else {}
    return Quantisation("bitsandbytes", int(bits[0]), {f"load_in_{bits}": True} | nf4)
