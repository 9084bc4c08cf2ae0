"""Greedy continuations: they do not depend on the other texts of the batch, and computed positions are counted."""

from pathlib import Path

import pytest
from transformers import GenerationConfig

from probing.errors import BadInput, UnsupportedModel
from probing.language_model import Continuation
from probing.scoring.hf_model import HFModel
from probing.scoring.load import load
from tests.tiny_models import build_gpt2, build_llama

TEXTS = ["The capital of Norway is", "Warsaw", "It flows into", "The capital of Chad is", "Warsaw"]
BUILDERS = {"gpt2": build_gpt2, "llama": build_llama}


@pytest.fixture(params=BUILDERS)
def model(request: pytest.FixtureRequest, tmp_path: Path) -> HFModel:
    return load(str(BUILDERS[request.param](tmp_path)), device="cpu")


def written(model: HFModel, *texts: str, tokens: int = 8) -> list[Continuation]:
    return list(model.generate(texts, tokens))


def first_tokens(model: HFModel) -> dict[str, int]:
    """Return the first token of each text's continuation."""
    tokens = {}
    for text in TEXTS:
        (continuation,) = written(model, text, tokens=1)
        tokens[text] = model.tokenizer(str(continuation), add_special_tokens=False).input_ids[0]
    return tokens


def test_texts_are_continued_in_order_and_alike_alone_and_together(model: HFModel) -> None:
    together = written(model, *TEXTS)
    assert together == [written(model, text)[0] for text in TEXTS]
    assert [continuation.ends for continuation in together] == [written(model, text)[0].ends for text in TEXTS]


@pytest.mark.parametrize("two_ends", [False, True], ids=["one end", "two ends"])
def test_a_text_that_reaches_an_end_token_stops_and_others_continue(two_ends: bool, model: HFModel) -> None:
    before = dict(zip(TEXTS, written(model, *TEXTS), strict=True))
    ending, end = next((text, token) for text, token in first_tokens(model).items() if token > 256)
    model.network.generation_config.eos_token_id = [1, end] if two_ends else end
    after = dict(zip(TEXTS, written(model, *TEXTS), strict=True))
    whole = model.tokenizer.decode([end])
    assert len(after[ending]) <= len(whole)
    unending = [text for text in TEXTS if whole not in before[text]]
    assert unending and all(after[text] == before[text] for text in unending)


def test_an_empty_text_without_a_start_token_cannot_be_continued(model: HFModel) -> None:
    model.encoder = model.encoder.without_start()
    with pytest.raises(BadInput, match="no token to begin with"):
        written(model, "")


def test_equal_texts_are_continued_once_and_each_position_is_counted_once(model: HFModel) -> None:
    tokens = [model.tokenizer(text, add_special_tokens=False).input_ids for text in set(TEXTS)]
    positions, padding, statements = model.usage.positions, model.usage.padding, model.usage.statements
    written(model, *TEXTS, tokens=5)
    lengths = [len(model.encoder.start) + len(ids) for ids in tokens]
    assert model.usage.positions - positions == len(lengths) * (max(lengths) + 4)
    assert model.usage.padding - padding == sum(max(lengths) - length for length in lengths) > 0
    assert model.usage.statements - statements == pytest.approx(len(TEXTS))


def test_a_network_that_may_ignore_a_mask_gets_texts_of_one_length(model: HFModel) -> None:
    together = written(model, *TEXTS)
    padding = model.usage.padding
    assert padding > 0
    model.use_fast_path = False
    assert written(model, *TEXTS) == together
    assert model.usage.padding == padding


CHAT = "{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}assistant:"


def test_a_message_goes_through_the_chat_template_after_the_system_message(model: HFModel) -> None:
    model.tokenizer.chat_template = CHAT
    for system, text in (("", "user: Who?\nassistant:"), ("Be short.", "system: Be short.\nuser: Who?\nassistant:")):
        positions = model.usage.positions
        (answer,) = model.generate(["Who?"], 1, chat=True, system=system)
        ids = model.tokenizer(text, add_special_tokens=False).input_ids
        assert model.usage.positions - positions in (len(ids), len(ids) + 1)
        assert len(answer.ends) <= 1


def test_a_model_without_a_chat_template_takes_no_messages(model: HFModel) -> None:
    with pytest.raises(UnsupportedModel, match=r"has no chat template\. Leave out --chat"):
        list(model.generate(["Who?"], 1, chat=True))


def test_what_a_model_recommends_for_writing_changes_no_token(model: HFModel) -> None:
    """Many chat models come with a generation_config.json that asks for penalties, beams or forced tokens."""
    before, recommended = written(model, *TEXTS), model.network.generation_config
    model.network.generation_config = GenerationConfig(
        repetition_penalty=9.0, no_repeat_ngram_size=1, num_beams=2, forced_eos_token_id=5, suppress_tokens=[6, 7]
    )
    after = written(model, *TEXTS)
    model.network.generation_config = recommended
    assert after == before
