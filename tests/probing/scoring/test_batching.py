"""The budget of batches grows while that is faster and is halved when memory runs out; scores never depend on it."""

import random
import weakref
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
import torch
from transformers import BertConfig, PreTrainedModel

from probing.errors import OutOfMemory
from probing.language_model import Request, Scoring
from probing.scoring import batching
from probing.scoring.batching import INITIAL_TOKENS, Budget, ceiling, out_of_memory_explained
from probing.scoring.causal import CausalModel
from probing.scoring.hf_model import HFModel
from probing.scoring.masked import MaskedModel
from probing.template import prompt
from tests.probing.scoring.compare import answers
from tests.probing.scoring.stubs import bigram, random_table, right_neighbour, whole_words, word_pieces

CPU = torch.device("cpu")
WORDS = [f"w{i}" for i in range(300)]
REQUESTS: list[Request] = [(prompt("[X] w1 [Y] w2 w3", f"w{i} w{i}"), WORDS) for i in range(10)]


def causal(fast: bool) -> CausalModel:
    tokenizer = whole_words(WORDS)
    model = CausalModel(bigram(random_table(len(tokenizer))), tokenizer, batch_tokens=2048)
    model.use_fast_path, model.continues_states = fast, False
    return model


def masked(fast: bool) -> MaskedModel:
    tokenizer = word_pieces(WORDS)
    model = MaskedModel(right_neighbour(random_table(len(tokenizer))), tokenizer, batch_tokens=2048)
    model.use_fast_path = fast
    return model


@pytest.fixture(
    params=[
        (causal, True),
        pytest.param((causal, False), marks=pytest.mark.slow),
        (masked, True),
        pytest.param((masked, False), marks=pytest.mark.slow),
    ],
    ids=["causal", "causal reference", "masked", "masked reference"],
)
def model(request: pytest.FixtureRequest) -> HFModel:
    make, fast = request.param
    made: HFModel = make(fast)
    return made


@pytest.mark.slow
@pytest.mark.parametrize("scoring", [Scoring(), Scoring(decide=1)], ids=["full", "decide"])
def test_out_of_memory_halves_the_batches_and_changes_no_score(model: HFModel, scoring: Scoring) -> None:
    expected = answers(model, REQUESTS, scoring)
    model.network.limit = 700
    halved = answers(model, REQUESTS, scoring)
    assert model.budget.tokens <= 700
    assert model.usage.notes == [f"out of memory: batches halved to {tokens} positions" for tokens in (1024, 512)]
    for before, after in zip(expected, halved, strict=True):
        np.testing.assert_array_equal(before.reduce(), after.reduce())


def test_a_single_row_that_does_not_fit_is_an_error_with_a_next_step(model: HFModel) -> None:
    model.network.limit = 4
    with pytest.raises(OutOfMemory) as caught:
        answers(model, REQUESTS)
    assert "--dtype bfloat16" in caught.value.next_step


def test_the_message_of_the_cpus_allocator_counts_as_out_of_memory() -> None:
    budget = Budget(CPU, ceiling=64, fixed=64)
    calls = []

    def work(batch: list[int]) -> list[int]:
        calls.append(len(batch))
        if len(batch) > 2:
            raise RuntimeError("[enforce fail at alloc_cpu.cpp] DefaultCPUAllocator: can't allocate memory: 99 bytes")
        return batch

    assert list(budget.run(work, [1, 2, 3, 4], 64)) == [[1, 2], [3, 4]]
    assert calls == [4, 2, 2]


def test_other_errors_are_raised_again() -> None:
    def work(batch: list[int]) -> None:
        raise RuntimeError("shapes do not match")

    with pytest.raises(RuntimeError, match="shapes"):
        list(Budget(CPU, ceiling=64).run(work, [1, 2], 64))


class Clock:
    """Clock that the simulated work advances."""

    def __init__(self) -> None:
        self.now = 0.0

    def perf_counter(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    fake = Clock()
    monkeypatch.setattr(batching, "time", fake)
    return fake


def budgets_of_full_batches(budget: Budget, clock: Clock, fastest: int) -> list[int]:
    """Return the budget after each of 120 full batches, on a device whose speed grows up to batches of `fastest`."""

    def work(batch: range) -> None:
        clock.now += len(batch) / min(len(batch), fastest)

    budgets = []
    for _ in range(120):
        list(budget.run(work, range(budget.tokens), budget.tokens))
        budgets.append(budget.tokens)
    return budgets


def test_the_budget_grows_up_to_the_fastest_batches_and_never_above_its_ceiling(clock: Clock) -> None:
    fast = 4 * INITIAL_TOKENS
    assert budgets_of_full_batches(Budget(CPU, ceiling=2**20), clock, fastest=fast)[-1] == fast
    most = 3 * INITIAL_TOKENS
    assert max(budgets_of_full_batches(Budget(CPU, ceiling=most), clock, fastest=2**20)) == most


def test_a_settled_and_a_fixed_budget_do_not_change(clock: Clock) -> None:
    budget = Budget(CPU, ceiling=2**20)
    budgets_of_full_batches(budget, clock, fastest=INITIAL_TOKENS)
    assert budgets_of_full_batches(budget, clock, fastest=2**20) == [INITIAL_TOKENS] * 120
    assert budgets_of_full_batches(Budget(CPU, ceiling=2**20, fixed=96), clock, fastest=2**20) == [96] * 120


def test_batches_that_are_not_full_do_not_change_the_budget(clock: Clock) -> None:
    budget = Budget(CPU, ceiling=2**20)
    list(budget.run(lambda batch: None, [1], INITIAL_TOKENS // 2))
    assert budget.tokens == INITIAL_TOKENS


@pytest.mark.parametrize("length", [INITIAL_TOKENS // 2 + 1, 3 * INITIAL_TOKENS // 4, 3 * INITIAL_TOKENS])
def test_the_budget_grows_with_rows_that_never_fill_it_exactly(clock: Clock, length: int) -> None:
    """A batch is full if another row would not fit."""
    budget, fastest = Budget(CPU, ceiling=2**20), 16 * INITIAL_TOKENS

    def work(rows: range) -> None:
        clock.now += len(rows) * length / min(len(rows) * length, fastest)

    for _ in range(120):
        rows = max(budget.tokens // length, 1)
        list(budget.run(work, range(rows), rows * length))
    assert budget.tokens >= fastest


BUSY, BURST = 0.7, 3  # the share of batches that other programs slow down, and how many of these follow each other
RATES = {512: 1.0, 1024: 1.12, 2048: 1.24}  # positions a second; the same for all larger batches
RIGHT = 2048


def disturbed_times(seed: int) -> Iterator[Callable[[int], float]]:
    """Yield, for each batch, a function of its positions: the time that it takes on a machine that others use as well.

    A batch that is disturbed takes on average 1.7 times as long.
    """
    chance, disturbed = random.Random(seed), False
    while True:
        if chance.random() < 1 / BURST:
            disturbed = chance.random() < BUSY
        slowdown = chance.uniform(1, 1.03) * (1 + chance.expovariate(1 / 0.7) if disturbed else 1)
        yield lambda positions, slowdown=slowdown: slowdown * positions / RATES.get(positions, RATES[RIGHT])


def size_that_is_found(seed: int, clock: Clock) -> int:
    """Return the size that the budget has after many batches on a busy machine."""
    budget, times = Budget(CPU, ceiling=2**20), disturbed_times(seed)

    def work(batch: range) -> None:
        clock.now += next(times)(len(batch))

    for _ in range(300):
        list(budget.run(work, range(budget.tokens), budget.tokens))
    return budget.tokens


def test_a_busy_machine_hardly_ever_changes_the_size_that_is_found(clock: Clock) -> None:
    assert sum(size_that_is_found(seed, clock) == RIGHT for seed in range(100)) >= 95


def test_a_quiet_machine_takes_four_batches_for_each_size(clock: Clock) -> None:
    budgets = budgets_of_full_batches(Budget(CPU, ceiling=2**20), clock, fastest=4 * INITIAL_TOKENS)
    assert [budgets.index(size) for size in (2 * INITIAL_TOKENS, 4 * INITIAL_TOKENS)] == [0, 7]


def test_the_gpus_cache_is_emptied_after_the_failed_batch_is_freed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The traceback of the error keeps alive what the batch has allocated."""
    allocated, alive = [], []
    monkeypatch.setattr(torch.cuda, "synchronize", lambda device: None)
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: alive.append(allocated[-1]()))

    def work(batch: range) -> None:
        states = torch.zeros(1)
        allocated.append(weakref.ref(states))
        if len(batch) > 1:
            raise torch.OutOfMemoryError("out of memory")

    list(Budget(torch.device("cuda"), ceiling=64).run(work, range(2), 64))
    assert alive == [None]


def test_only_full_batches_wait_for_the_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """The others say nothing about the size of batches, and what comes next is prepared while the GPU computes."""
    waits: list[torch.device] = []
    monkeypatch.setattr(torch.cuda, "synchronize", waits.append)
    budget = Budget(torch.device("cuda"), ceiling=2**20)
    list(budget.run(lambda batch: None, range(budget.tokens // 2), budget.tokens // 2))
    assert waits == []
    list(budget.run(lambda batch: None, range(budget.tokens), budget.tokens))
    assert len(waits) == 2


@pytest.mark.parametrize("make", [causal, masked])
@pytest.mark.parametrize("limit", [1, 60])
def test_memory_that_runs_out_in_the_self_check_is_an_error(make: Callable[[bool], HFModel], limit: int) -> None:
    """It does not mean that the network fails the self-check, whichever implementation runs out of memory."""
    one = make(fast=True)
    del one.__dict__["use_fast_path"]
    one.network.limit = limit
    with pytest.raises(OutOfMemory) as caught:
        one.check()
    assert "--dtype bfloat16" in caught.value.next_step
    assert one.usage.notes == []


def network(vocabulary: int, hidden: int) -> PreTrainedModel:
    config = BertConfig(vocab_size=vocabulary, hidden_size=hidden)
    return cast(PreTrainedModel, SimpleNamespace(config=config, device=CPU))


def test_the_ceiling_bounds_a_batchs_logits_and_the_states_inside_a_layer() -> None:
    assert ceiling(network(50_000, 64)) * 50_000 * 4 <= batching.CPU_BYTES
    assert ceiling(network(2**40, 64)) == 1
    assert ceiling(network(1_000, 768)) * 8 * 768 * 4 <= batching.CPU_BYTES


def test_only_running_out_of_memory_is_explained() -> None:
    with pytest.raises(OutOfMemory, match="does not fit on the device"), out_of_memory_explained():
        raise torch.OutOfMemoryError("out of memory")
    with pytest.raises(RuntimeError, match="shapes differ"), out_of_memory_explained():
        raise RuntimeError("shapes differ")
