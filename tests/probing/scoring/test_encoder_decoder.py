"""Encoder-decoders of each family score, fill and write as obvious code does with the same network."""

from collections.abc import Sequence

import numpy as np
import pytest
import torch

from probing.errors import BadConfig, TooLong, UnsupportedModel
from probing.language_model import Request, Scoring, Span
from probing.scoring.encoder_decoder import EncoderDecoderModel
from probing.scoring.spans import span_encoder
from probing.template import Prompt, prompt, upper_first
from tests.probing.scoring.compare import REQUESTS, answers, assert_equal
from tests.probing.scoring.seq2seq import FAMILIES, OBVIOUS
from tests.tiny_models import byte_level_bpe

CLOSE = 1e-4
MORE: list[Request] = [
    (Prompt(("Peru is in ", ", which is in ", ".")), ["Peru", "South America", "Africa"]),
    (Prompt(("", " is the capital of ", "."), 1), ["Norway", "Oslo"]),
]


@pytest.fixture(scope="module", params=list(FAMILIES))
def family(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def model(family: str) -> EncoderDecoderModel:
    return EncoderDecoderModel(*FAMILIES[family]())


@pytest.mark.slow
@pytest.mark.parametrize("span", ["statement", "answer"])
@pytest.mark.parametrize("batch_tokens", [None, 1, 64])
def test_options_of_any_length_score_as_the_obvious_code(
    span: Span, batch_tokens: int | None, family: str, model: EncoderDecoderModel
) -> None:
    model = EncoderDecoderModel(model.network, model.tokenizer, batch_tokens=batch_tokens)
    requests = [*REQUESTS, *MORE]
    expected = [OBVIOUS[family](model.network, model.tokenizer, one, span == "statement") for one in requests]
    lengths = {len(tokens) for options in expected for tokens in options}
    assert span == "statement" or (min(lengths) == 1 and max(lengths) > 3)
    assert_equal(answers(model, requests, Scoring(span=span)), expected, CLOSE)
    assert model.use_fast_path


def test_a_network_whose_parts_cannot_be_called_apart_is_scored_alike(
    family: str, model: EncoderDecoderModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object) -> torch.Tensor:
        raise TypeError

    slow = EncoderDecoderModel(model.network, model.tokenizer)
    monkeypatch.setattr(slow, "_fast_logits", refuse)
    expected = [OBVIOUS[family](model.network, model.tokenizer, one, True) for one in REQUESTS]
    assert_equal(answers(slow, REQUESTS), expected, CLOSE)
    assert not slow.use_fast_path and "reference implementation: the network does not take" in slow.usage.notes[0]


def test_the_encoder_reads_a_prompt_once_and_options_share_what_the_decoder_reads(model: EncoderDecoderModel) -> None:
    request = (prompt("Peru is in [Y].", ""), list("PSNA."))
    sources: list[int] = []
    decoded: list[int] = []
    hooks = [
        model.network.get_encoder().register_forward_pre_hook(
            lambda module, args, kwargs: sources.append(len(kwargs["input_ids"])), with_kwargs=True
        ),
        model.network.get_decoder().register_forward_pre_hook(
            lambda module, args, kwargs: decoded.append(len(kwargs["input_ids"])), with_kwargs=True
        ),
    ]
    assert model.use_fast_path
    sources.clear(), decoded.clear()
    scored = answers(model, [request], Scoring(span="answer"))
    for hook in hooks:
        hook.remove()
    assert sources == [1]
    long_options = sum(len(tokens) > 1 for tokens in scored[0].log_probs)
    assert sum(decoded) == max(long_options, 1) < len(request[1])


def test_the_distribution_at_a_blank_is_of_the_decoders_next_token(family: str, model: EncoderDecoderModel) -> None:
    requests = [*REQUESTS, *MORE]
    for request, blank in zip(requests, model.fill(requests, 5), strict=True):
        spans = OBVIOUS[family](model.network, model.tokenizer, request, False)
        for own, log_prob, rank in zip(spans, blank.options, blank.ranks, strict=True):
            assert np.isnan(log_prob) or len(own) == 1
            if not np.isnan(log_prob):
                assert log_prob == pytest.approx(own[0], abs=CLOSE)
                assert rank > 5 or blank.log_probs[rank - 1] == pytest.approx(own[0], abs=CLOSE)


@torch.inference_mode()
def greedy(model: EncoderDecoderModel, source: Sequence[int], written: Sequence[int], tokens: int) -> list[int]:
    """Write the most probable token again and again, each by a whole call of the network."""
    ids = list(written)
    for _ in range(tokens):
        read = {"input_ids": torch.tensor([list(source)]), "decoder_input_ids": torch.tensor([ids])}
        token = int(model.network(**read, use_cache=False).logits[0, -1].argmax())
        if token in (model.tokenizer.eos_token_id, *model.encoder.ends):
            break
        ids.append(token)
    return ids[len(written) :]


def test_a_blank_is_filled_by_the_most_probable_tokens(family: str, model: EncoderDecoderModel) -> None:
    """The decoder begins with the sentinel, or with the text to the left of the blank."""
    tokenizer = model.tokenizer
    prompts = [text for text, _ in REQUESTS]
    for text, continuation in zip(prompts, model.generate(prompts, 6), strict=True):
        left, right = upper_first(text.pieces[0]), text.pieces[1]
        blank = "<mask>" if family in ("bart", "mbart") else "<extra_id_0>"
        source = tokenizer(f"{left}{blank}{right}").input_ids
        begun = [*before_text(family, model), *tokenizer(left.rstrip(), add_special_tokens=False).input_ids]
        if blank == "<extra_id_0>":
            begun = [*before_text(family, model), tokenizer(blank).input_ids[0]]
        expected = greedy(model, source, begun, 6)
        assert str(continuation) == tokenizer.decode(expected, skip_special_tokens=True)
        assert len(continuation.ends) == len(expected)


def before_text(family: str, model: EncoderDecoderModel) -> list[int]:
    """Return what the decoder reads before the first word that it writes."""
    start = model.network.config.decoder_start_token_id
    if family == "mbart":
        return [model.tokenizer.convert_tokens_to_ids("en_XX")]
    return [start, model.tokenizer.bos_token_id] if family == "bart" else [start]


def test_a_text_without_a_blank_is_answered(family: str, model: EncoderDecoderModel) -> None:
    texts = ["Where is Peru?", "What is gold, and what is a liquid?", "Where is Peru?"]
    for text, answer in zip(texts, model.generate(texts, 5), strict=True):
        expected = greedy(model, model.tokenizer(text).input_ids, before_text(family, model), 5)
        assert str(answer) == model.tokenizer.decode(expected, skip_special_tokens=True)
    with pytest.raises(UnsupportedModel, match="has no chats"):
        list(model.generate(texts, 5, chat=True))


def test_a_vector_is_the_mean_of_the_encoders_states_of_its_own_tokens(model: EncoderDecoderModel) -> None:
    encoding = model.tokenizer("South America").encodings[0]
    with torch.inference_mode():
        states = model.network.get_encoder()(input_ids=torch.tensor([encoding.ids])).last_hidden_state[0]
    own = [place for place, special in enumerate(encoding.special_tokens_mask) if not special]
    (vector,) = model.embed(["South America"])
    np.testing.assert_allclose(vector, states[own].mean(0).numpy(), atol=1e-5)


def test_a_text_that_is_too_long_for_the_encoder_is_answered_by_an_error(model: EncoderDecoderModel) -> None:
    (error,) = model.score([(prompt("[X] is in [Y].", "Peru " * 130), ["Asia"])], Scoring())
    assert isinstance(error, TooLong) and error.limit == 128


def test_a_tokenizer_without_blanks_is_refused() -> None:
    with pytest.raises(UnsupportedModel, match="neither sentinels such as <extra_id_0> nor a mask token"):
        span_encoder(byte_level_bpe())


def test_a_config_without_the_decoders_start_token_is_refused() -> None:
    network, tokenizer = FAMILIES["t5"]()
    network.config.decoder_start_token_id = None
    with pytest.raises(BadConfig, match="does not say with which token its decoder starts"):
        EncoderDecoderModel(network, tokenizer)


def test_a_sentinel_directly_after_a_letter_is_still_one_token() -> None:
    """The piece of mT5's vocabulary includes the space before it."""
    network, tokenizer = FAMILIES["mt5"]()
    model = EncoderDecoderModel(network, tokenizer)
    source = model.encoder.source(prompt("It is in ([Y]).", "").fill("Asia"))
    assert source.count(tokenizer.convert_tokens_to_ids("▁<extra_id_0>")) == 1
