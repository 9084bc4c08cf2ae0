"""How a run turned texts into tokens, in words: the start token, the vocabulary, casing and special tokens."""

from collections.abc import Mapping
from typing import Any

from probing.start_token import AUTO, NONE, StartToken, TokenizerFacts

TOKEN_NAMES = {"bos": "beginning-of-sequence token (bos)", "eos": "end-of-text token (eos)"}
POLICIES = {
    AUTO: "bos, or else eos, as no other was chosen",
    "bos": "bos, as chosen",
    "eos": "eos, as chosen",
}


def tokenizer_facts(record: Mapping[str, Any]) -> TokenizerFacts | None:
    """Return the facts that a stored record (`run.json`) has about the tokenizer, None if it has none to be read."""
    try:
        return TokenizerFacts.from_json(record.get("model", {}).get("tokenizer"))
    except (ValueError, AttributeError):
        return None


def tokens_in_words(record: Mapping[str, Any]) -> list[str]:
    """Return sentences about the start token and the tokenizer of a run, none for records of older versions."""
    facts = tokenizer_facts(record)
    if facts is None:
        return []
    sentences = [*_start(facts.start)] if facts.start else [_MASKED]
    case = "makes all letters lower-case" if facts.lower_cases else "distinguishes upper and lower case"
    space = "adds a space before the first word" if facts.adds_space else "adds no space before the first word"
    sentences.append(f"The tokenizer ({facts.algorithm}, {facts.vocabulary:,} tokens) {case} and {space}.")
    if facts.special_tokens:
        named = ", ".join(f"{name} {text}" for name, text in facts.special_tokens.items())
        sentences.append(f"Special tokens: {named}.")
    return sentences


def marked_start(record: Mapping[str, Any]) -> str:
    """Return a few words if the start token of a run also marks roles in the model's chat template, else nothing."""
    facts = tokenizer_facts(record)
    if facts is None or facts.start is None or not facts.start.marks_roles:
        return ""
    return f"starts with {facts.start.text}, which marks roles in chats"


_MASKED = "The tokenizer adds its special tokens to every text; there is no start token to choose."


def _start(start: StartToken) -> list[str]:
    """Return sentences about a causal model's start token."""
    if start.id is None:
        chosen = "as chosen" if start.policy == NONE else "as the tokenizer has neither bos nor eos"
        first = "the first token of each text has no probability and is not counted in its score."
        return [f"No start token stands before a text, {chosen}; {first}"]
    name = f"the {TOKEN_NAMES[start.name]}" if start.name in TOKEN_NAMES else "a token chosen by its id"
    policy = f" Policy: {POLICIES[start.policy]}." if start.policy in POLICIES else ""
    sentences = [f"Every text starts with {start.text} (id {start.id}), {name}.{policy}"]
    if start.marks_roles:
        sentences.append(
            f"The chat template of the model also writes {start.text} before the role of each message, so that a "
            "statement may be read as the start of a message; figures with another start token can differ by points."
        )
    return sentences
