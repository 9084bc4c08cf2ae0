"""Every architecture that is claimed: equal to the obvious way, and known to be fast or known to be plain."""

from collections import Counter
from typing import Any, cast

import pytest
import torch

from probing.language_model import Scoring
from probing.scoring.causal import CausalModel
from probing.scoring.hf_model import HFModel
from probing.scoring.masked import MaskedModel
from probing.scoring.prefix_tree import Ints, PrefixTree
from tests.probing.scoring import obvious
from tests.probing.scoring.compare import ASKED, answers, assert_decided, assert_equal, estimate_work
from tests.probing.scoring.networks import HEAD_APART, PLAIN_CAUSAL, PLAIN_MASKED, SHARING, Build
from tests.tiny_models import byte_level_bpe, word_piece

CAUSAL = SHARING | PLAIN_CAUSAL
MASKED = HEAD_APART | PLAIN_MASKED
HALVES = [torch.bfloat16, torch.float16]
Wanted = list[list[list[float]]]


def causal_model(build: Build, dtype: torch.dtype = torch.float32) -> CausalModel:
    tokenizer = byte_level_bpe(start="<s>")
    return CausalModel(build(len(tokenizer)).to(dtype), tokenizer)


def masked_model(build: Build, dtype: torch.dtype = torch.float32) -> MaskedModel:
    tokenizer = word_piece()
    return MaskedModel(build(len(tokenizer)).to(dtype), tokenizer)


@pytest.fixture(scope="module", params=[*CAUSAL, *MASKED])
def measured(request: pytest.FixtureRequest) -> tuple[HFModel, Wanted]:
    """A model and what the obvious way says."""
    if request.param in CAUSAL:
        causal = causal_model(CAUSAL[request.param])
        return causal, estimate_work(ASKED, obvious.causal(causal.network, causal.tokenizer))
    masked = masked_model(MASKED[request.param])
    reference = obvious.masked(masked.network, masked.tokenizer, "within_word_l2r")
    return masked, estimate_work(ASKED, reference)


def test_scores_equal_the_obvious_way(measured: tuple[HFModel, Wanted]) -> None:
    model, wanted = measured
    assert_equal(answers(model, ASKED), wanted)


@pytest.mark.parametrize("best", [1, 3])
def test_deciding_finds_the_same_best_options(measured: tuple[HFModel, Wanted], best: int) -> None:
    model, wanted = measured
    assert_decided(answers(model, ASKED, Scoring(decide=best)), wanted, best)


@pytest.mark.parametrize("name", SHARING)
def test_it_shares_prefixes(name: str) -> None:
    model = causal_model(SHARING[name])
    answers(model, ASKED)
    assert model.use_fast_path
    assert model.usage.notes == []


@pytest.mark.parametrize("name", PLAIN_CAUSAL)
def test_a_network_that_ignores_tree_masks_is_scored_plainly_with_a_note(name: str) -> None:
    model = causal_model(PLAIN_CAUSAL[name])
    answers(model, ASKED)
    assert not model.use_fast_path
    assert_says_plain(model)


@pytest.mark.parametrize("name", HEAD_APART)
def test_it_runs_the_head_only_where_it_counts(name: str) -> None:
    model, seen = masked_model(HEAD_APART[name]), Counter[torch.nn.Module]()
    assert model.use_fast_path
    inside = set(model.network.base_model.modules())
    for module in set(model.network.modules()) - inside - {model.network}:
        module.register_forward_pre_hook(lambda part, given: seen.update({part: given[0].shape[:-1].numel()}))
    before = model.usage.positions
    answers(model, ASKED)
    assert 0 < max(seen.values()) < 0.5 * (model.usage.positions - before)
    assert model.usage.notes == []


@pytest.mark.parametrize("name", PLAIN_MASKED)
def test_a_network_that_padding_disturbs_is_scored_plainly_with_a_note(name: str) -> None:
    model = masked_model(PLAIN_MASKED[name])
    answers(model, ASKED)
    assert not model.use_fast_path
    assert_says_plain(model)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize(
    "name", [*CAUSAL, *(name for name in MASKED if name != "fnet")]
)  # fnet knows no half precision
def test_half_precision_neither_hides_nor_feigns_a_network_that_needs_the_plain_way(
    name: str, dtype: torch.dtype
) -> None:
    model = causal_model(CAUSAL[name], dtype) if name in CAUSAL else masked_model(MASKED[name], dtype)
    assert model.use_fast_path == (name in SHARING or name in HEAD_APART)


def assert_says_plain(model: HFModel) -> None:
    """Once, however much is scored."""
    assert len(model.usage.notes) == 1
    assert model.usage.notes[0].startswith("scored the reference implementation: ")


@pytest.mark.parametrize("dtype", [torch.float32, *HALVES], ids=str)
@pytest.mark.parametrize("name", SHARING)
def test_the_self_check_would_see_a_wrong_mask(name: str, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    """With weights this large, seeing more than the ancestors changes the numbers."""

    def everything(self: CausalModel, tree: PrefixTree, keys: Ints, queries: Ints) -> torch.Tensor:
        return torch.zeros(len(keys), 1, queries.shape[1], keys.shape[1], dtype=dtype)

    monkeypatch.setattr(CausalModel, "_tree_mask", everything)
    model = causal_model(SHARING[name], dtype)
    assert not model.use_fast_path
    assert "off by" in model.usage.notes[0]


@pytest.mark.parametrize("dtype", [torch.float32, *HALVES], ids=str)
@pytest.mark.parametrize("name", HEAD_APART)
def test_the_self_check_would_see_unmasked_padding(
    name: str, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = masked_model(HEAD_APART[name], dtype)
    forward = model.network.forward

    def unmasked(input_ids: torch.Tensor, attention_mask: torch.Tensor | None = None) -> Any:
        return forward(input_ids=input_ids, attention_mask=torch.ones_like(input_ids))

    monkeypatch.setattr(model.network, "forward", unmasked)
    assert not model.use_fast_path
    assert "off by" in model.usage.notes[0]


class Recorder:
    """Places that are only of use on the device that they were sent to."""

    def __init__(self, places: list[int]) -> None:
        self.places, self.sent = torch.tensor(places), []

    def __len__(self) -> int:
        return len(self.places)

    def to(self, device: torch.device) -> torch.Tensor:
        self.sent.append(device)
        return self.places


@pytest.mark.parametrize("name", ["llama", "bert"])
def test_places_go_where_the_heads_input_is(name: str) -> None:
    """Which is another device than the first layer's, where a network is spread over several."""
    model = causal_model(SHARING[name]) if name in SHARING else masked_model(HEAD_APART[name])
    places = Recorder([1, 3])
    logits = model.logits_at(cast(torch.Tensor, places), input_ids=torch.tensor([[5, 6, 7, 8]]))
    assert logits.shape[0] == 2
    assert places.sent == [torch.device("cpu")]
