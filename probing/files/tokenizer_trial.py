"""A program that reads a `tokenizer.json` and tokenizes a text, in a process of its own (`limited_process`).

Some regular expressions take a time that doubles with every letter, and are computed where Python cannot stop them.
"""

from typing import Any

from tokenizers import Tokenizer

from probing.files.limited_process import answer_orders

MEMORY = 2 * 2**30  # bytes
PROCESSOR_SECONDS = 8  # a tokenizer of a quarter of a million tokens is read in about two


def try_tokenizer(order: dict[str, Any]) -> None:
    Tokenizer.from_file(order["path"]).encode_batch([order["text"]])


if __name__ == "__main__":
    answer_orders(try_tokenizer, MEMORY, PROCESSOR_SECONDS)
