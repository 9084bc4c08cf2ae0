"""Whether a word is one token of a tokenizer, which needs no model and no torch."""

import json
from collections.abc import Callable
from pathlib import Path

from huggingface_hub import hf_hub_download
from tokenizers import Tokenizer

from probing.errors import BadInput

TOKENIZER = "tokenizer.json"
BEFORE = "in"  # some tokenizers put a space of their own before the first word

Check = Callable[[str], bool]


def single_token(name: str) -> Check:
    """Whether a word is one token of this tokenizer as it stands after a space."""
    tokenizer = _tokenizer(name)
    unknown = _unknown(tokenizer)

    def ids(text: str) -> list[int]:
        return tokenizer.encode(text, add_special_tokens=False).ids

    before = ids(BEFORE)

    def one(word: str) -> bool:
        found = ids(f"{BEFORE} {word}")
        return len(found) == len(before) + 1 and found[:-1] == before and found[-1] != unknown

    return one


def _unknown(tokenizer: Tokenizer) -> int | None:
    """The token that stands for words it does not know, if it has one; a Unigram model tells it by number."""
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
    except Exception as error:  # the package raises nothing more special
        raise BadInput(f"{name} is no tokenizer ({error}).", step) from error
    tokenizer.no_padding()
    return tokenizer
