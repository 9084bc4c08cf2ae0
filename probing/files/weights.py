"""Files of weights: the headers of safetensors, and the `quantization_config` of quantised checkpoints.

A header tells which tensors a file holds, and is checked before any number is read or downloaded. Of a
`quantization_config` the keys that are used are checked. Three methods can be loaded: that of bitsandbytes on any
device, and GPTQ and AWQ on a GPU, with a further library.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from math import prod
from typing import Any, Literal, NamedTuple

from probing.errors import BadConfig, BadWeights, MissingPackage, QuantisedWeights
from probing.extras import require_package

LENGTH_BYTES = 8  # a file starts with the length of its header, an unsigned little-endian number
LARGEST_HEADER = 25 * 10**6  # bytes
MOST_TENSORS = 200_000  # of one model
MOST_DIMENSIONS = 16
LARGEST_SIZE = 2**63  # no dimension and no offset reaches this
BITS = {
    "BOOL": 8, "U8": 8, "I8": 8, "F8_E4M3": 8, "F8_E5M2": 8, "I16": 16, "U16": 16, "F16": 16, "BF16": 16,
    "I32": 32, "U32": 32, "F32": 32, "I64": 64, "U64": 64, "F64": 64, "C64": 64,
}  # fmt: skip
# The formats in which weights are stored as they are; all others hold masks and positions, or quantised weights.
FORMATS = {"F32": "float32", "BF16": "bfloat16", "F16": "float16"}
EXACT = {*FORMATS, "F64"}
PACKED = {"U8", "I8", "I32"}
# Numbers with which the weights of a quantised layer are computed from the stored ones; they are no parameters.
STATISTICS = re.compile(r".*\.(absmax|nested_absmax|quant_map|nested_quant_map|SCB|scales)")
ReadRange = Callable[[int, int], bytes]
Method = Literal["bitsandbytes", "gptq", "awq"]
QUANTISATION = "quantization_config"
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
Keys = Mapping[str, Callable[[Any], bool]]


class Tensor(NamedTuple):
    """The type of a tensor's numbers, by its name in the header, and its shape."""

    dtype: str
    shape: tuple[int, ...]

    @property
    def elements(self) -> int:
        """The number of values."""
        return prod(self.shape)

    @property
    def bytes(self) -> int:
        """The size of the numbers in the file."""
        return self.elements * BITS[self.dtype] // 8


Tensors = Mapping[str, Tensor]


@dataclass(frozen=True)
class WeightSummary:
    """A model's stored weights: how many numbers, how many bytes, and the format of most of them.

    `dtype` is "float32", "bfloat16" or "float16". Whole numbers (positions, masks) are no parameters, but their bytes
    are counted.
    """

    parameters: int
    bytes: int
    dtype: str


def read_header(name: str, size: int, read: ReadRange) -> dict[str, Tensor]:
    """Return the tensors of a file by their names, in the file's order.

    `name`: of the file, for messages; `size`: of the file in bytes; `read(start, stop)` returns these bytes of it.
    Raises `BadWeights` if the header is not that of an intact safetensors file of this size.
    """
    if size < LENGTH_BYTES:
        raise broken(name, "it is too short")
    length = int.from_bytes(read(0, LENGTH_BYTES), "little")
    if length > LARGEST_HEADER:
        raise broken(name, f"its header claims {length:,} bytes; {LARGEST_HEADER:,} are accepted")
    if length > size - LENGTH_BYTES:
        raise broken(name, "its header is longer than the file")
    return parse_header(name, read(LENGTH_BYTES, LENGTH_BYTES + length), size - LENGTH_BYTES - length)


def parse_header(name: str, header: bytes, data_size: int) -> dict[str, Tensor]:
    """Return the tensors that a header describes, if they fill the `data_size` bytes after it exactly."""
    content = _parse_json(name, header)
    content.pop("__metadata__", None)
    if len(content) > MOST_TENSORS:
        raise broken(name, f"it claims {len(content):,} tensors; {MOST_TENSORS:,} are accepted")
    entries = [(key, *_parse_entry(name, key, value)) for key, value in content.items()]
    entries.sort(key=lambda entry: entry[2])
    end = 0
    for key, tensor, (start, stop) in entries:
        if start != end:
            raise broken(name, f"{key!r} does not begin where the tensor before it ends")
        if stop - start != tensor.bytes:
            raise broken(name, f"the shape of {key!r} does not fit its bytes")
        end = stop
    if end != data_size:
        raise broken(name, f"its tensors take {end:,} bytes, but the file has {data_size:,} after the header")
    return {key: tensor for key, tensor, _ in entries}


def joined_headers(headers: Iterable[tuple[str, Tensors]]) -> dict[str, Tensor]:
    """Join the headers of a model's files, which must not name a tensor twice; `headers`: (file name, tensors)."""
    tensors: dict[str, Tensor] = {}
    for name, header in headers:
        if repeated := next((key for key in header if key in tensors), None):
            raise broken(name, f"{repeated!r} is in another file too")
        tensors |= header
        if len(tensors) > MOST_TENSORS:
            raise broken(name, f"with it, the model has more than {MOST_TENSORS:,} tensors")
    return tensors


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


def summarise(where: str, tensors: Tensors, quantisation: Quantisation | None = None) -> WeightSummary:
    """Return the summary of all tensors of a model, which are quantised as its config says.

    Raises `QuantisedWeights` if most bytes are quantised numbers and the config does not say so.
    """
    sizes: Counter[str] = Counter()
    for tensor in tensors.values():
        sizes[tensor.dtype] += tensor.bytes
    _refuse_unstated(where, sizes, quantisation)
    exact = {name: tensor for name, tensor in tensors.items() if not (quantisation and STATISTICS.fullmatch(name))}
    parameters = {dtype: sum(t.elements for t in exact.values() if t.dtype == dtype) for dtype in sizes.keys() & EXACT}
    if not any(parameters.values()):
        raise BadWeights(f"The weight files of {where} hold no weights.", "Save the model again.")
    most = max(parameters, key=parameters.__getitem__)
    packed = sum(tensor.elements for name, tensor in tensors.items() if quantisation and _is_packed(name, tensor))
    total = sum(parameters.values()) + packed * (quantisation.packs if quantisation else 0)
    return WeightSummary(total, sum(sizes.values()), FORMATS.get(most, "float32"))


def _is_packed(name: str, tensor: Tensor) -> bool:
    """Tell whether a tensor of a quantised model holds quantised weights."""
    return tensor.dtype in PACKED and name.endswith(("weight", "qweight"))


def _refuse_unstated(where: str, sizes: Mapping[str, int], quantisation: Quantisation | None) -> None:
    """Raise `QuantisedWeights` if most bytes are quantised in another way than the config says.

    `sizes`: bytes by the type of the numbers.
    """
    stated_dtype = quantisation.packed_dtype if quantisation else ""
    others = {dtype: size for dtype, size in sizes.items() if dtype not in EXACT and BITS[dtype] < 64}
    quantised = sum(size for dtype, size in others.items() if dtype != stated_dtype)
    if quantised * 2 > sum(sizes.values()) or any(dtype.startswith("F8") for dtype in sizes):
        raise QuantisedWeights(
            f"The weights of {where} are quantised ({max(others, key=others.__getitem__)}).", USE_ORIGINAL
        )


def broken(name: str, reason: str) -> BadWeights:
    """Return the error for a file that is no intact safetensors file; `reason` follows a colon."""
    return BadWeights(f"{name} is damaged: {reason}.", "Copy it again, or save the model again with save_pretrained.")


def _parse_json(name: str, header: bytes) -> dict[str, Any]:
    try:
        content = json.loads(header)
    except (ValueError, RecursionError) as error:
        raise broken(name, "its header is not valid JSON") from error
    if not isinstance(content, dict):
        raise broken(name, "its header is not a JSON object")
    return content


def _parse_entry(name: str, key: str, value: Any) -> tuple[Tensor, tuple[int, int]]:
    """Return a tensor and the first and last offset of its bytes."""
    if not isinstance(value, dict) or set(value) != {"dtype", "shape", "data_offsets"}:
        raise broken(name, f"the entry {key[:80]!r} of its header does not describe a tensor")
    dtype, shape, offsets = value["dtype"], value["shape"], value["data_offsets"]
    if not isinstance(dtype, str) or dtype not in BITS:
        raise broken(name, f"{key[:80]!r} has the unknown type {str(dtype)[:40]!r}")
    if not (_are_sizes(shape) and len(shape) <= MOST_DIMENSIONS and _are_sizes(offsets) and len(offsets) == 2):
        raise broken(name, f"the shape or the place of {key[:80]!r} is no list of sizes")
    return Tensor(dtype, tuple(shape)), (offsets[0], offsets[1])


def _are_sizes(values: Any) -> bool:
    return isinstance(values, list) and all(type(value) is int and 0 <= value < LARGEST_SIZE for value in values)


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
    entry = config.get(QUANTISATION)
    facts = entry if isinstance(entry, dict) else {}
    if not entry or (facts and not any(facts.values())):
        return None
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
                f"The config of {where} has an unusable {QUANTISATION}: {key} is {str(value)[:40]!r}.",
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
    raise BadConfig(f"The {QUANTISATION} of {where} does not say in how many bits.", "Save the model again.")


def require_library(quantisation: Quantisation) -> None:
    """Raise `MissingPackage` if the library that loads such weights is not installed."""
    task = f"Loading weights that are quantised ({quantisation.title})"
    if quantisation.method == "bitsandbytes":
        require_package("bitsandbytes", "quantised", task)
    elif find_spec(GPU_LIBRARY) is None:
        raise MissingPackage(
            f"{task} needs the package {GPU_LIBRARY}, which is not installed, and an NVIDIA GPU.",
            f"Install it: pip install {GPU_LIBRARY} optimum.",
        )


def quantised_to(bits: str) -> Quantisation:
    """Return the quantisation by which plain weights are quantised while they are loaded; `bits`: "4bit" or "8bit"."""
    nf4 = {"bnb_4bit_quant_type": "nf4"} if bits == "4bit" else {}
    return Quantisation("bitsandbytes", int(bits[0]), {f"load_in_{bits}": True} | nf4)
