"""Filling blanks: prompts share their common prefixes, and distributions over the vocabulary are not kept."""

import weakref
from collections.abc import Sequence

import numpy as np
import pytest
import torch

from probing.catalog import open_benchmark
from probing.errors import BadInput, TooLong
from probing.language_model import BlankDistribution, Request
from probing.scoring import tensors
from probing.scoring.filling import blanks
from probing.scoring.prefix_tree import PrefixTree
from probing.scoring.verbs import AnsweringModel
from probing.statements.prompting import few_shot
from probing.template import Prompt, prompt
from tests.probing.scoring.networks import SHARING, causal_model
from tests.probing.scoring.pair_models import byte_level, causal, masked, word_piece
from tests.tiny_models import byte_level_bpe


def questions_after_examples(shots: int = 10) -> list[Request]:
    """Return questions with examples in front, each also with its subject hidden."""
    relation = open_benchmark("pairs")["lies_in"]
    questions = few_shot(relation, 0, shots, seed=0)
    return [(text, relation.options_of(q.item)) for q in questions for text in (q.prompt, q.bare)]


def texts(requests: Sequence[Request]) -> list[str]:
    return [text.fill(option, option).text for text, options in requests for option in options]


@pytest.fixture(scope="module")
def requests() -> list[Request]:
    return questions_after_examples()


@pytest.fixture(scope="module")
def model(requests: list[Request]) -> AnsweringModel:
    causal_model = causal(byte_level(texts(requests)))
    assert causal_model.use_fast_path
    return causal_model


def distinct(model: AnsweringModel, requests: Sequence[Request]) -> int:
    """Count the distinct prefixes of the inputs."""
    encoded = blanks(requests, model.encoder, model.blank)
    return len({read.ids[:end] for read, _ in encoded for end in range(1, len(read.ids) + 1)})


def computed(model: AnsweringModel, requests: Sequence[Request]) -> int:
    before = model.usage.positions
    list(model.fill(requests, 10))
    return model.usage.positions - before


def test_examples_are_computed_once_for_questions_after_them(model: AnsweringModel, requests: list[Request]) -> None:
    together = computed(model, requests)
    assert distinct(model, requests) <= together <= 1.1 * distinct(model, requests)
    alone = sum(computed(model, [request]) for request in requests)
    assert together < 0.6 * alone


def assert_same(actual: Sequence[BlankDistribution], expected: Sequence[BlankDistribution]) -> None:
    for one, other in zip(actual, expected, strict=True):
        np.testing.assert_allclose(one.log_probs, other.log_probs, atol=1e-4)
        np.testing.assert_allclose(one.options, other.options, atol=1e-4)
        assert one.ranks.tolist() == other.ranks.tolist()


@pytest.mark.parametrize("budget", [1, 100, 700, 5000])
def test_shared_prefixes_equal_the_reference_with_any_budget(requests: list[Request], budget: int) -> None:
    shared, alone = (causal(byte_level(texts(requests)), batch_tokens=budget) for _ in range(2))
    alone.use_fast_path = alone.continues_states = False
    some = [*requests[:24], *requests[:2], (Prompt(("It is ", ".")), ["France", "Europe"])]
    assert shared.use_fast_path
    assert_same(list(shared.fill(some, 5)), list(alone.fill(some, 5)))
    assert shared.usage.statements == pytest.approx(len(some))


def test_a_prompt_that_is_a_prefix_of_another_has_its_own_distribution(model: AnsweringModel) -> None:
    short, long = Prompt(("Lyon lies", "")), Prompt(("Lyon lies in", ""))
    both = list(model.fill([(short, ["in"]), (long, ["France"])], 5))
    assert_same(both, [*model.fill([(short, ["in"])], 5), *model.fill([(long, ["France"])], 5)])


def test_prompts_longer_than_the_sliding_window_are_filled_with_the_reference() -> None:
    """Only the network's own mask is right for them."""
    tokenizer, build = byte_level_bpe(start="<s>"), SHARING["mistral, window wider than the statements"]
    model, reference = (causal_model(build, tokenizer=tokenizer) for _ in range(2))
    reference.use_fast_path = reference.continues_states = False
    requests = [(prompt("[X] is [Y].", "Titan " * length), ["gas"]) for length in (5, 30)]
    assert_same(list(model.fill(requests, 5)), list(reference.fill(requests, 5)))


@pytest.mark.parametrize("kind", ["causal", "masked"])
def test_equal_prompts_are_computed_once_for_all_their_options(requests: list[Request], kind: str) -> None:
    model = causal(byte_level(texts(requests))) if kind == "causal" else masked(word_piece(texts(requests)))
    text = Prompt(("It is ", "."))
    assert model.use_fast_path
    alone = computed(model, [(text, ["France"])])
    pairs = [("France", "Europe"), ("Peru", "France")]
    assert computed(model, [(text, pair) for pair in pairs]) == alone
    first, second = model.fill([(text, pair) for pair in pairs], 0)
    assert first.options[0] == second.options[1]
    assert first.options[1] != second.options[0]


def test_distributions_are_not_kept(requests: list[Request], monkeypatch: pytest.MonkeyPatch) -> None:
    model = causal(byte_level(texts(requests)), batch_tokens=200)
    real, batches, most_alive = model.at_blanks, [], 0

    def watched(inputs, statements):  # type: ignore[no-untyped-def]
        nonlocal most_alive
        for batch, logits in real(inputs, statements):
            batches.append(weakref.ref(logits))
            most_alive = max(most_alive, sum(logits() is not None for logits in batches))
            yield batch, logits

    monkeypatch.setattr(model, "at_blanks", watched)
    list(model.fill(requests, 5))
    assert len(batches) > 10
    assert most_alive <= 2, "the present batch and the one before"


@pytest.mark.parametrize("words", [(), ("France", "Europe", "Asia")])
def test_distributions_do_not_depend_on_the_size_of_the_softmax_chunks(
    requests: list[Request], words: Sequence[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = causal(byte_level(texts(requests)))
    some = [*requests[:9], requests[0], (requests[1][0], ["no single token", "France"])]
    expected = list(model.fill(some, 5, words))
    monkeypatch.setitem(tensors.SOFTMAX_ELEMENTS, "cpu", 2 * model.network.config.vocab_size)
    assert_same(list(model.fill(some, 5, words)), expected)
    assert [filling.tokens for filling in model.fill(some, 5, words)] == [filling.tokens for filling in expected]


def test_a_row_in_which_no_prompt_ends_is_accepted(requests: list[Request], monkeypatch: pytest.MonkeyPatch) -> None:
    model = causal(byte_level(texts(requests)), batch_tokens=1)
    monkeypatch.setattr(PrefixTree, "even_rows", lambda tree, nodes, length, computed: [(nodes[:5], 0), (nodes, 5)])
    reference = causal(byte_level(texts(requests)))
    reference.use_fast_path = reference.continues_states = False
    model.use_fast_path = True
    assert_same(list(model.fill(requests[:1], 5)), list(reference.fill(requests[:1], 5)))


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize("others", [0, 1])
def test_a_blank_with_nothing_before_it_is_an_error(requests: list[Request], fast: bool, others: int) -> None:
    """The tokenizer has no start token and the template begins with the blank; alone and together with others."""
    tokenizer = byte_level(texts(requests))
    tokenizer.bos_token = tokenizer.eos_token = None
    model = causal(tokenizer)
    model.use_fast_path = fast
    with pytest.raises(BadInput, match="nothing stands before the blank"):
        list(model.fill([*requests[:others], (Prompt(("", " is nice")), ["France"])], 3))


def test_a_prompt_that_is_too_long_is_an_error() -> None:
    model = causal_model(SHARING["gpt2"])  # which takes 128 tokens, as the tokenizer
    (error,) = model.fill([(Prompt(("7" * 128 + " ", "")), ["7"])], 1)
    assert isinstance(error, TooLong) and "129 tokens, the model takes 128" in str(error)


def test_running_out_of_memory_changes_nothing(requests: list[Request], monkeypatch: pytest.MonkeyPatch) -> None:
    model = causal(byte_level(texts(requests)), batch_tokens=2000)
    expected = list(model.fill(requests[:20], 5))
    forward = model.network.forward

    def limited(*args, input_ids, **more):  # type: ignore[no-untyped-def]
        if input_ids.numel() > 600:
            raise torch.OutOfMemoryError("out of memory")
        return forward(*args, input_ids=input_ids, **more)

    monkeypatch.setattr(model.network, "forward", limited)
    assert_same(list(model.fill(requests[:20], 5)), expected)
    assert model.usage.notes[0] == "out of memory: batches halved to 1000 positions"
