"""How a run turned texts into tokens, in words: the start token, the vocabulary, casing and special tokens."""

from collections.abc import Mapping
from typing import Any

from probing.start import TokenizerFacts

_MASKED = "The tokenizer adds its special tokens to every text; there is no start token to choose."


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
    sentences = [*facts.start.sentences] if facts.start else [_MASKED]
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
    return facts.start.remark if facts and facts.start else ""
