"""Check of words for being one token of a tokenizer, without a model and without torch."""

import json
from collections.abc import Callable
from pathlib import Path

from huggingface_hub import hf_hub_download
from tokenizers import Tokenizer

from probing.errors import BadInput

TOKENIZER = "tokenizer.json"
# Words are checked after this one, because some tokenizers add a space before the first word of a text.
PRECEDING_WORD = "in"

TokenCheck = Callable[[str], bool]


def single_token(name: str) -> TokenCheck:
    """Return a function that tells whether a word after a space is one token of this tokenizer."""
    tokenizer = _tokenizer(name)
    unknown = _unknown_token(tokenizer)

    def ids(text: str) -> list[int]:
        return tokenizer.encode(text, add_special_tokens=False).ids

    preceding = ids(PRECEDING_WORD)

    def is_single_token(word: str) -> bool:
        tokens = ids(f"{PRECEDING_WORD} {word}")
        return len(tokens) == len(preceding) + 1 and tokens[:-1] == preceding and tokens[-1] != unknown

    return is_single_token


def _unknown_token(tokenizer: Tokenizer) -> int | None:
    """Return the id of the token for unknown words, if there is one; only a Unigram model stores the id itself."""
    model = json.loads(tokenizer.to_str())["model"]
    unknown: int | None = model.get("unk_id", tokenizer.token_to_id(model.get("unk_token") or ""))
    return unknown


def _tokenizer(name: str) -> Tokenizer:
    path = Path(name) / TOKENIZER if Path(name).is_dir() else Path(name)
    step = "Give a tokenizer.json, its folder or a hub id."
    try:
        text = (path if path.is_file() else Path(hf_hub_download(name, TOKENIZER))).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise BadInput(f"{name} has no {TOKENIZER} ({' '.join(str(error).split())[:200]}).", step) from error
    try:
        tokenizer = Tokenizer.from_str(text)
    except Exception as error:  # the package raises no subclass
        raise BadInput(f"{name} is not a tokenizer ({error}).", step) from error
    tokenizer.no_padding()
    return tokenizer
