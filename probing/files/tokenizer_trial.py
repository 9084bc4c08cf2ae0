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


def without_training_aids(tokenizer: Tokenizer) -> Tokenizer:
    """Let a tokenizer keep texts whole and treat equal ones alike: it may cut, pad, or skip merges at random."""
    tokenizer.no_truncation()
    tokenizer.no_padding()
    if skips_merges(tokenizer):
        tokenizer.model.dropout = None
    return tokenizer


def skips_merges(tokenizer: Tokenizer) -> bool:
    """Tell whether a tokenizer skips merges at random (BPE dropout), so that a text has other tokens each time."""
    return bool(getattr(tokenizer.model, "dropout", None))


def try_tokenizer(order: dict[str, Any]) -> dict[str, list[int]]:
    """Return the tokens of each text, and of one more with the tokens that the file adds to its vocabulary."""
    tokenizer = without_training_aids(Tokenizer.from_file(order["path"]))
    added = [token.content for token in tokenizer.get_added_tokens_decoder().values()]
    texts = [*order["texts"], " a ".join(["", *added[:MOST_ADDED], ""])]
    return {text: tokens.ids for text, tokens in zip(texts, tokenizer.encode_batch(texts), strict=True)}


if __name__ == "__main__":
    answer_orders(try_tokenizer, MEMORY, int(sys.argv[1]))
