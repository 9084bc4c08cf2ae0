"""Prefix trees, their packing into rows, and the cache between rounds: scores depend on none of it."""

from collections.abc import Iterator
from itertools import chain
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from probing.language_model import Request, Scoring
from probing.scoring import prefix_tree
from probing.scoring.causal import CausalModel
from probing.scoring.prefix_tree import KVCache, PrefixTree
from probing.template import prompt
from tests.probing.scoring import obvious
from tests.probing.scoring.compare import answers, assert_decided, assert_equal, expected_log_probs
from tests.probing.scoring.networks import SHARING, causal_model
from tests.probing.scoring.obvious import statements

SEQUENCES = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=6).map(tuple), min_size=1, max_size=12)
Sequences = list[tuple[int, ...]]


def tree_of(sequences: Sequences) -> PrefixTree:
    """Build a tree of sequences of which every token is scored."""
    scored = np.arange(max(map(len, sequences))) < np.array([[len(sequence)] for sequence in sequences])
    return PrefixTree.of(sequences, scored)


def path_to(tree: PrefixTree, node: int) -> list[int]:
    """Return the node's ancestors and the node itself, root first."""
    return [node] if tree.parent[node] < 0 else [*path_to(tree, int(tree.parent[node])), node]


@given(SEQUENCES)
def test_each_distinct_prefix_is_one_node_before_its_descendants(sequences: Sequences) -> None:
    tree = tree_of(sequences)
    prefixes = {sequence[:end] for sequence in sequences for end in range(1, len(sequence) + 1)}
    in_tree = [tuple(int(tree.token[n]) for n in path_to(tree, node)) for node in range(len(tree.token))]
    assert len(in_tree) == len(prefixes)
    assert set(in_tree) == prefixes
    assert [len(prefix) - 1 for prefix in in_tree] == tree.depth.tolist()
    for path, sequence in zip(tree.paths, sequences, strict=True):
        assert tree.token[path[path >= 0]].tolist() == list(sequence)
        assert path_to(tree, int(path[len(sequence) - 1])) == path[path >= 0].tolist()
    for node in range(len(tree.token)):
        below = [other for other in range(len(tree.token)) if node in path_to(tree, other)]
        assert below == list(range(node, int(tree.end[node])))
    assert np.flatnonzero(tree.inner).tolist() == sorted({int(parent) for parent in tree.parent if parent >= 0})
    assert tree.passes.tolist() == [sum(n in path for path in tree.paths) for n in range(len(tree.token))]


@given(SEQUENCES, st.integers(1, 9))
def test_rows_hold_every_node_once_after_its_ancestors(sequences: Sequences, length: int) -> None:
    tree = tree_of(sequences)
    nodes = np.arange(len(tree.token))
    rows = list(tree.rows(nodes, length))
    own = [row[repeated:].tolist() for row, repeated in rows]
    assert list(chain.from_iterable(own)) == nodes.tolist()
    for row, repeated in rows:
        assert len(row) <= max(length, repeated + 1)
        assert all(set(path_to(tree, int(node))) <= set(row.tolist()) for node in row)


@given(SEQUENCES, st.integers(1, 9), st.data())
def test_rows_leave_out_ancestors_that_are_computed(sequences: Sequences, length: int, data: st.DataObject) -> None:
    tree = tree_of(sequences)
    computed = tree.depth < data.draw(st.integers(0, 6))
    nodes = np.flatnonzero(~computed)
    rows = list(tree.rows(nodes, length, computed))
    assert list(chain.from_iterable(row[repeated:].tolist() for row, repeated in rows)) == nodes.tolist()
    for row, _ in rows:
        needed = {n for node in row for n in path_to(tree, int(node)) if not computed[n]}
        assert set(row.tolist()) == needed


EXAMPLES = "".join(f"The metal {i} of {i * i} is near Oslo in Norway, " for i in range(4))
OPTIONS = ["Africa and Europe", "South America", "Nairobi", "gold metal", "Paris"]
REQUESTS: list[Request] = [(prompt(f"{EXAMPLES}[X] is near [Y] they say", f"place {i}"), OPTIONS) for i in range(40)]


@pytest.fixture(scope="module")
def expected() -> list[list[list[float]]]:
    one = model()
    return expected_log_probs(REQUESTS, obvious.causal(one.network, one.tokenizer))


def model(**settings: Any) -> CausalModel:
    one = causal_model(SHARING["llama"], **settings)
    assert one.use_fast_path
    return one


def distinct_prefixes(one: CausalModel) -> int:
    sequences = [encoded.ids for request in REQUESTS for encoded in one.encoder.encode(statements(request))]
    return len({ids[:end] for ids in sequences for end in range(1, len(ids))})


def computed(one: CausalModel, scoring: Scoring) -> int:
    before = one.usage.positions - one.usage.padding
    answers(one, REQUESTS, scoring)
    return one.usage.positions - one.usage.padding - before


def test_examples_before_all_questions_are_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    one = model()
    distinct = distinct_prefixes(one)
    assert distinct <= computed(one, Scoring()) <= 1.1 * distinct
    monkeypatch.setattr(prefix_tree, "MIN_SAVING", 1.0)
    assert computed(one, Scoring()) > 1.3 * distinct, "every row repeats them"


def test_an_early_decision_computes_them_once_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    one = model()
    once = computed(one, Scoring(decide=1))
    monkeypatch.setattr(prefix_tree, "MIN_SAVING", 1.0)
    assert computed(one, Scoring(decide=1)) > once + len(EXAMPLES.split()), "the second row repeats them"


@pytest.mark.slow
@pytest.mark.parametrize("batch_tokens", [1, 700, 5000])
def test_scores_after_shared_examples_equal_the_reference(batch_tokens: int, expected: list[list[list[float]]]) -> None:
    one = model(batch_tokens=batch_tokens)
    assert_equal(answers(one, REQUESTS, Scoring()), expected)
    assert one.usage.statements == pytest.approx(len(REQUESTS) * len(OPTIONS))
    assert_decided(answers(one, REQUESTS, Scoring(decide=1)), expected, best=1)


def test_examples_that_do_not_fit_into_the_cache_are_repeated(expected: list[list[list[float]]]) -> None:
    one = model()
    one.cache_capacity = 20
    assert computed(one, Scoring()) > 1.3 * distinct_prefixes(one)
    assert_equal(answers(one, REQUESTS, Scoring()), expected)


NEAR = ["Africa and Europe", "South America", "Oslo in Norway", "Nairobi", "gold metal", "Warsaw is here", "Paris"]
MANY: list[Request] = [(prompt("[X] is near [Y] they say", f"the metal {i} of {i * i}"), NEAR) for i in range(90)]
DECIDE = Scoring(decide=1)


@pytest.fixture
def short_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use short rows, so that a batch has several of them and can be halved."""
    monkeypatch.setattr(prefix_tree, "NODES_PER_ROW", 1)


@pytest.fixture(scope="module")
def of_many() -> list[list[list[float]]]:
    one = model()
    return expected_log_probs(MANY, obvious.causal(one.network, one.tokenizer))


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


@pytest.mark.usefixtures("short_rows")
@pytest.mark.slow
@pytest.mark.parametrize("call", [1, 4])
def test_running_out_of_memory_while_the_cache_is_filled_changes_no_score(
    call: int, of_many: list[list[list[float]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = model(batch_tokens=600)
    failing = Failing(monkeypatch, call)
    assert_decided(answers(one, MANY, DECIDE), of_many, best=1)
    assert failing.calls_left < 0
    assert one.usage.notes == ["out of memory: batches halved to 300 positions"]


@pytest.mark.usefixtures("short_rows")
def test_running_out_of_memory_while_the_cache_grows_changes_no_score(
    of_many: list[list[list[float]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, real, calls = model(batch_tokens=600), prefix_tree._with_room, []

    def failing(stored: torch.Tensor, places: int) -> torch.Tensor:
        calls.append(places)
        if len(calls) == 7:
            raise torch.OutOfMemoryError("out of memory")
        return real(stored, places)

    monkeypatch.setattr(prefix_tree, "_with_room", failing)
    assert_decided(answers(one, MANY, DECIDE), of_many, best=1)
    assert one.usage.notes == ["out of memory: batches halved to 300 positions"]


@pytest.mark.usefixtures("short_rows")
@pytest.mark.parametrize("capacity", [*(pytest.param(size, marks=pytest.mark.slow) for size in (1, 20)), 200])
def test_nodes_beyond_the_capacity_are_computed_again(capacity: int, of_many: list[list[list[float]]]) -> None:
    large, small = model(), model()
    small.cache_capacity = capacity
    by_large, by_small = answers(large, MANY, DECIDE), answers(small, MANY, DECIDE)
    assert_decided(by_small, of_many, best=1)
    assert [one.exact.tolist() for one in by_small] == [one.exact.tolist() for one in by_large]
    assert small.usage.positions > large.usage.positions


@pytest.mark.usefixtures("short_rows")
def test_neither_the_cache_nor_a_pass_exceeds_the_capacity(monkeypatch: pytest.MonkeyPatch) -> None:
    one, capacity, places = model(), 300, []
    one.cache_capacity = capacity
    add = KVCache.add

    def watched(cache: KVCache, network_cache: Any, *arguments: Any) -> None:
        add(cache, network_cache, *arguments)
        places.extend(len(tensor) for layer in cache._layers for tensor in layer)
        places.append(network_cache.layers[0].keys.shape[0] * network_cache.layers[0].keys.shape[2])

    monkeypatch.setattr(KVCache, "add", watched)
    answers(one, MANY, DECIDE)
    assert max(places) == capacity
