"""What causal and masked models share: refused statements, the head, the self-check, broken weights, half precision."""

from collections.abc import Callable

import numpy as np
import pytest
import torch

from probing.errors import BadInput, NonFiniteScores, TooLong, UnsupportedModel
from probing.formats import bear
from probing.language_model import Scoring, fitting
from probing.runner import run
from probing.scoring.causal import CausalModel
from probing.scoring.hf_model import HFModel
from probing.scoring.masked import MaskedModel
from probing.template import prompt
from tests.conftest import BearFolder
from tests.probing.scoring.compare import REQUESTS, answers
from tests.probing.scoring.networks import HEAD_APART, SHARING, causal_model, masked_model
from tests.probing.scoring.stubs import bigram, random_table, right_neighbour, whole_words, word_pieces
from tests.tiny_models import byte_level_bpe

HALVES = [torch.float16, torch.bfloat16]


def causal(dtype: torch.dtype = torch.float32) -> CausalModel:
    return causal_model(SHARING["gpt2"], dtype)  # which takes 128 tokens, as the tokenizer


def masked(dtype: torch.dtype = torch.float32) -> MaskedModel:
    return masked_model(HEAD_APART["bert"], dtype)


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


@pytest.mark.timeout(60)
@pytest.mark.parametrize("decide", [False, True])
@pytest.mark.parametrize("make", [causal, masked])
def test_weights_that_are_not_numbers_fail_the_run(make: type[HFModel], decide: bool, bear_folder: BearFolder) -> None:
    model = make()
    next(iter(model.network.parameters())).data.fill_(torch.nan)
    with pytest.raises(NonFiniteScores, match="P30, item 0") as caught:
        run(model, bear.read(bear_folder.write()), decide=decide, progress=False)
    assert caught.value.next_step


def test_weights_that_are_not_numbers_generate_no_text() -> None:
    model = causal()
    next(iter(model.network.parameters())).data.fill_(torch.nan)
    with pytest.raises(NonFiniteScores, match="where it was to write"):
        list(model.generate(["The capital of Norway is"], 3))


@pytest.mark.timeout(60)
@pytest.mark.parametrize("decide", [0, 1, 3])
def test_nan_from_the_network_is_not_mistaken_for_a_missing_value(decide: int) -> None:
    """The fast implementation marks missing values by NaN; here the network gives NaN for some tokens only."""
    words = ["a", "##b", "c", "d"]
    table = random_table(300)
    table[290:] = torch.nan
    whole = whole_words([f"w{i}" for i in range(299)])
    pieces = word_pieces([*words, *(f"w{i}" for i in range(291))])
    for model in (CausalModel(bigram(table), whole), MaskedModel(right_neighbour(table), pieces)):
        model.__dict__.update(use_fast_path=True)
        last = model.tokenizer.convert_ids_to_tokens(295)
        (scores,) = answers(model, [(prompt(f"w1 [Y] {last} w2", ""), ["w3", "w4", "w5"])], Scoring(decide=decide))
        assert not np.isfinite(scores.reduce()).all()


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("make", [causal, masked])
def test_half_precision_is_close_to_single(make: type[HFModel], dtype: torch.dtype) -> None:
    """The sum is within 2 % in bfloat16, whose numbers have three digits, and within 0.3 % in float16."""
    requests = [(prompt("[X] is located in [Y].", "Chad"), ["Africa", "South America", "Asia", "Europe"])]
    (single,), (half,) = answers(make(), requests), answers(make(dtype), requests)
    close = 0.02 if dtype == torch.bfloat16 else 0.003
    np.testing.assert_allclose(half.reduce(), single.reduce(), rtol=close, atol=0)
    (decided,) = answers(make(dtype), requests, Scoring(decide=1))
    assert decided.reduce().argmax() == half.reduce().argmax()


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("make", [causal, masked])
def test_half_precision_uses_the_fast_implementation(make: type[HFModel], dtype: torch.dtype) -> None:
    model = make(dtype)
    answers(model, [(prompt("[X] is [Y].", "Chad"), ["big", "small"])])
    assert model.usage.notes == []
    assert model.dtype == str(dtype).removeprefix("torch.")


def test_a_model_is_shown_in_a_line() -> None:
    model = causal_model(SHARING["llama"])
    assert repr(model) == f"<CausalModel {model.card.id}: {model.card.parameters:,} parameters, float32 on cpu>"
