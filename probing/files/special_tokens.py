"""The tokens bos and eos and the chat template of a model, read from the files that the tokenizer comes with."""

from collections.abc import Mapping
from typing import Any

from probing.files.listing import LARGEST, TEMPLATE, TOKENIZER_CONFIG, Listing
from probing.start import SpecialTokens


def special_tokens_of(listing: Listing) -> SpecialTokens:
    """Read the tokens and the chat template of a model in Hugging Face format."""
    config = listing.read_json(TOKENIZER_CONFIG) if TOKENIZER_CONFIG in listing.files else {}
    templates = [_template(config.get("chat_template"))]
    if TEMPLATE in listing.files:
        templates.append(listing.read(TEMPLATE, 0, LARGEST[TEMPLATE]).decode("utf-8", errors="replace"))
    return SpecialTokens(_text(config.get("bos_token")), _text(config.get("eos_token")), "\n".join(templates))


def _text(token: object) -> str:
    """Return the text of a token, which is written as a string or as an object with its content."""
    content = token.get("content") if isinstance(token, Mapping) else token
    return content if isinstance(content, str) else ""


def _template(template: Any) -> str:
    """Return a chat template, or all of them where a model has several, one after the other."""
    if isinstance(template, list):
        return "\n".join(_template(entry.get("template")) for entry in template if isinstance(entry, Mapping))
    return template if isinstance(template, str) else ""
