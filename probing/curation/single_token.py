"""Whether a word is one token of a tokenizer, which needs no model and no torch."""

from collections.abc import Callable
from pathlib import Path

from huggingface_hub import hf_hub_download
from tokenizers import Tokenizer

from probing.errors import BadInput

TOKENIZER = "tokenizer.json"

Check = Callable[[str], bool]


def single_token(name: str) -> Check:
    """Whether a word is one token of this tokenizer as it stands after a space."""
    tokenizer = _tokenizer(name)

    def one(word: str) -> bool:
        tokens = tokenizer.encode(f" {word}", add_special_tokens=False).tokens
        return len([token for token in tokens if token.strip("▁Ġ ")]) == 1 and "[UNK]" not in tokens

    return one


def _tokenizer(name: str) -> Tokenizer:
    path = Path(name) / TOKENIZER if Path(name).is_dir() else Path(name)
    step = "Give a tokenizer.json, its folder or a hub id."
    try:
        text = (path if path.is_file() else Path(hf_hub_download(name, TOKENIZER))).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise BadInput(f"{name} has no {TOKENIZER} ({' '.join(str(error).split())[:200]}).", step) from error
    try:
        return Tokenizer.from_str(text)
    except Exception as error:  # the package raises nothing more special
        raise BadInput(f"{name} is no tokenizer ({error}).", step) from error
