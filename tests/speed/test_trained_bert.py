"""The training of BERT: its tokenizer, its examples, and layers that change nothing."""

import numpy as np
import torch
from transformers import BertConfig, BertForMaskedLM

from probing.scoring.tokens import Encoded
from speed.trained_bert import IGNORED, LEARNING_LAYERS, SPECIAL, _make_identities, _masked_batch, word_piece

MASK = 9
SHORT = Encoded((1, 5, 6, 2), (1, 2), slice(1, 2), (None, 0, 1, None))
LONG = Encoded((1, 5, 6, 7, 2), (1, 2, 3), slice(1, 3), (None, 0, 1, 1, None))


def test_the_tokenizer_is_cased_and_frames_texts_as_bert_does() -> None:
    tokenizer = word_piece(["Oslo is the capital of Norway.", "oslo"])
    assert tokenizer.convert_tokens_to_ids("[PAD]") == 0, "padding is told apart by id 0"
    tokens = tokenizer.convert_ids_to_tokens(tokenizer("Oslo")["input_ids"])
    assert (tokens[0], tokens[-1]) == (SPECIAL["cls_token"], SPECIAL["sep_token"])
    assert tokenizer("Oslo")["input_ids"] != tokenizer("oslo")["input_ids"]


def test_hidden_tokens_are_the_targets_and_all_others_are_ignored() -> None:
    generator = np.random.default_rng(0)
    for _ in range(20):
        ids, targets = _masked_batch([SHORT, LONG], MASK, generator)
        assert ids.shape == targets.shape == (2, 5)
        hidden = targets != IGNORED
        assert torch.equal(hidden, ids == MASK)
        assert hidden.any(dim=1).all(), "at least one token of each statement is hidden"
        originals = torch.tensor([[*SHORT.ids, 0], LONG.ids])
        assert torch.equal(torch.where(hidden, targets, ids), originals)


def test_of_a_word_the_end_is_hidden_as_the_metric_hides_it() -> None:
    generator = np.random.default_rng(0)
    for _ in range(20):
        ids, _ = _masked_batch([LONG], MASK, generator)
        first, second = (bool(ids[0, place] == MASK) for place in (2, 3))
        assert second or not first


def test_layers_that_do_not_learn_change_nothing() -> None:
    torch.manual_seed(0)
    size = {"hidden_size": 8, "intermediate_size": 16, "num_attention_heads": 2, "vocab_size": 20}
    network = BertForMaskedLM(BertConfig(num_hidden_layers=LEARNING_LAYERS + 2, **size)).eval()
    _make_identities(network.bert.encoder.layer)
    states = network.bert(torch.tensor([[1, 5, 6, 2]]), output_hidden_states=True).hidden_states
    torch.testing.assert_close(states[-1], states[LEARNING_LAYERS])
    assert not torch.allclose(states[1], states[0])
