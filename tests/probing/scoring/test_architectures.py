"""Every supported architecture is scored right, and with the implementation (fast or reference) that is expected."""

from collections import Counter
from typing import Any, cast

import pytest
import torch

from probing.arrays import Ints
from probing.language_model import Scoring
from probing.scoring.causal import MANY_BRANCHES
from probing.scoring.hf_model import HFModel
from probing.scoring.prefix_tree import PrefixTree
from probing.scoring.tree_passes import TreePasses
from tests.probing.scoring import obvious
from tests.probing.scoring.compare import REQUESTS, answers, assert_decided, assert_equal, expected_log_probs
from tests.probing.scoring.networks import (
    HEAD_APART,
    REFERENCE_CAUSAL,
    REFERENCE_MASKED,
    SHARING,
    causal_model,
    masked_model,
)

CAUSAL = SHARING | REFERENCE_CAUSAL
MASKED = HEAD_APART | REFERENCE_MASKED
HALVES = [torch.bfloat16, torch.float16]
LogProbs = list[list[list[float]]]


@pytest.fixture(scope="module", params=[*CAUSAL, *MASKED])
def measured(request: pytest.FixtureRequest) -> tuple[HFModel, LogProbs]:
    """A model, and the log-probabilities by the obvious implementation."""
    if request.param in CAUSAL:
        causal = causal_model(CAUSAL[request.param])
        return causal, expected_log_probs(REQUESTS, obvious.causal(causal.network, causal.tokenizer))
    masked = masked_model(MASKED[request.param])
    score = obvious.masked(masked.network, masked.tokenizer, "within_word_l2r")
    return masked, expected_log_probs(REQUESTS, score)


def test_scores_equal_the_obvious_implementation(measured: tuple[HFModel, LogProbs]) -> None:
    model, expected = measured
    assert_equal(answers(model, REQUESTS), expected)


@pytest.mark.slow
@pytest.mark.parametrize("best", [1, 3])
def test_an_early_decision_gives_the_same_best_options(measured: tuple[HFModel, LogProbs], best: int) -> None:
    model, expected = measured
    assert_decided(answers(model, REQUESTS, Scoring(decide=best)), expected, best)


@pytest.mark.parametrize("name", SHARING)
def test_a_network_that_accepts_tree_masks_is_scored_with_shared_prefixes(name: str) -> None:
    model = causal_model(SHARING[name])
    answers(model, REQUESTS)
    assert model.use_fast_path
    assert model.usage.notes == []


@pytest.mark.parametrize("name", REFERENCE_CAUSAL)
def test_a_network_that_ignores_tree_masks_is_scored_by_continuing_its_cache(name: str) -> None:
    model = causal_model(REFERENCE_CAUSAL[name])
    answers(model, REQUESTS)
    assert not model.use_fast_path
    assert model.continues_states
    assert model.usage.notes == []


@pytest.mark.parametrize("name", HEAD_APART)
def test_the_head_of_a_masked_model_runs_only_at_predicted_positions(name: str) -> None:
    model, positions = masked_model(HEAD_APART[name]), Counter[torch.nn.Module]()
    assert model.use_fast_path
    inside = set(model.network.base_model.modules())
    for module in set(model.network.modules()) - inside - {model.network}:
        module.register_forward_pre_hook(lambda part, inputs: positions.update({part: inputs[0].shape[:-1].numel()}))
    before = model.usage.positions
    answers(model, REQUESTS)
    assert 0 < max(positions.values()) < 0.5 * (model.usage.positions - before)
    assert model.usage.notes == []


@pytest.mark.parametrize("name", REFERENCE_MASKED)
def test_a_network_that_padding_disturbs_is_scored_with_the_reference_and_a_note(name: str) -> None:
    model = masked_model(REFERENCE_MASKED[name])
    answers(model, REQUESTS)
    assert not model.use_fast_path
    assert_notes_the_reference(model)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("name", [*CAUSAL, *(name for name in MASKED if name != "fnet")])  # fnet has no half precision
def test_half_precision_does_not_change_which_networks_need_the_reference(name: str, dtype: torch.dtype) -> None:
    model = causal_model(CAUSAL[name], dtype) if name in CAUSAL else masked_model(MASKED[name], dtype)
    assert model.use_fast_path == (name in SHARING or name in HEAD_APART)


def assert_notes_the_reference(model: HFModel) -> None:
    """Assert that there is one note, however much is scored."""
    assert len(model.usage.notes) == 1
    assert model.usage.notes[0].startswith("scored with the reference implementation: ")


@pytest.mark.parametrize("dtype", [torch.float32, *HALVES], ids=str)
@pytest.mark.parametrize("name", SHARING)
def test_the_self_check_detects_a_wrong_mask(name: str, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    """With weights this large, attention to more than the ancestors changes the scores."""

    def everything(self: TreePasses, tree: PrefixTree, keys: Ints, queries: Ints) -> torch.Tensor:
        return torch.zeros(len(keys), 1, queries.shape[1], keys.shape[1], dtype=dtype)

    monkeypatch.setattr(TreePasses, "_mask", everything)
    model = causal_model(SHARING[name], dtype)
    assert not model.use_fast_path
    sequences = model._branching_sequences(*MANY_BRANCHES)
    assert model._difference(model._fast_log_probs, sequences).startswith("off by")


@pytest.mark.parametrize("dtype", [torch.float32, *HALVES], ids=str)
@pytest.mark.parametrize("name", HEAD_APART)
def test_the_self_check_detects_open_padding(name: str, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    model = masked_model(HEAD_APART[name], dtype)
    forward = model.network.forward

    def unmasked(input_ids: torch.Tensor, attention_mask: torch.Tensor | None = None) -> Any:
        return forward(input_ids=input_ids, attention_mask=torch.ones_like(input_ids))

    monkeypatch.setattr(model.network, "forward", unmasked)
    assert not model.use_fast_path
    assert "off by" in model.usage.notes[0]


class Recorder:
    """Tensor of places that records the devices to which it is copied."""

    def __init__(self, places: list[int]) -> None:
        self.places, self.sent = torch.tensor(places), []

    def __len__(self) -> int:
        return len(self.places)

    def to(self, device: torch.device) -> torch.Tensor:
        self.sent.append(device)
        return self.places


@pytest.mark.parametrize("name", ["llama", "bert"])
def test_places_are_copied_to_the_device_of_the_heads_input(name: str) -> None:
    """The head may be on another device than the first layer, if a network is spread over several."""
    model = causal_model(SHARING[name]) if name in SHARING else masked_model(HEAD_APART[name])
    places = Recorder([1, 3])
    logits = model.logits_at(cast(torch.Tensor, places), input_ids=torch.tensor([[5, 6, 7, 8]]))
    assert logits.shape[0] == 2
    assert places.sent == [torch.device("cpu")]
