"""The start token and its use in the chat template, from a model's files."""

import json
from pathlib import Path

import pytest

from probing.errors import BadInput
from probing.files.listing import Listing, special_tokens_of
from probing.start_token import KNOWN_LATER, SpecialTokens, start_in_words

CHATML = "{{ '<|im_start|>' + message['role'] }}"


def listing(folder: Path, **files: str) -> Listing:
    for name, content in files.items():
        (folder / name.replace("__", ".")).write_text(content, encoding="utf-8")
    return Listing("org/name", "c", {path.name: path.stat().st_size for path in folder.iterdir()}, folder)


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"bos_token": "<s>", "eos_token": {"content": "</s>"}}, SpecialTokens("<s>", "</s>")),
        ({"bos_token": None, "chat_template": CHATML}, SpecialTokens(chat_template=CHATML)),
        ({"chat_template": [{"name": "default", "template": "a"}, 1]}, SpecialTokens(chat_template="a")),
        ({"bos_token": 3, "chat_template": {"a": "b"}}, SpecialTokens()),
    ],
)
def test_tokens_are_read_in_each_of_their_forms(tmp_path: Path, config: dict, expected: SpecialTokens) -> None:
    assert special_tokens_of(listing(tmp_path, tokenizer_config__json=json.dumps(config))) == expected


def test_a_chat_template_may_be_a_file_of_its_own(tmp_path: Path) -> None:
    assert CHATML in special_tokens_of(listing(tmp_path, chat_template__jinja=CHATML)).chat_template


@pytest.mark.parametrize(
    ("start", "tokens", "words"),
    [
        ("auto", SpecialTokens("<s>", "</s>"), "Texts start with <s> (bos)."),
        ("auto", SpecialTokens("", "</s>"), "Texts start with </s> (eos)."),
        ("eos", SpecialTokens("<s>", "</s>"), "Texts start with </s> (eos)."),
        ("auto", SpecialTokens(), KNOWN_LATER),
        ("bos", SpecialTokens(), KNOWN_LATER),
        ("none", SpecialTokens("<s>"), "No start token, as chosen."),
        ("7", SpecialTokens("<s>"), "Texts start with token 7, as chosen."),
    ],
)
def test_the_start_token_is_told_in_words(start: str, tokens: SpecialTokens, words: str) -> None:
    assert start_in_words(start, tokens, 100) == words


def test_a_start_token_that_marks_roles_is_told() -> None:
    words = start_in_words("auto", SpecialTokens("<|im_start|>", "<|im_end|>", CHATML), None)
    assert words.endswith("The chat template writes it before each role; another start token may give other figures.")
    named = SpecialTokens("<s>", "", "{{ bos_token + message['role'] }}")
    assert "before each role" in start_in_words("bos", named, None)
    assert "before each role" not in start_in_words("auto", SpecialTokens("<s>", "", "{{ bos_token }}"), None)


def test_an_id_beyond_the_vocabulary_is_refused() -> None:
    with pytest.raises(BadInput, match="has no token 100"):
        start_in_words("100", SpecialTokens(), 100)
