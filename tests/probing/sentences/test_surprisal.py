"""Surprisals of a user's own sentences: equal to obvious code, by token and by sentence, whatever the text."""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest

import probing
from probing.errors import BadInput, UnsupportedModel
from probing.scoring.causal import CausalModel
from probing.scoring.hf_model import HFModel
from probing.scoring.load import load
from probing.scoring.masked import MaskedModel
from probing.sentences.surprisal import COLUMNS
from probing.template import Statement
from tests.fakes import FakeModel
from tests.probing.scoring import obvious
from tests.probing.scoring.networks import HEAD_APART, REFERENCE_CAUSAL, REFERENCE_MASKED, SHARING
from tests.probing.scoring.obvious import Score
from tests.probing.scoring.seq2seq import FAMILIES
from tests.tiny_models import build_bert, build_gpt2, byte_level_bpe, word_piece

CAUSAL = SHARING | REFERENCE_CAUSAL
MASKED = HEAD_APART | REFERENCE_MASKED
SENTENCES = ["Chad is located in Africa.", "Chad is located in Asia.", "Élysée, Oslo", "Chad is located in Africa."]
# Text that tokenizers take apart in odd ways: characters of several bytes, no spaces, right to left, odd spaces.
ODD = ["東京は日本にある。", "مرحبا بالعالم", "👩‍🚀 in space", "  two  spaces\tand a tab ", "\u200bx", "e\u0301t\u00e9"]


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory: pytest.TempPathFactory) -> HFModel:
    return load(str(build_gpt2(tmp_path_factory.mktemp("gpt2"))))


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> HFModel:
    return load(str(build_bert(tmp_path_factory.mktemp("bert"))))


def model_and_obvious(name: str) -> tuple[HFModel, Score]:
    tokenizer = byte_level_bpe(start="<s>") if name in CAUSAL else word_piece()
    network = (CAUSAL | MASKED)[name](len(tokenizer))
    if name in CAUSAL:
        return CausalModel(network, tokenizer), obvious.causal(network, tokenizer)
    return MaskedModel(network, tokenizer), obvious.masked(network, tokenizer, "within_word_l2r")


@pytest.mark.slow
@pytest.mark.parametrize("name", [*CAUSAL, *MASKED])
def test_every_architecture_gives_what_one_forward_pass_for_each_sentence_gives(name: str) -> None:
    model, score = model_and_obvious(name)
    tokens = probing.surprisal(model, SENTENCES, by="token", base="e")
    for number, sentence in enumerate(SENTENCES):
        expected = score(Statement(sentence, 0, len(sentence)))
        of_sentence = tokens[tokens["sentence"] == number]
        np.testing.assert_allclose(of_sentence["log_prob"], expected, atol=1e-4, rtol=0)
        np.testing.assert_allclose(of_sentence["surprisal"], -np.array(expected), atol=1e-4, rtol=0)


@pytest.mark.parametrize("pll", ["original", "within_word_l2r", "sentence_l2r"])
def test_a_masked_model_hides_tokens_as_the_variant_says(bert: HFModel, pll: Any) -> None:
    tokens = probing.surprisal(bert, SENTENCES[:3], by="token", pll=pll)
    score = obvious.masked(bert.network, bert.tokenizer, pll)
    expected = [value for sentence in SENTENCES[:3] for value in score(Statement(sentence, 0, len(sentence)))]
    np.testing.assert_allclose(tokens["log_prob"], expected, atol=1e-4)


def test_base_two_is_the_surprisal_in_bits_as_minicons_defines_it(gpt2: HFModel) -> None:
    bits = probing.surprisal(gpt2, SENTENCES, by="token")
    nats = probing.surprisal(gpt2, SENTENCES, by="token", base="e")
    assert set(bits["unit"]) == {"bits"}
    assert set(nats["unit"]) == {"nats"}
    np.testing.assert_allclose(bits["surprisal"], -np.log2(np.exp(bits["log_prob"])))
    np.testing.assert_allclose(nats["surprisal"], -nats["log_prob"])


@pytest.mark.parametrize("model", ["gpt2", "bert"])
def test_sentences_are_sums_of_their_tokens(model: str, request: pytest.FixtureRequest) -> None:
    sentences = [*SENTENCES, *ODD]
    tokens, whole = (
        probing.surprisal(request.getfixturevalue(model), sentences, by=by) for by in ("token", "sentence")
    )
    sums = tokens.groupby("sentence")[["log_prob", "tokens"]].sum().reset_index()
    pd.testing.assert_frame_equal(sums, whole[["sentence", "log_prob", "tokens"]])
    assert whole["text"].tolist() == sentences
    assert list(tokens.columns) == list(whole.columns) == list(COLUMNS)
    assert list(tokens["text"]) == [sentences[row.sentence][row.start : row.end] for row in tokens.itertuples()]


def test_odd_texts_are_scored_as_by_obvious_code(gpt2: HFModel) -> None:
    sentences = [*ODD, "A <|endoftext|> B"]
    tokens = probing.surprisal(gpt2, sentences, by="token")
    score = obvious.causal(gpt2.network, gpt2.tokenizer)
    expected = [value for sentence in sentences for value in score(Statement(sentence, 0, len(sentence)))]
    np.testing.assert_allclose(tokens["log_prob"], expected, atol=1e-4)
    of_one_character = tokens[(tokens["sentence"] == 0) & (tokens["start"] == 0)]
    assert list(of_one_character["text"]) == ["東"] * 3
    assert "<|endoftext|>" in set(tokens["text"])


def test_sentences_are_numbered_with_the_empty_ones_which_have_no_rows(gpt2: HFModel) -> None:
    whole = probing.surprisal(gpt2, ["Oslo", "", "  \n", "Lima"])
    assert dict(zip(whole["sentence"], whole["text"], strict=True)) == {0: "Oslo", 3: "Lima"}
    assert len(probing.surprisal(gpt2, [])) == 0
    assert list(probing.surprisal(gpt2, ["", " "]).dtypes) == list(whole.dtypes)


def test_a_sentence_that_is_too_long_is_named_and_never_cut(gpt2: HFModel) -> None:
    with pytest.warns(UserWarning, match="Sentence 1 is left out: A text takes 301 tokens, the model takes 128"):
        whole = probing.surprisal(gpt2, ["Oslo", "Chad" + " ad" * 149, "Lima"])
    assert set(whole["sentence"]) == {0, 2}


def test_without_a_start_token_the_first_token_has_no_row(gpt2: HFModel) -> None:
    tokens = probing.surprisal(gpt2, "Chad is in Africa.", by="token", start="none")
    score = obvious.causal_after(None, gpt2.network, gpt2.tokenizer)
    np.testing.assert_allclose(tokens["log_prob"], score(Statement("Chad is in Africa.", 0, 0)), atol=1e-4)
    whole = probing.surprisal(gpt2, "Chad is in Africa.", start="none")
    assert whole["log_prob"].tolist() == pytest.approx([tokens["log_prob"].sum()])


def test_sentences_with_a_common_beginning_share_its_positions(gpt2: HFModel) -> None:
    before = gpt2.usage.positions
    probing.surprisal(gpt2, ["Chad is located in Africa."] * 50)
    assert gpt2.usage.positions - before < 20


def test_a_network_in_memory_is_taken_as_it_is(gpt2: HFModel) -> None:
    table = probing.surprisal(gpt2.network, SENTENCES, tokenizer=gpt2.tokenizer)
    pd.testing.assert_frame_equal(table, probing.surprisal(gpt2, SENTENCES))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"by": "word"}, "by cannot be 'word'. Choose from: sentence, token."),
        ({"base": "10"}, "base cannot be '10'. Choose from: 2, e."),
        ({"base": 2}, "base cannot be 2."),
        ({"pll": "original"}, "hides no tokens: pll does nothing"),
        ({"pll": "none"}, "pll cannot be 'none'."),
        ({"start": "first"}, "The start token cannot be 'first'."),
        ({"dtype": "float16"}, "is in memory with weights of type float32, not float16"),
        ({"batch_tokens": 0}, "Batches cannot hold 0 tokens."),
        ({"sentences": ["Oslo", 5]}, "Sentence 1 is 5, which is not a text."),
        ({"sentences": ["\ud800"]}, "Sentence 0 holds half a character"),
        ({"sentences": 7}, "7 is no list of sentences."),
        ({"model": 7}, "7 is no model."),
    ],
)
def test_a_bad_argument_is_refused_in_one_sentence(values: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput) as error:
        probing.surprisal(**{"model": FakeModel(), "sentences": ["Oslo"], **values})
    assert message in str(error.value)


def test_an_encoder_decoder_is_refused() -> None:
    network, tokenizer = FAMILIES["t5"]()
    with pytest.raises(UnsupportedModel, match="The probability of a sentence is not defined for an encoder-decoder"):
        probing.surprisal(network, ["Oslo"], tokenizer=tokenizer)


@pytest.mark.parametrize("model", ["gpt2", "bert"])
def test_a_context_is_read_and_not_scored(model: str, request: pytest.FixtureRequest) -> None:
    loaded, context = request.getfixturevalue(model), "Chad is in Africa. "
    make: Any = obvious.causal if model == "gpt2" else partial(obvious.masked, pll="within_word_l2r")
    score = make(loaded.network, loaded.tokenizer)
    after = probing.surprisal(loaded, SENTENCES, context=context, by="token")
    for number, sentence in enumerate(SENTENCES):
        rows = after[after["sentence"] == number]
        expected = score(Statement(context + sentence, 0, 0))[-len(rows) :]
        np.testing.assert_allclose(rows["log_prob"], expected, atol=1e-4)
        assert rows["start"].iloc[0] == 0
        assert rows["text"].tolist() == [sentence[row.start : row.end] for row in rows.itertuples()]


def test_each_sentence_may_have_a_context_of_its_own(gpt2: HFModel) -> None:
    contexts = ["Chad. ", "", "Oslo, ", "Asia "]
    apart = [probing.surprisal(gpt2, text, context=one) for text, one in zip(SENTENCES, contexts, strict=True)]
    together = probing.surprisal(gpt2, SENTENCES, context=contexts)
    np.testing.assert_allclose(together["log_prob"], pd.concat(apart)["log_prob"], atol=1e-4)
    with pytest.raises(BadInput, match="There are 4 sentences and 1 contexts"):
        probing.surprisal(gpt2, SENTENCES, context=["Chad. "])
