"""Filling blanks: prompts that begin alike share their beginning, and no distribution outlives its reading."""

import weakref
from collections.abc import Sequence

import numpy as np
import pytest
import torch

from probing.catalog import open_benchmark
from probing.errors import BadInput
from probing.language_model import BlankDistribution, Request
from probing.scoring import causal as causal_module
from probing.scoring import hf_model
from probing.scoring.causal import CausalModel
from probing.scoring.filling import blanks
from probing.scoring.verbs import AnsweringModel
from probing.statements.prompting import few_shot
from probing.template import Prompt, prompt
from tests.probing.scoring.networks import SHARING
from tests.probing.scoring.pair_models import byte_level, causal, masked, word_piece
from tests.tiny_models import byte_level_bpe


def behind_examples(shots: int = 10) -> list[Request]:
    """Each question, and the same with its subject hidden."""
    relation = open_benchmark("pairs")["lies_in"]
    questions = few_shot(relation, 0, shots, seed=0)
    return [(text, relation.options_of(q.item)) for q in questions for text in (q.prompt, q.bare)]


def texts(asked: Sequence[Request]) -> list[str]:
    return [text.fill(option, option).text for text, options in asked for option in options]


@pytest.fixture(scope="module")
def asked() -> list[Request]:
    return behind_examples()


@pytest.fixture(scope="module")
def model(asked: list[Request]) -> AnsweringModel:
    found = causal(byte_level(texts(asked)))
    assert found.use_fast_path
    return found


def distinct(model: AnsweringModel, asked: Sequence[Request]) -> int:
    """How many different beginnings the inputs have."""
    found = blanks(asked, model.encoder, model.kind, model.blank)
    return len({blank.ids[:end] for blank in found for end in range(1, len(blank.ids) + 1)})


def computed(model: AnsweringModel, asked: Sequence[Request]) -> int:
    before = model.usage.positions
    list(model.fill(asked, 10))
    return model.usage.positions - before


def test_examples_are_computed_once_for_both_questions_behind_them(model: AnsweringModel, asked: list[Request]) -> None:
    found = computed(model, asked)
    assert distinct(model, asked) <= found <= 1.1 * distinct(model, asked)
    alone = sum(computed(model, [each]) for each in asked)
    assert found < 0.6 * alone


def assert_same(found: Sequence[BlankDistribution], wanted: Sequence[BlankDistribution]) -> None:
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one.log_probs, other.log_probs, atol=1e-4)
        np.testing.assert_allclose(one.options, other.options, atol=1e-4)
        assert one.ranks.tolist() == other.ranks.tolist()


@pytest.mark.parametrize("budget", [1, 100, 700, 5000])
def test_shared_prefixes_equal_the_plain_way_whatever_the_budget(asked: list[Request], budget: int) -> None:
    shared, alone = (causal(byte_level(texts(asked)), batch_tokens=budget) for _ in range(2))
    alone.use_fast_path = False
    some = [*asked[:24], *asked[:2], (Prompt(("It is ", ".")), ["France", "Europe"])]
    assert shared.use_fast_path
    assert_same(list(shared.fill(some, 5)), list(alone.fill(some, 5)))
    assert shared.usage.statements == pytest.approx(len(some))


def test_a_prompt_that_another_begins_with_has_its_own_answer(model: AnsweringModel) -> None:
    short, long = Prompt(("Lyon lies", "")), Prompt(("Lyon lies in", ""))
    both = list(model.fill([(short, ["in"]), (long, ["France"])], 5))
    assert_same(both, [*model.fill([(short, ["in"])], 5), *model.fill([(long, ["France"])], 5)])


def test_prompts_longer_than_the_window_are_filled_plainly() -> None:
    """A sliding window takes hold there: its own mask is the right one."""
    tokenizer = byte_level_bpe(start="<s>", vocabulary=400)
    model, plain = (CausalModel(SHARING["mistral, window wider than the statements"](400), tokenizer) for _ in range(2))
    plain.use_fast_path = False
    asked = [(prompt("[X] is [Y].", "Titan " * length), ["gas"]) for length in (5, 30)]
    assert_same(list(model.fill(asked, 5)), list(plain.fill(asked, 5)))


@pytest.mark.parametrize("kind", ["causal", "masked"])
def test_equal_prompts_are_computed_once_and_answered_each(asked: list[Request], kind: str) -> None:
    model = causal(byte_level(texts(asked))) if kind == "causal" else masked(word_piece(texts(asked)))
    text = Prompt(("It is ", "."))
    assert model.use_fast_path
    alone = computed(model, [(text, ["France"])])
    pairs = [("France", "Europe"), ("Peru", "France")]
    assert computed(model, [(text, pair) for pair in pairs]) == alone
    first, second = model.fill([(text, pair) for pair in pairs], 0)
    assert first.options[0] == second.options[1]
    assert first.options[1] != second.options[0]


def test_distributions_are_not_kept(asked: list[Request], monkeypatch: pytest.MonkeyPatch) -> None:
    model = causal(byte_level(texts(asked)), batch_tokens=200)
    real, seen, most = model.at_blanks, [], 0

    def watched(inputs, statements):  # type: ignore[no-untyped-def]
        nonlocal most
        for batch, logits in real(inputs, statements):
            seen.append(weakref.ref(logits))
            most = max(most, sum(logits() is not None for logits in seen))
            yield batch, logits

    monkeypatch.setattr(model, "at_blanks", watched)
    list(model.fill(asked, 5))
    assert len(seen) > 10
    assert most <= 2, "the batch in hand, and the one before"


@pytest.mark.parametrize("words", [(), ("France", "Europe", "Asia")])
def test_reading_distributions_a_few_at_a_time_changes_nothing(
    asked: list[Request], words: Sequence[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = causal(byte_level(texts(asked)))
    some = [*asked[:9], asked[0], (asked[1][0], ["no single token", "France"])]
    wanted = list(model.fill(some, 5, words))
    monkeypatch.setitem(hf_model.SOFTMAX_ELEMENTS, "cpu", 2 * model.network.config.vocab_size)
    assert_same(list(model.fill(some, 5, words)), wanted)
    assert [filling.tokens for filling in model.fill(some, 5, words)] == [filling.tokens for filling in wanted]


def test_a_row_in_which_no_prompt_ends_says_nothing(asked: list[Request], monkeypatch: pytest.MonkeyPatch) -> None:
    model = causal(byte_level(texts(asked)), batch_tokens=1)
    monkeypatch.setattr(causal_module, "ROW", 1)
    monkeypatch.setattr(causal_module.PrefixTree, "even_rows", lambda tree, nodes, length: [(nodes[:5], 0), (nodes, 5)])
    plain = causal(byte_level(texts(asked)))
    plain.use_fast_path = False
    model.use_fast_path = True
    assert_same(list(model.fill(asked[:1], 5)), list(plain.fill(asked[:1], 5)))


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize("others", [0, 1])
def test_a_blank_with_nothing_before_it_is_an_error(asked: list[Request], fast: bool, others: int) -> None:
    """A tokenizer without a start token, a template that begins with the blank: alone, and among others."""
    tokenizer = byte_level(texts(asked))
    tokenizer.bos_token = tokenizer.eos_token = None
    model = causal(tokenizer)
    model.use_fast_path = fast
    with pytest.raises(BadInput, match="nothing stands before the blank"):
        list(model.fill([*asked[:others], (Prompt(("", " is nice")), ["France"])], 3))


def test_a_prompt_that_is_too_long_is_an_error() -> None:
    tokenizer = byte_level_bpe()  # 128 tokens, as the network
    model = CausalModel(SHARING["gpt2"](len(tokenizer)), tokenizer)
    with pytest.raises(BadInput, match="129 tokens, the model takes 128"):
        list(model.fill([(Prompt(("7" * 128 + " ", "")), ["7"])], 1))


def test_memory_that_runs_out_changes_nothing(asked: list[Request], monkeypatch: pytest.MonkeyPatch) -> None:
    model = causal(byte_level(texts(asked)), batch_tokens=2000)
    wanted = list(model.fill(asked[:20], 5))
    forward = model.network.forward

    def limited(*args, input_ids, **more):  # type: ignore[no-untyped-def]
        if input_ids.numel() > 600:
            raise torch.OutOfMemoryError("out of memory")
        return forward(*args, input_ids=input_ids, **more)

    monkeypatch.setattr(model.network, "forward", limited)
    assert_same(list(model.fill(asked[:20], 5)), wanted)
    assert model.usage.notes[0] == "out of memory: batches halved to 1000 positions"
