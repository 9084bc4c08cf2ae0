"""A program that reads a `tokenizer.json` and tokenizes texts, in a process of its own (`limited_process`).

Its argument is a number of seconds of the processor, after which it is ended.

Some regular expressions take a time that doubles with every letter, and are computed where Python cannot stop them.
"""

import sys
from typing import Any

from tokenizers import Tokenizer

from probing.files.limited_process import answer_orders

MEMORY = 2 * 2**30  # bytes
PROCESSOR_SECONDS = 8  # a tokenizer of a quarter of a million tokens is read in about two
MOST_ADDED = 1000  # tokens that are tried out; a tokenizer has a few hundred beside its vocabulary


def try_tokenizer(order: dict[str, Any]) -> dict[str, list[int]]:
    """Return the tokens of each text, and of one more with the tokens that the file adds to its vocabulary."""
    tokenizer = Tokenizer.from_file(order["path"])
    tokenizer.no_truncation()
    tokenizer.no_padding()
    added = [token.content for token in tokenizer.get_added_tokens_decoder().values()]
    texts = [*order["texts"], " a ".join(["", *added[:MOST_ADDED], ""])]
    return {text: tokens.ids for text, tokens in zip(texts, tokenizer.encode_batch(texts), strict=True)}


if __name__ == "__main__":
    answer_orders(try_tokenizer, MEMORY, int(sys.argv[1]))
