"""The trial of a model that was just loaded."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from probing.errors import BadConfig, BrokenTokenizer, NonFiniteScores
from probing.scoring.trial import TOKENS, try_network, try_tokenizer
from tests.probing.scoring.networks import SHARING
from tests.tiny_models import byte_level_bpe


class Panic(BaseException):
    """What the tokenizers library raises is no `Exception` either."""


def failing(error: BaseException) -> Any:
    def tokenize(*_: Any, **__: Any) -> Any:
        raise error

    return tokenize


def test_a_tokenizer_that_works_gives_the_first_tokens_of_the_text() -> None:
    tokenizer = byte_level_bpe()
    ids = try_tokenizer("here", tokenizer)
    assert len(ids) == TOKENS
    assert tokenizer.decode(ids).startswith("The c")


def test_a_panic_is_a_broken_tokenizer() -> None:
    with pytest.raises(BrokenTokenizer, match=r"^The tokenizer in here fails on ordinary text: retry-limit\. Load"):
        try_tokenizer("here", failing(Panic("retry-limit\nbacktrace")))


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(1), MemoryError()])
def test_what_is_not_the_tokenizers_fault_passes(error: BaseException) -> None:
    with pytest.raises(type(error)):
        try_tokenizer("here", failing(error))


def test_a_tokenizer_without_tokens_is_broken() -> None:
    with pytest.raises(BrokenTokenizer, match="makes no tokens"):
        try_tokenizer("here", lambda *_, **__: {"input_ids": []})


@pytest.mark.parametrize(
    "template", ["{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "{% for i in range(10**9) %}{{ i }}{% endfor %}"]
)
def test_a_template_without_an_end_is_broken(template: str) -> None:
    tokenizer = byte_level_bpe()
    tokenizer.chat_template = template
    with pytest.raises(BrokenTokenizer, match="repeats itself without an end"):
        try_tokenizer("here", tokenizer)


def test_a_template_that_wants_another_conversation_passes() -> None:
    tokenizer = byte_level_bpe()
    tokenizer.chat_template = "{{ raise_exception('a system message, please') }}"
    assert try_tokenizer("here", tokenizer)


def test_a_network_that_works_passes() -> None:
    try_network("org/name", SHARING["llama"](400), [1, 2, 3])


def test_weights_that_are_not_numbers_are_noticed() -> None:
    network = SHARING["llama"](400)
    next(iter(network.parameters())).data.fill_(torch.nan)
    with pytest.raises(NonFiniteScores, match="org/name gave a result that is not a number in its first forward pass"):
        try_network("org/name", network, [1, 2, 3])


def test_a_token_that_the_network_does_not_have_is_the_tokenizers_fault() -> None:
    with pytest.raises(BrokenTokenizer, match="gives token 400, but the model has 400"):
        try_network("org/name", SHARING["llama"](400), [1, 400])


def test_a_network_that_cannot_be_computed_has_a_bad_config() -> None:
    def network(**_: Any) -> SimpleNamespace:
        raise RuntimeError("shapes cannot be multiplied (3x4 and 5x6)\nmore")

    embeddings = SimpleNamespace(weight=torch.zeros(10, 2))
    stub = type("Stub", (), {"__call__": staticmethod(network), "device": torch.device("cpu")})()
    stub.get_input_embeddings = lambda: embeddings
    stub.config = SimpleNamespace(is_encoder_decoder=False)
    with pytest.raises(BadConfig, match=r"org/name cannot be computed: shapes cannot be multiplied \(3x4 and 5x6\)\."):
        try_network("org/name", stub, [1])
