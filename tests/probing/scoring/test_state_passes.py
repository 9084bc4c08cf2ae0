"""Recurrent and hybrid networks: every distinct prefix is computed once, by continuing the network's cache."""

from typing import Any

import numpy as np
import pytest
import torch

from probing.language_model import Scoring
from probing.scoring import state_passes
from probing.scoring.causal import CausalModel
from probing.scoring.prefix_tree import PrefixTree
from probing.scoring.state_passes import KeptStates, Rows, selected
from probing.template import prompt
from tests.probing.scoring import obvious
from tests.probing.scoring.compare import REQUESTS, answers, assert_equal, expected_log_probs
from tests.probing.scoring.hybrid_networks import HYBRID
from tests.probing.scoring.networks import causal_model

CONTINUING = [name for name in HYBRID if name != "nemotron-h"]


def made(name: str) -> CausalModel:
    model = causal_model(HYBRID[name])
    model.check()
    return model


def distinct_prefixes(model: CausalModel) -> int:
    """Return how many beginnings of the statements have a token after them."""
    ids = [
        (*model.encoder.start, *model.tokenizer(statement.text, add_special_tokens=False)["input_ids"])
        for request in REQUESTS
        for statement in obvious.statements(request)
    ]
    return len({row[:end] for row in ids for end in range(1, len(row))})


@pytest.mark.parametrize("scoring", [Scoring(), Scoring(decide=1)])
@pytest.mark.parametrize("name", CONTINUING)
def test_every_distinct_prefix_is_computed_once(name: str, scoring: Scoring) -> None:
    model = made(name)
    assert model.continues_states and model.usage.notes == []
    before = model.usage.positions
    scores = answers(model, REQUESTS, scoring)
    assert_equal(scores, expected_log_probs(REQUESTS, obvious.causal(model.network, model.tokenizer)))
    assert model.usage.positions - before == distinct_prefixes(model)


def test_a_network_that_does_not_continue_exactly_is_scored_by_the_reference_with_words() -> None:
    model = made("nemotron-h")
    assert_equal(answers(model, REQUESTS), expected_log_probs(REQUESTS, obvious.causal(model.network, model.tokenizer)))
    (note,) = model.usage.notes
    assert "continues its cache" in note and "Error" not in note


@pytest.mark.slow
@pytest.mark.parametrize("rows", [1, 3])
def test_the_caches_stay_within_their_memory_and_change_no_score(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    model, most, held, add = made("qwen3.5"), [0], [0], KeptStates.add

    def watched(kept: KeptStates, nodes: Any, cache: Any) -> None:
        add(kept, nodes, cache)
        most.append(int((kept._place[:, 0] >= 0).sum()))
        caches = [*kept._caches.values(), cache]
        held.append(sum(tensor.nbytes for one in caches for tensor in state_passes._tensors(one)))

    monkeypatch.setattr(KeptStates, "add", watched)
    answers(model, REQUESTS)
    free = max(most)
    model.state_bytes = rows * 20_000
    assert max(held) > 3 * model.state_bytes
    most.clear()
    held.clear()
    scores = answers(model, REQUESTS)
    assert max(most) < free
    assert max(held) < 3 * model.state_bytes
    assert_equal(scores, expected_log_probs(REQUESTS, obvious.causal(model.network, model.tokenizer)))


def test_a_cache_that_mixes_up_its_rows_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    select = state_passes.selected
    monkeypatch.setattr(state_passes, "selected", lambda cache, rows: select(cache, Rows(0 * rows.numbers)))
    model = made("lfm2")
    assert not model.continues_states
    assert "off by" in model.usage.notes[0]


def test_the_rows_of_a_cache_are_copied_to_a_device_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a GPU each copy would be waited for."""
    copied: list[torch.device] = []
    copy = state_passes.to_device
    monkeypatch.setattr(state_passes, "to_device", lambda rows, device: copied.append(device) or copy(rows, device))
    layers = [torch.arange(3)[:, None] + 10 * layer for layer in range(4)]
    assert [layer.flatten().tolist() for layer in selected(layers, Rows(np.array([2, 0])))] == [
        [10 * layer + 2, 10 * layer] for layer in range(4)
    ]
    assert copied == [torch.device("cpu")]


@pytest.mark.slow
@pytest.mark.parametrize("name", CONTINUING)
def test_long_ends_without_branches_are_scored_right(name: str) -> None:
    model, words = made(name), "flows through Austria, Hungary and Serbia and is a wind instrument of gas"
    requests = [(prompt("The river [X] [Y].", "Danube"), [words, f"Oslo {words}", "Lima"])]
    expected = expected_log_probs(requests, obvious.causal(model.network, model.tokenizer))
    assert_equal(answers(model, requests), expected)


def test_the_nodes_before_the_first_branch_are_computed_in_one_go() -> None:
    tree = PrefixTree.of([[1, 2, 3, 4], [1, 2, 5, 6]], np.ones((2, 4), bool))
    kept = KeptStates(tree, np.arange(6), 1000)
    assert kept.common_length(np.array([0])) == 2
    assert kept.chain(0, 2).tolist() == [0, 1]
    assert kept.children(np.array([1])).tolist() == [2, 4]


@pytest.mark.parametrize(
    ("branches", "rows", "expected"),
    [
        (2, 21, 10),  # the 20 ends of all ten nodes fit beside the root
        (2, 20, 4),  # of the 19 rows that are left, half suffices for the ends of four
        (8, 41, 5),  # half suffices for two, but an eighth of the rows may be taken
        (8, 1, 0),
    ],
)
def test_the_next_pass_leaves_memory_for_what_follows_it(branches: int, rows: int, expected: int) -> None:
    sequences = [[1, second, third, 4, 5] for second in range(10, 20) for third in range(branches)]
    tree = PrefixTree.of(sequences, np.ones((10 * branches, 5), bool))
    kept = KeptStates(tree, np.flatnonzero(tree.inner), rows * 4)
    kept.add(np.array([0]), torch.zeros(1, 1))
    assert kept.fitting(np.flatnonzero(tree.depth == 1)) == expected


def test_memory_is_taken_until_the_last_row_of_a_cache_is_used() -> None:
    tree = PrefixTree.of([[1, 2, 3, 4], [1, 5, 6, 7]], np.ones((2, 4), bool))
    kept = KeptStates(tree, np.flatnonzero(tree.inner), 2 * 4)
    for nodes in ([0], [1, 4]):
        kept.add(np.array(nodes), torch.zeros(len(nodes), 1))
        kept.finish(np.array(nodes))
    kept.finish(np.array([2]))
    assert kept.fitting(np.array([5])) == 0
    kept.finish(np.array([5]))
    assert kept.fitting(np.array([5])) == 1
