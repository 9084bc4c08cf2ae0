"""The start token of a model and its use in the chat template, read from the files that the tokenizer comes with."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from probing.errors import BadInput
from probing.files.listing import LARGEST, TEMPLATE, TOKENIZER_CONFIG, Listing
from probing.start_token import AUTO, BOS, EOS, NONE, marks_roles

KNOWN_LATER = "The start token is known when the tokenizer is loaded."


@dataclass(frozen=True)
class SpecialTokens:
    """The tokens bos and eos and the chat template as the files state them, empty where they do not."""

    bos: str = ""
    eos: str = ""
    chat_template: str = ""


def special_tokens_of(listing: Listing) -> SpecialTokens:
    """Read the tokens and the chat template of a model in Hugging Face format."""
    config = listing.read_json(TOKENIZER_CONFIG) if TOKENIZER_CONFIG in listing.files else {}
    templates = [_template(config.get("chat_template"))]
    if TEMPLATE in listing.files:
        templates.append(listing.read(TEMPLATE, 0, LARGEST[TEMPLATE]).decode("utf-8", errors="replace"))
    return SpecialTokens(_text(config.get("bos_token")), _text(config.get("eos_token")), "\n".join(templates))


def start_in_words(start: str, tokens: SpecialTokens, vocabulary: object) -> str:
    """Return in words which token stands before every text of a causal model by the setting `start`.

    `vocabulary`: the size that the config states, if it does. Raises `BadInput` if an id lies beyond it.
    """
    if start == NONE:
        return "No start token, as chosen."
    if start not in (AUTO, BOS, EOS):
        if isinstance(vocabulary, int) and int(start) >= vocabulary:
            raise BadInput(f"The model has no token {start}.", f"Give an id below {vocabulary:,}, or bos, eos or none.")
        return f"Texts start with token {start}, as chosen."
    name = start if start != AUTO else BOS if tokens.bos else EOS
    text = tokens.bos if name == BOS else tokens.eos
    if not text:
        return KNOWN_LATER
    written = (text, "bos_token") if name == BOS else (text,)
    sentences = f"Texts start with {text} ({name})."
    if any(marks_roles(token, tokens.chat_template) for token in written):
        sentences += " The chat template writes it before each role; another start token may give other figures."
    return sentences


def _text(token: object) -> str:
    """Return the text of a token, which is written as a string or as an object with its content."""
    content = token.get("content") if isinstance(token, Mapping) else token
    return content if isinstance(content, str) else ""


def _template(template: Any) -> str:
    """Return a chat template, or all of them where a model has several, one after the other."""
    if isinstance(template, list):
        return "\n".join(_template(entry.get("template")) for entry in template if isinstance(entry, Mapping))
    return template if isinstance(template, str) else ""
