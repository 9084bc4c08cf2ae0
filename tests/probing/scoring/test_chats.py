"""Chats as a chat template writes them, and templates that would do harm if they were run here."""

import os
from collections.abc import Iterator
from typing import Any

import pytest
from transformers import PreTrainedTokenizerBase

from probing.errors import BrokenTokenizer, UnsupportedModel
from probing.language_model import ModelCard
from probing.scoring import chats
from probing.scoring.chats import written_chat
from tests.tiny_models import byte_level_bpe
from tests.zoo.repositories import CYCLE, ENDLESS, MULTIPLYING, REACHING

CARD = ModelCard(id="org/name", kind="causal", architecture="Network", parameters=1)
CHAT = [{"role": "system", "content": "Be short."}, {"role": "user", "content": "Who? <|endoftext|>"}]
SPELLED = (
    "{{ bos_token }}{% for m in messages if m.role != 'tool' %}{{ loop.index }} {{ m | tojson }}\n"
    "{% if loop.last %}{% break %}{% endif %}{% endfor %}{% if add_generation_prompt %}assistant:{% endif %}"
)


def speaking(template: Any) -> PreTrainedTokenizerBase:
    tokenizer = byte_level_bpe()
    tokenizer.chat_template = template
    return tokenizer


@pytest.fixture(autouse=True)
def one_process() -> Iterator[None]:
    """Start the process that renders, so that its start does not count as the time of a template."""
    chats._process(os.getpid())
    yield


@pytest.mark.parametrize("begin", [True, False])
@pytest.mark.parametrize("template", [SPELLED, {"default": SPELLED, "tool_use": "tools"}])
def test_a_chat_is_written_as_transformers_writes_it(template: Any, begin: bool) -> None:
    tokenizer = speaking(template)
    expected = tokenizer.apply_chat_template(CHAT, tokenize=False, add_generation_prompt=begin)
    assert written_chat(CARD, tokenizer, CHAT, begin_answer=begin) == expected


def test_a_template_that_does_not_end_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chats, "SECONDS", 0.5)
    with pytest.raises(BrokenTokenizer, match=r"org/name takes more than 0\.5 seconds for one chat"):
        written_chat(CARD, speaking(ENDLESS), CHAT)


@pytest.mark.parametrize(
    ("template", "error", "sentence"),
    [
        (CYCLE, BrokenTokenizer, "repeats itself without an end"),
        ("{% for i in range(10**9) %}{{ i }}{% endfor %}", BrokenTokenizer, "repeats itself without an end"),
        (MULTIPLYING, BrokenTokenizer, "takes more memory than a chat can need"),
        ("{{ 'a' * 3000000 }}", BrokenTokenizer, "takes more memory than a chat can need"),
        (REACHING, UnsupportedModel, r"does not take this chat .*__class__.* is unsafe\)\."),
        ("{{ raise_exception('a system message, please') }}", UnsupportedModel, r"\(a system message, please\)"),
        ("{{ 1 / 0 }}", UnsupportedModel, r"does not take this chat \(division by zero\)"),
        ("{% if %}", UnsupportedModel, "does not take this chat"),
        ({"tool_use": "tools"}, UnsupportedModel, "no default specified"),
    ],
)
def test_a_template_that_does_harm_ends_in_a_sentence(template: Any, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence) as raised:
        written_chat(CARD, speaking(template), CHAT)
    assert str(raised.value).endswith("Leave out --chat, or ask it with --set chat=false.")
    assert "\n" not in str(raised.value)


def test_after_harm_the_next_template_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    def ending(*_: Any) -> Any:
        raise ChildProcessError

    with monkeypatch.context() as patched, pytest.raises(BrokenTokenizer):
        patched.setattr(chats.LimitedProcess, "ask", ending)
        written_chat(CARD, speaking(SPELLED), CHAT)
    assert written_chat(CARD, speaking("{{ messages[0].content }}"), CHAT) == "Be short."
