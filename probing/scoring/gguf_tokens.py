"""Keys of a GGUF file that say how texts become tokens: they are followed, or the file is refused.

transformers makes a tokenizer of the vocabulary, and leaves some of these keys out. The meaning of the keys is that of
llama.cpp (src/llama-vocab.cpp).
"""

from pathlib import Path
from typing import Any

from tokenizers import pre_tokenizers
from transformers.integrations.gguf import read_gguf_metadata
from transformers.integrations.gguf.gguf_tokenizer_mapping import GGUF_PRE_TOKENIZER_SPLITS

from probing.errors import BrokenTokenizer
from probing.scoring.tokenizer_files import add_space

KEYS = "tokenizer.ggml."
BYTE_LEVEL = "gpt2"  # what the key `model` says of byte-level vocabularies, the only ones with pre-tokenizers by name
UNNAMED = ("", "default")
# The pre-tokenizers that split texts as that of GPT-2 does, and those that make a piece of each digit before.
LIKE_GPT2 = {
    "gpt-2", "phi-2", "mpt", "olmo", "jais", "trillion", "granite-docling", "gigachat", "a.x-4.0", "mellum", "exaone4",
    "modern-bert", "roberta-bpe", "jina-es", "jina-de", "jina-v1-en", "jina-v2-es", "jina-v2-de", "jina-v2-code",
}  # fmt: skip
SINGLE_DIGITS = {"starcoder", "refact", "command-r", "smollm", "codeshell", "exaone", "minerva-7b"}
# Those that take a piece which is a token as a whole, whether merges lead to it or not.
WHOLE_PIECES = {
    "llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2", "jina-v5-nano", "tekken",
}  # fmt: skip
UNNAMED_NOTE = "The GGUF file does not name its pre-tokenizer; texts are split as GPT-2's does."
WORD, DOUBLED, SINGLE = "Paris", "a  b", "a b"


def follow_gguf(where: str, tokenizer: Any, file: Path) -> list[str]:
    """Make a tokenizer, as transformers reads it, follow the keys of its GGUF file; return notes.

    Raises `BrokenTokenizer` if there is a key that it cannot follow.
    """
    metadata, _ = read_gguf_metadata(str(file))
    keys = {key.removeprefix(KEYS): value for key, value in metadata.items() if key.startswith(KEYS)}
    backend = tokenizer.backend_tokenizer
    notes = _split(where, backend, keys.get("model"), keys.get("pre", ""))
    if (adds_space := keys.get("add_space_prefix")) is not None and _adds_space(backend) != adds_space:
        add_space(backend, adds_space)
        if _adds_space(backend) != adds_space:
            raise _not_followed(where, "add_space_prefix", adds_space)
    if (removes_space := keys.get("remove_extra_whitespaces")) is not None and _removes_space(backend) != removes_space:
        raise _not_followed(where, "remove_extra_whitespaces", removes_space)
    if keys.get("precompiled_charsmap"):
        raise _not_followed(where, "precompiled_charsmap", "a table of characters")
    return notes


def _split(where: str, backend: Any, model: Any, pre: Any) -> list[str]:
    """Split texts as the pre-tokenizer of this name does; return a note if none is named."""
    if model != BYTE_LEVEL:
        if pre in GGUF_PRE_TOKENIZER_SPLITS:  # which transformers has put there, and llama.cpp would not
            raise _not_followed(where, "pre", pre)
        return []
    if pre in SINGLE_DIGITS:
        parts = [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
        backend.pre_tokenizer = pre_tokenizers.Sequence(parts)
    elif pre not in LIKE_GPT2 and pre not in GGUF_PRE_TOKENIZER_SPLITS and pre not in UNNAMED:
        raise _not_followed(where, "pre", pre)
    backend.model.ignore_merges = pre in WHOLE_PIECES
    return [UNNAMED_NOTE] if pre in UNNAMED else []


def _adds_space(backend: Any) -> bool:
    tokens = backend.encode(WORD, add_special_tokens=False).tokens
    return any(token.startswith(("▁", "Ġ")) for token in tokens[:1])


def _removes_space(backend: Any) -> bool:
    one, two = (backend.encode(text, add_special_tokens=False).ids for text in (SINGLE, DOUBLED))
    return bool(one == two)


def _not_followed(where: str, key: str, value: Any) -> BrokenTokenizer:
    return BrokenTokenizer(
        f"{where} asks for the {key} {str(value)!r:.60}, which its tokenizer cannot be made to follow.",
        "Use the model's folder in Hugging Face format.",
    )
