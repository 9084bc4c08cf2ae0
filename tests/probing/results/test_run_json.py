"""Facts about tokens in words, and the equivalent command of lm-evaluation-harness."""

from dataclasses import asdict, replace
from typing import Any

import pytest

from probing.results.run_json import describe_tokens, marked_start, tokenizer_facts
from probing.start_token import StartToken, TokenizerFacts

CHAT = StartToken("auto", 1, "<|im_start|>", "bos", marks_roles=True)
FACTS = TokenizerFacts("BPE", 49_152, False, False, {"bos": "<|im_start|>", "eos": "<|im_end|>"}, CHAT)


def record(facts: TokenizerFacts | None) -> dict[str, Any]:
    return {"model": {"tokenizer": asdict(facts) if facts else None}}


def test_a_start_token_that_marks_roles_is_told() -> None:
    start, roles, tokenizer, special = describe_tokens(record(FACTS))
    assert start == (
        "Every text starts with <|im_start|> (id 1), the beginning-of-sequence token (bos). "
        "Policy: bos, or else eos, as no other was chosen."
    )
    assert "before the role of each message" in roles
    assert tokenizer == (
        "The tokenizer (BPE, 49,152 tokens) distinguishes upper and lower case and adds no space before the first word."
    )
    assert special == "Special tokens: bos <|im_start|>, eos <|im_end|>."
    assert marked_start(record(FACTS)) == "starts with <|im_start|>, which marks roles in chats"


@pytest.mark.parametrize(
    ("start", "words"),
    [
        (StartToken("eos", 2, "</s>", "eos"), "the end-of-text token (eos). Policy: eos, as chosen."),
        (StartToken("17", 17, "a"), "Every text starts with a (id 17), a token chosen by its id."),
        (StartToken("none"), "No start token stands before a text, as chosen; the first token of each text has no"),
        (StartToken("auto"), "as the tokenizer has neither bos nor eos"),
        (None, "there is no start token"),
    ],
)
def test_every_start_token_has_its_words(start: StartToken | None, words: str) -> None:
    assert words in describe_tokens(record(replace(FACTS, start=start)))[0]
    assert not marked_start(record(replace(FACTS, start=start)))


def test_an_uncased_tokenizer_that_adds_a_space_is_told() -> None:
    facts = replace(FACTS, lower_cases=True, adds_space=True, special_tokens={})
    assert describe_tokens(record(facts))[-1].endswith(
        "makes all letters lower-case and adds a space before the first word."
    )


@pytest.mark.parametrize("stored", [{}, {"model": {}}, {"model": {"tokenizer": {"special_tokens": 1}}}, record(None)])
def test_records_without_readable_facts_say_nothing(stored: dict[str, Any]) -> None:
    assert tokenizer_facts(stored) is None
    assert describe_tokens(stored) == []
    assert marked_start(stored) == ""
