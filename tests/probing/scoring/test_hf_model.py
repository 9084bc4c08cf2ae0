"""What causal and masked models share: refused statements, the head's places, and the tolerance of the self-check."""

import math
from itertools import product
import numpy as np
import pytest
import torch
from probing.errors import BadInput, UnsupportedModel
from probing.language_model import Request, Scoring
from probing.scoring.causal import NODES_PER_ROW, CausalModel
from probing.template import prompt
from tests.probing.scoring import obvious
from tests.probing.scoring.compare import REQUESTS, answers, assert_decided, assert_equal, expected_log_probs
from tests.probing.scoring.networks import REFERENCE_CAUSAL, SHARING
from tests.probing.scoring.obvious import statements
from tests.probing.scoring.stubs import bigram, random_table, whole_words
from tests.tiny_models import byte_level_bpe
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


def test_a_statement_that_leaves_nothing_to_score_is_an_error() -> None:
    """Otherwise its score would be 0, the highest possible."""
    model = stub(["a", "b", "c"], start="")
    with pytest.raises(BadInput, match="nothing to score of 'a'"):
        answers(model, [(prompt("[Y]", ""), ["a b", "a"])])


def test_a_statement_that_is_too_long_is_an_error() -> None:
    tokenizer = byte_level_bpe()  # 128 tokens, as the network
    model = CausalModel(SHARING["gpt2"](len(tokenizer)), tokenizer)
    fits, too_long = ((prompt("[X] [Y]", "7" * count), ["7"]) for count in (125, 126))
    answers(model, [fits])
    with pytest.raises(BadInput, match="129 tokens, the model takes 128"):
        answers(model, [too_long])


def test_a_tokenizer_with_more_tokens_than_the_network_is_an_error() -> None:
    model = CausalModel(SHARING["gpt2"](300), byte_level_bpe(vocabulary=400))
    with pytest.raises(UnsupportedModel, match="300 or higher"):
        answers(model, REQUESTS)


@pytest.mark.parametrize("make", [causal, masked])
def test_an_infinite_logit_does_not_widen_the_tolerance_of_the_self_check(make: type[HFModel]) -> None:
    model = make(torch.bfloat16)
    head = model.network.get_output_embeddings()
    head.register_forward_hook(lambda _, inputs, logits: logits.index_fill(-1, torch.tensor([3]), -torch.inf))
    assert 0 < model.tolerance < 1
