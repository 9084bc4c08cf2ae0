"""Headers of safetensors files: which tensors a file holds, checked before any number is read or downloaded."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

from probing.errors import BadWeights, QuantisedWeights
from probing.files.quantisation import USE_ORIGINAL, Quantisation

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
    """Tell whether this is a list of numbers that can be sizes."""
    return isinstance(values, list) and all(type(value) is int and 0 <= value < LARGEST_SIZE for value in values)
