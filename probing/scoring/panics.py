"""Panics of the tokenizers library, which is written in Rust, as errors."""

from collections.abc import Iterator
from contextlib import contextmanager

from probing.errors import BrokenTokenizer

AGAIN = "Load it with AutoTokenizer and save it with save_pretrained."


@contextmanager
def without_panics(model_id: str) -> Iterator[None]:
    """Turn a panic of the tokenizers library, which is no `Exception`, into `BrokenTokenizer`."""
    try:
        yield
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        reason = str(error).strip().split("\n")[0].rstrip(".: ")[:200]
        raise BrokenTokenizer(f"The tokenizer of {model_id} fails on a text: {reason}.", AGAIN) from error
