"""Keys and values kept between rounds: whatever memory allows, the scores are the same."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from probing.language_model import Request, Scoring
from probing.scoring import causal, kv_cache
from probing.scoring.causal import CausalModel
from probing.scoring.kv_cache import KVCache
from probing.template import prompt
from tests.probing.scoring import obvious
from tests.probing.scoring.compare import answers, assert_decided, estimate_work
from tests.probing.scoring.networks import SHARING
from tests.tiny_models import byte_level_bpe

OPTIONS = ["Africa and Europe", "South America", "Oslo in Norway", "Nairobi", "gold metal", "Warsaw is here", "Paris"]
ASKED: list[Request] = [(prompt("[X] is near [Y] they say", f"the metal {i} of {i * i}"), OPTIONS) for i in range(90)]
DECIDE = Scoring(decide=1)


def model(**settings: Any) -> CausalModel:
    tokenizer = byte_level_bpe(start="<s>")
    found = CausalModel(SHARING["llama"](len(tokenizer)), tokenizer, **settings)
    assert found.use_fast_path
    return found


@pytest.fixture(autouse=True)
def short_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a batch has several, and can be halved."""
    monkeypatch.setattr(causal, "ROW", 1)


@pytest.fixture(scope="module")
def wanted() -> list[list[list[float]]]:
    one = model()
    return estimate_work(ASKED, obvious.causal(one.network, one.tokenizer))


class Failing:
    """`KVCache.add`, but at one of its calls (of several rows) memory runs out behind the first layer."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, call: int) -> None:
        self.add, self.left = KVCache.add, call
        monkeypatch.setattr(KVCache, "add", lambda store, cache, *more: self(store, cache, *more))

    def __call__(self, store: KVCache, cache: Any, *more: Any) -> None:
        several = cache.layers[0].keys.shape[0] > 1
        self.left -= several
        layers = self._until_it_runs_out(cache) if several and self.left == 0 else cache.layers
        self.add(store, SimpleNamespace(layers=layers), *more)

    def _until_it_runs_out(self, cache: Any) -> Iterator[Any]:
        yield cache.layers[0]
        raise torch.OutOfMemoryError("out of memory")


@pytest.mark.parametrize("call", [1, 4])
def test_memory_that_runs_out_while_they_are_kept_changes_no_score(
    call: int, wanted: list[list[list[float]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = model(batch_tokens=600)
    failing = Failing(monkeypatch, call)
    assert_decided(answers(one, ASKED, DECIDE), wanted, best=1)
    assert failing.left < 0
    assert one.usage.notes == ["out of memory: batches halved to 300 positions"]


def test_memory_that_runs_out_while_the_store_grows_changes_no_score(
    wanted: list[list[list[float]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, real, calls = model(batch_tokens=600), kv_cache._grown, []

    def failing(kept: torch.Tensor, room: int) -> torch.Tensor:
        calls.append(room)
        if len(calls) == 7:
            raise torch.OutOfMemoryError("out of memory")
        return real(kept, room)

    monkeypatch.setattr(kv_cache, "_grown", failing)
    assert_decided(answers(one, ASKED, DECIDE), wanted, best=1)
    assert one.usage.notes == ["out of memory: batches halved to 300 positions"]


@pytest.mark.parametrize("most", [1, 20, 200])
def test_what_finds_no_place_is_computed_again(most: int, wanted: list[list[list[float]]]) -> None:
    roomy, narrow = model(), model()
    narrow._most_kept = most
    found, kept = answers(narrow, ASKED, DECIDE), answers(roomy, ASKED, DECIDE)
    assert_decided(found, wanted, best=1)
    assert [f.exact.tolist() for f in found] == [k.exact.tolist() for k in kept], "bounds do not depend on memory"
    assert narrow.usage.positions > roomy.usage.positions


def test_the_store_and_a_pass_hold_no_more_than_they_may(monkeypatch: pytest.MonkeyPatch) -> None:
    one, most, held = model(), 300, []
    one._most_kept = most
    add = KVCache.add

    def watched(store: KVCache, cache: Any, *more: Any) -> None:
        add(store, cache, *more)
        held.extend(len(tensor) for layer in store._layers for tensor in layer)
        held.append(cache.layers[0].keys.shape[0] * cache.layers[0].keys.shape[2])

    monkeypatch.setattr(KVCache, "add", watched)
    answers(one, ASKED, DECIDE)
    assert max(held) == most
