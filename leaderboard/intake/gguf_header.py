"""The header of a GGUF file, read without its weights and without a NumPy array for each of its tokens."""

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from gguf import GGUFReader, GGUFValueType, LlamaFileType

from probing.errors import BadWeights
from probing.start import SpecialTokens

LENGTH = struct.Struct("<Q")  # of an array, and of a text
TOKENS = "tokenizer.ggml.tokens"
FAULTS = (ValueError, LookupError, OSError, ArithmeticError, struct.error)  # that broken files lead to


class HeaderReader(GGUFReader):  # type: ignore[misc]  # the package gguf has no types here
    """The reader of the package gguf, which takes a hundredth of a second for a vocabulary and not seconds."""

    def _get_field_parts(self, orig_offs: int, raw_type: int) -> tuple[int, list[Any], list[int], list[GGUFValueType]]:
        if raw_type != GGUFValueType.ARRAY or self.byte_order != "I":
            parts: tuple[int, list[Any], list[int], list[GGUFValueType]] = super()._get_field_parts(orig_offs, raw_type)
            return parts
        buffer = memoryview(self.data)
        item, count = struct.unpack_from("<IQ", buffer, orig_offs)
        types = [GGUFValueType.ARRAY, GGUFValueType(item)]
        begin = orig_offs + 12
        if types[1] == GGUFValueType.STRING:
            texts, end = _texts(buffer, begin, count)
            return end - orig_offs, texts, list(range(count)), types
        if types[1] == GGUFValueType.ARRAY:
            raise ValueError("an array of arrays")
        end = begin + count * np.dtype(self.gguf_scalar_to_np[types[1]]).itemsize
        if end > len(buffer):
            raise ValueError("an array that is longer than its file")
        return end - orig_offs, [], [], types  # nobody asks for the numbers


def _texts(buffer: memoryview, begin: int, count: int) -> tuple[list[memoryview], int]:
    """Return so many texts from a place on, and the place of their end."""
    texts = []
    for _ in range(count):
        (size,) = LENGTH.unpack_from(buffer, begin)
        begin += LENGTH.size + size
        if begin > len(buffer):
            raise ValueError("a text that is longer than its file")
        texts.append(buffer[begin - size : begin])
    return texts, begin


@contextmanager
def header(path: Path) -> Iterator[GGUFReader]:
    """Yield a reader of the header; raise `BadWeights` if the file is broken, also where that shows in the block."""
    try:
        yield HeaderReader(path)
    except FAULTS as error:
        raise BadWeights(f"{path.name} is not a valid GGUF file.", "Copy it again.") from error


def text_of(reader: GGUFReader, key: str, index: int | None = None) -> str:
    """Return a text, or one of an array of texts; empty if the header lacks it."""
    field = reader.get_field(key)
    if field is None or (index is not None and not 0 <= index < len(field.data)):
        return ""
    return str(field.contents() if index is None else field.contents(index))


def number_of(reader: GGUFReader, key: str) -> int | None:
    """Return a number, None if the header lacks it."""
    field = reader.get_field(key)
    return int(field.contents()) if field else None


@lru_cache(maxsize=32)
def gguf_config(path: Path, commit: str) -> dict[str, Any]:
    """Return what the checks need from the header of a GGUF file. Several checks ask, so it is cached."""
    with header(path) as reader:
        return {
            "model_type": text_of(reader, "general.architecture"),
            "special_tokens": SpecialTokens(
                _special_token(reader, "bos"), _special_token(reader, "eos"), text_of(reader, "tokenizer.chat_template")
            ),
            "tokenizer": bool(reader.get_field(TOKENS)),
            "parameters": sum(int(tensor.n_elements) for tensor in reader.tensors),
            "quantisation": _quantisation(number_of(reader, "general.file_type")),
        }


def _quantisation(file_type: int | None) -> str:
    """Return the number format that a file states for most of its weights, such as Q4_1; empty if it states none."""
    try:
        return str(LlamaFileType(file_type).name).partition("_")[2]
    except ValueError:
        return ""


def _special_token(reader: GGUFReader, name: str) -> str:
    """Return the text of a special token, empty if the file names none."""
    number = number_of(reader, f"tokenizer.ggml.{name}_token_id")
    return "" if number is None else text_of(reader, TOKENS, number)
