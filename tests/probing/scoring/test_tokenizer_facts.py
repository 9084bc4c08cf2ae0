"""Facts about tokenizers, and start tokens that a tokenizer has or lacks."""

import pytest

from probing.errors import BadInput
from probing.scoring.causal import CausalModel
from probing.scoring.masked import MaskedModel
from probing.scoring.tokens import chosen_start, facts_of
from probing.start_token import StartToken
from tests.probing.scoring.networks import HEAD_APART, SHARING
from tests.probing.scoring.stubs import whole_words
from tests.tiny_models import byte_level_bpe, word_piece


def test_facts_are_those_of_the_tokenizer() -> None:
    tokenizer = byte_level_bpe()
    facts = facts_of(tokenizer, chosen_start(tokenizer, "auto"))
    assert (facts.algorithm, facts.vocabulary) == ("BPE", len(tokenizer))
    assert not facts.lower_cases
    assert not facts.adds_space
    assert facts.special_tokens == {"bos": "<|endoftext|>", "eos": "<|endoftext|>"}
    assert facts.start == StartToken("auto", 0, "<|endoftext|>", "bos")


def test_a_tokenizer_that_lower_cases_is_told_apart() -> None:
    assert facts_of(whole_words(["paris"]), None).lower_cases
    assert not facts_of(word_piece(), None).lower_cases


def test_a_space_before_the_first_word_is_told() -> None:
    tokenizer = byte_level_bpe()
    tokenizer.backend_tokenizer.pre_tokenizer.add_prefix_space = True
    assert facts_of(tokenizer, None).adds_space


def test_the_usual_start_token_is_bos_or_else_eos_or_else_none() -> None:
    tokenizer = byte_level_bpe()
    assert chosen_start(tokenizer, "auto").name == "bos"
    tokenizer.bos_token = None
    assert chosen_start(tokenizer, "auto").name == "eos"
    tokenizer.eos_token = None
    assert chosen_start(tokenizer, "auto") == StartToken("auto")


def test_a_token_that_the_tokenizer_lacks_is_refused() -> None:
    tokenizer = byte_level_bpe()
    tokenizer.bos_token = None
    with pytest.raises(BadInput, match="has no bos token"):
        chosen_start(tokenizer, "bos")
    with pytest.raises(BadInput, match="has no token 400") as error:
        chosen_start(tokenizer, "400")
    assert f"from 0 to {len(tokenizer) - 1}" in error.value.next_step


def test_a_masked_model_has_no_start_token_to_choose() -> None:
    tokenizer = word_piece()
    model = MaskedModel(HEAD_APART["bert"](len(tokenizer)), tokenizer)
    assert model.card.tokenizer is not None
    assert model.card.tokenizer.start is None
    assert model.starting("auto").card == model.card
    with pytest.raises(BadInput, match="tokenizer of a masked model"):
        model.starting("eos")


def test_a_chat_is_not_asked_with_a_start_token_of_its_own() -> None:
    tokenizer = byte_level_bpe()
    tokenizer.chat_template = "{{ messages[0]['content'] }}"
    model = CausalModel(SHARING["gpt2"](len(tokenizer)), tokenizer)
    assert list(model.generate(["Chad"], 1, chat=True))
    with pytest.raises(BadInput, match="chat template decides"):
        list(model.starting("eos").generate(["Chad"], 1, chat=True))
