"""The KV cache between rounds: scores do not depend on how much of it fits into memory."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from probing.language_model import Request, Scoring
from probing.scoring import prefix_tree
from probing.scoring.causal import CausalModel
from probing.scoring.prefix_tree import KVCache
from probing.template import prompt
from tests.probing.scoring import obvious
from tests.probing.scoring.compare import answers, assert_decided, expected_log_probs
from tests.probing.scoring.networks import SHARING
from tests.tiny_models import byte_level_bpe

OPTIONS = ["Africa and Europe", "South America", "Oslo in Norway", "Nairobi", "gold metal", "Warsaw is here", "Paris"]
REQUESTS: list[Request] = [
    (prompt("[X] is near [Y] they say", f"the metal {i} of {i * i}"), OPTIONS) for i in range(90)
]
DECIDE = Scoring(decide=1)


def model(**settings: Any) -> CausalModel:
    tokenizer = byte_level_bpe(start="<s>")
    causal_model = CausalModel(SHARING["llama"](len(tokenizer)), tokenizer, **settings)
    assert causal_model.use_fast_path
    return causal_model


@pytest.fixture(autouse=True)
def short_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use short rows, so that a batch has several of them and can be halved."""
    monkeypatch.setattr(prefix_tree, "NODES_PER_ROW", 1)


@pytest.fixture(scope="module")
def expected() -> list[list[list[float]]]:
    one = model()
    return expected_log_probs(REQUESTS, obvious.causal(one.network, one.tokenizer))


class Failing:
    """Replacement of `KVCache.add` whose call number `call` with many rows runs out of memory after the first layer."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, call: int) -> None:
        self.add, self.calls_left = KVCache.add, call
        monkeypatch.setattr(KVCache, "add", lambda cache, *arguments: self(cache, *arguments))

    def __call__(self, cache: KVCache, network_cache: Any, *arguments: Any) -> None:
        many_rows = network_cache.layers[0].keys.shape[0] > 1
        self.calls_left -= many_rows
        fails = many_rows and self.calls_left == 0
        layers = self._layers_until_memory_runs_out(network_cache) if fails else network_cache.layers
        self.add(cache, SimpleNamespace(layers=layers), *arguments)

    def _layers_until_memory_runs_out(self, network_cache: Any) -> Iterator[Any]:
        yield network_cache.layers[0]
        raise torch.OutOfMemoryError("out of memory")


@pytest.mark.slow
@pytest.mark.parametrize("call", [1, 4])
def test_running_out_of_memory_while_the_cache_is_filled_changes_no_score(
    call: int, expected: list[list[list[float]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = model(batch_tokens=600)
    failing = Failing(monkeypatch, call)
    assert_decided(answers(one, REQUESTS, DECIDE), expected, best=1)
    assert failing.calls_left < 0
    assert one.usage.notes == ["out of memory: batches halved to 300 positions"]


def test_running_out_of_memory_while_the_cache_grows_changes_no_score(
    expected: list[list[list[float]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, real, calls = model(batch_tokens=600), prefix_tree._with_room, []

    def failing(stored: torch.Tensor, places: int) -> torch.Tensor:
        calls.append(places)
        if len(calls) == 7:
            raise torch.OutOfMemoryError("out of memory")
        return real(stored, places)

    monkeypatch.setattr(prefix_tree, "_with_room", failing)
    assert_decided(answers(one, REQUESTS, DECIDE), expected, best=1)
    assert one.usage.notes == ["out of memory: batches halved to 300 positions"]


@pytest.mark.parametrize("capacity", [*(pytest.param(size, marks=pytest.mark.slow) for size in (1, 20)), 200])
def test_nodes_beyond_the_capacity_are_computed_again(capacity: int, expected: list[list[list[float]]]) -> None:
    large, small = model(), model()
    small.cache_capacity = capacity
    by_large, by_small = answers(large, REQUESTS, DECIDE), answers(small, REQUESTS, DECIDE)
    assert_decided(by_small, expected, best=1)
    assert [one.exact.tolist() for one in by_small] == [one.exact.tolist() for one in by_large]
    assert small.usage.positions > large.usage.positions


def test_neither_the_cache_nor_a_pass_exceeds_the_capacity(monkeypatch: pytest.MonkeyPatch) -> None:
    one, capacity, places = model(), 300, []
    one.cache_capacity = capacity
    add = KVCache.add

    def watched(cache: KVCache, network_cache: Any, *arguments: Any) -> None:
        add(cache, network_cache, *arguments)
        places.extend(len(tensor) for layer in cache._layers for tensor in layer)
        places.append(network_cache.layers[0].keys.shape[0] * network_cache.layers[0].keys.shape[2])

    monkeypatch.setattr(KVCache, "add", watched)
    answers(one, REQUESTS, DECIDE)
    assert max(places) == capacity
