"""What causal and masked models share: refused statements, the head's places, and the self-check's tolerance."""

from collections.abc import Callable

import numpy as np
import pytest
import torch

from probing.errors import BadInput, TooLong, UnsupportedModel
from probing.language_model import Scoring, fitting
from probing.scoring.causal import CausalModel
from probing.scoring.hf_model import HFModel
from probing.scoring.masked import MaskedModel
from probing.template import prompt
from tests.probing.scoring.compare import REQUESTS, answers
from tests.probing.scoring.networks import HEAD_APART, SHARING
from tests.probing.scoring.stubs import bigram, random_table, whole_words
from tests.tiny_models import byte_level_bpe, word_piece


def causal(dtype: torch.dtype = torch.float32) -> CausalModel:
    tokenizer = byte_level_bpe()  # 128 tokens, as the network
    return CausalModel(SHARING["gpt2"](len(tokenizer)).to(dtype), tokenizer)


def masked(dtype: torch.dtype = torch.float32) -> MaskedModel:
    tokenizer = word_piece()
    return MaskedModel(HEAD_APART["bert"](len(tokenizer)).to(dtype), tokenizer)


def test_a_statement_that_leaves_nothing_to_score_is_an_error() -> None:
    """Otherwise its score would be 0, the highest possible."""
    tokenizer = whole_words(["a", "b", "c"], start="")
    model = CausalModel(bigram(random_table(len(tokenizer))), tokenizer)
    with pytest.raises(BadInput, match="nothing to score of 'a'"):
        answers(model, [(prompt("[Y]", ""), ["a b", "a"])])


def test_a_statement_that_is_too_long_is_answered_by_an_error_and_the_others_by_scores() -> None:
    model = causal()
    fits, too_long = ((prompt("[X] [Y]", "7" * count), ["7"]) for count in (125, 126))
    first, error, last = model.score([fits, too_long, fits], Scoring())
    assert isinstance(error, TooLong) and error.limit == 128 and "129 tokens, the model takes 128" in str(error)
    np.testing.assert_array_equal(fitting(first).log_probs, fitting(last).log_probs)
    with pytest.raises(TooLong):
        fitting(error)


def test_a_tokenizer_with_more_tokens_than_the_network_is_an_error() -> None:
    model = CausalModel(SHARING["gpt2"](300), byte_level_bpe(vocabulary=400))
    with pytest.raises(UnsupportedModel, match="300 or higher"):
        answers(model, REQUESTS)


@pytest.mark.parametrize("make", [causal, masked])
def test_an_infinite_logit_does_not_widen_the_tolerance_of_the_self_check(make: Callable[..., HFModel]) -> None:
    model = make(torch.bfloat16)
    head = model.network.get_output_embeddings()
    head.register_forward_hook(lambda _, inputs, logits: logits.index_fill(-1, torch.tensor([3]), -torch.inf))
    assert 0 < model.tolerance < 1


@pytest.mark.parametrize("make", [causal, masked])
def test_half_precision_is_checked_less_strictly(make: Callable[..., HFModel]) -> None:
    assert make().tolerance < make(torch.bfloat16).tolerance


@torch.inference_mode()
@pytest.mark.parametrize("make", [causal, masked])
def test_logits_at_some_places_are_those_of_the_whole_output(make: Callable[..., HFModel]) -> None:
    model, ids = make(), torch.arange(5, 17).reshape(2, 6)
    whole = model.network(input_ids=ids).logits.flatten(0, 1)
    places = torch.tensor([11, 0, 4])
    torch.testing.assert_close(model.logits_at(places, input_ids=ids), whole[places])
    torch.testing.assert_close(model.network(input_ids=ids).logits.flatten(0, 1), whole, msg="the hook is gone")


@torch.inference_mode()
def test_a_network_that_does_not_call_its_head_is_told_by_the_shape_of_its_logits() -> None:
    model = causal()
    model.hook_head = lambda narrow: torch.nn.Linear(1, 1).register_forward_pre_hook(lambda *_: None)
    with pytest.raises(RuntimeError, match="the head is not called as expected"):
        model.logits_at(torch.tensor([0]), input_ids=torch.tensor([[1, 2, 3]]))


def test_a_network_that_refuses_the_self_check_is_scored_with_the_reference_implementation() -> None:
    model = causal()
    assert model.refused(TypeError("unexpected keyword")) is False
    (note,) = model.usage.notes
    assert note == "scored with the reference implementation: the network does not take the inputs of the fast one"
    with pytest.raises(torch.OutOfMemoryError):
        model.refused(torch.OutOfMemoryError("out of memory"))


def test_a_model_without_a_card_is_described_by_its_network() -> None:
    card = masked().card
    assert (card.kind, card.architecture, card.source) == ("masked", "BertForMaskedLM", "object")
    assert card.id == "BertForMaskedLM"
    assert card.parameters > 1000


def test_without_a_start_token_the_first_token_is_not_scored() -> None:
    model = causal()
    request = (prompt("[X] is [Y].", "Chad"), ["big"])
    (started,), (unstarted,) = (answers(model, [request], Scoring(start=start)) for start in (True, False))
    assert len(started.log_probs[0]) == len(unstarted.log_probs[0]) + 1
