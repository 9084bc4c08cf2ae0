"""Weights that are not numbers are reported, and half precision gives scores close to single precision."""

import numpy as np
import pytest
import torch

from probing.errors import NonFiniteScores
from probing.formats import bear
from probing.language_model import Scoring
from probing.runner import run
from probing.scoring.causal import CausalModel
from probing.scoring.hf_model import HFModel
from probing.scoring.masked import MaskedModel
from probing.template import prompt
from tests.conftest import BearFolder
from tests.probing.scoring.compare import answers
from tests.probing.scoring.networks import HEAD_APART, SHARING
from tests.probing.scoring.stubs import bigram, random_table, right_neighbour, whole_words, word_pieces
from tests.tiny_models import byte_level_bpe, word_piece

HALVES = [torch.float16, torch.bfloat16]


def causal(dtype: torch.dtype = torch.float32) -> CausalModel:
    tokenizer = byte_level_bpe(start="<s>")
    return CausalModel(SHARING["llama"](len(tokenizer)).to(dtype), tokenizer)


def masked(dtype: torch.dtype = torch.float32) -> MaskedModel:
    tokenizer = word_piece()
    return MaskedModel(HEAD_APART["bert"](len(tokenizer)).to(dtype), tokenizer)


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
