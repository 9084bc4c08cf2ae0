"""Errors that the loaders of transformers raise for broken files."""

import struct

from huggingface_hub.errors import StrictDataclassError
from safetensors import SafetensorError

LOADING_ERRORS = (
    OSError,
    ValueError,
    LookupError,
    TypeError,
    RuntimeError,
    AttributeError,
    ArithmeticError,
    AssertionError,
    ImportError,
    SafetensorError,
    StrictDataclassError,
    struct.error,
)


def first_line(error: BaseException) -> str:
    """Return the first line of the error's message as a sentence."""
    return str(error).strip().split("\n")[0].rstrip(".: ") + "."
