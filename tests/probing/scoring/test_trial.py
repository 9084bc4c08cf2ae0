"""The trial of a model that was just loaded."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from tokenizers import Regex
from tokenizers.pre_tokenizers import Split

from probing.errors import BadConfig, BrokenTokenizer, NonFiniteScores
from probing.scoring import trial
from probing.scoring.trial import TOKENS, try_network, try_tokenizer, try_tokenizer_apart
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


def save_splitting(pattern: str, folder: Path) -> None:
    """Save a tokenizer that splits texts by a regular expression."""
    backend = byte_level_bpe().backend_tokenizer
    backend.pre_tokenizer = Split(Regex(pattern), "isolated")
    backend.save(str(folder / "tokenizer.json"))


def test_a_panic_of_rust_is_told_and_not_printed(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    save_splitting("(a+)+$", tmp_path)
    with pytest.raises(BrokenTokenizer, match=r"fails on ordinary text: Onig: .*retry-limit-in-match over\. Load"):
        try_tokenizer_apart("here", tmp_path / "tokenizer.json")
    assert "panicked" not in capfd.readouterr().err


def test_a_slow_regular_expression_is_ended_from_outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_splitting("a*a*a*a*b$", tmp_path)
    monkeypatch.setattr(trial, "SECONDS", 0.3)
    with pytest.raises(BrokenTokenizer, match=r"takes more than 8 seconds for a line of ordinary text\. Its regular"):
        try_tokenizer_apart("here", tmp_path / "tokenizer.json")


def test_other_faults_of_a_tokenizer_are_left_to_those_who_load_it(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{}")
    try_tokenizer_apart("here", tmp_path / "tokenizer.json")


def test_a_network_that_works_passes() -> None:
    assert try_network("org/name", SHARING["llama"](400), [1, 2, 3]) == []


def test_weights_of_zeros_are_noted() -> None:
    network = SHARING["llama"](400)
    for weights in network.parameters():
        weights.data.zero_()
    assert try_network("org/name", network, [1, 2, 3]) == [trial.SAME]


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
