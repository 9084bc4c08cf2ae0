"""Causal scoring: known numbers, the start token, and no more work than there are distinct prefixes."""

import math
from itertools import product

import numpy as np
import pytest
import torch

from probing.errors import BadInput, UnsupportedModel
from probing.language_model import Request, Scoring
from probing.scoring.causal import ROW, CausalModel
from probing.template import prompt
from tests.probing.scoring import obvious
from tests.probing.scoring.compare import ASKED, answers, assert_decided, assert_equal, estimate_work
from tests.probing.scoring.networks import PLAIN_CAUSAL, SHARING
from tests.probing.scoring.obvious import statements
from tests.probing.scoring.stubs import bigram, random_table, whole_words
from tests.tiny_models import byte_level_bpe

# P(next | this) for <s>, a, b, c.
TABLE = torch.tensor(
    [[1 / 8, 1 / 2, 1 / 4, 1 / 8], [1 / 8, 1 / 8, 1 / 2, 1 / 4], [1 / 4] * 4, [1 / 2, 1 / 8, 1 / 8, 1 / 4]]
).log()
WORDS = [f"w{i}" for i in range(1000)]
STEM = "w1 w2 w3 w4 w5 w6 w7 w8"


def stub(
    words: list[str], start: str = "<s>", table: torch.Tensor | None = None, batch_tokens: int | None = None
) -> CausalModel:
    """A bigram model that has passed its self-check."""
    tokenizer = whole_words(words, start)
    network = bigram(random_table(len(tokenizer)) if table is None else table)
    model = CausalModel(network, tokenizer, batch_tokens=batch_tokens)
    assert model.use_fast_path
    return model


def test_it_gives_the_probabilities_of_a_table() -> None:
    model = stub(["a", "b", "c"], table=TABLE + 3)
    (scores,) = answers(model, [(prompt("[X] [Y]", "a"), ["b", "c", "b c"])])
    half, quarter = math.log(1 / 2), math.log(1 / 4)
    for found, right in zip(scores.log_probs, [[half, half], [half, quarter], [half, half, quarter]], strict=True):
        np.testing.assert_allclose(found, right, atol=1e-6)
    assert scores.answers == (slice(1, 2), slice(1, 2), slice(1, 3))


@pytest.mark.parametrize("decide", [0, 1])
@pytest.mark.parametrize("start", ["", "<s>"])
def test_only_after_a_start_token_is_the_first_token_scored(start: str, decide: int) -> None:
    model = stub(["a", "b", "c"], start)
    (scores,) = answers(model, [(prompt("[Y] b", ""), ["a", "c", "a c", "b", "c c", "b b b"])], Scoring(decide=decide))
    assert [len(tokens) for tokens in scores.log_probs] == [n + bool(start) for n in (1, 1, 2, 1, 2, 3)]


def test_a_statement_that_leaves_nothing_to_score_is_an_error() -> None:
    """Its score would be 0, better than any other."""
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
        answers(model, ASKED)


@pytest.mark.parametrize("adds_it", [True, False])
def test_the_start_token_stands_in_front_once(adds_it: bool) -> None:
    """Whether or not the tokenizer puts it there by itself."""
    tokenizer = byte_level_bpe(start="<s>") if adds_it else byte_level_bpe()
    model = CausalModel(SHARING["llama"](len(tokenizer)), tokenizer)
    (window,) = model.encoder.encode([prompt("[X] is [Y].", "Chad").fill("big")])
    assert window.ids.count(tokenizer.bos_token_id) == 1
    assert window.ids[0] == tokenizer.bos_token_id
    assert window.scored == tuple(range(1, len(window.ids)))


def test_the_end_token_stands_in_for_a_missing_start_token() -> None:
    tokenizer = byte_level_bpe()
    tokenizer.bos_token = None
    model = CausalModel(SHARING["gpt2"](len(tokenizer)), tokenizer)
    assert model.encoder.start == (tokenizer.eos_token_id,)


def prefixes(model: CausalModel, asked: list[Request]) -> set[tuple[int, ...]]:
    """The distinct beginnings of the statements that something follows."""
    found = set()
    for each in asked:
        for statement in statements(each):
            ids = (0, *model.tokenizer(statement.text)["input_ids"])
            found |= {ids[:end] for end in range(1, len(ids))}
    return found


def computed(model: CausalModel, asked: list[Request], scoring: Scoring = Scoring()) -> int:  # noqa: B008
    before = model.usage.positions - model.usage.padding
    answers(model, asked, scoring)
    return model.usage.positions - model.usage.padding - before


@pytest.mark.parametrize("template", ["[X] is [Y] .", "[Y] is [X] .", "w3 [Y] [X]"])
def test_each_distinct_prefix_is_computed_once(template: str) -> None:
    """But for the ancestors that a row of a batch has to repeat."""
    model = stub([*WORDS, "is", "."])
    asked = [
        (prompt(template, f"{x} {STEM}"), [f"{y} {z}" for y, z in product(WORDS[:9], WORDS[:5])]) for x in WORDS[:8]
    ]
    distinct = len(prefixes(model, asked))
    found = computed(model, asked)
    longest = 15
    assert distinct <= found <= distinct + longest * math.ceil(distinct / ROW)


@pytest.mark.parametrize("options", [10, 100, 1000])
def test_single_token_options_at_the_end_cost_nothing(options: int) -> None:
    """They are all read off one place: cost grows with distinct prefixes, not with statements."""
    model = stub(WORDS)
    assert computed(model, [(prompt(f"{STEM} [Y]", ""), WORDS[:options])]) == 9


@pytest.mark.parametrize("options", [10, 100, 1000])
def test_an_option_costs_its_own_tokens_and_what_follows(options: int) -> None:
    model = stub(WORDS)
    found = computed(model, [(prompt(f"{STEM} [Y] w1 w2", ""), WORDS[:options])])
    assert 9 + 2 * options <= found <= 1.05 * (9 + 2 * options)


@pytest.mark.parametrize("batch", [512, 8192])
def test_padding_is_next_to_nothing(batch: int) -> None:
    model = stub(WORDS, batch_tokens=batch)
    asked = [(prompt(f"[X] {STEM} [Y] w{i}", f"w{i}"), WORDS[: 10 + i]) for i in range(180)]
    before = model.usage.positions, model.usage.padding
    answers(model, asked)
    positions, padding = model.usage.positions - before[0], model.usage.padding - before[1]
    assert padding < 0.01 * positions


def test_every_statement_counts_once() -> None:
    model = stub(WORDS)
    before = model.usage.statements
    answers(model, [(prompt("w1 [Y] w2", ""), WORDS[:300])] * 3)
    assert model.usage.statements - before == pytest.approx(900)


def test_deciding_computes_less_and_finds_the_same() -> None:
    table = random_table(101) * 4  # as sure of itself as a trained model
    model, usual = stub(WORDS[:100], table=table), table[:, 1:].argmax(dim=1).tolist()
    options = [f"w{i} w{usual[i + 1]} w{usual[usual[i + 1] + 1]}" for i in range(100)]
    asked = [(prompt("[X] [Y]", f"w{i}"), options) for i in range(5)]
    full, wanted = computed(model, asked), estimate_work(asked, obvious.causal(model.network, model.tokenizer))
    assert computed(model, asked, Scoring(decide=1)) < 0.5 * full
    for best, reduction in product([1, 3], ["sum", "mean"]):
        scoring = Scoring(decide=best, reduction="mean" if reduction == "mean" else "sum")
        assert_decided(answers(model, asked, scoring), wanted, best, reduction)


def test_equal_options_tie_as_in_full_scoring() -> None:
    """The same statement twice (after the capital letter): both are exact, and equal to the last bit."""
    model = stub(["a", "b", "c"], table=TABLE)
    for decide in (0, 1):
        (scores,) = answers(model, [(prompt("[Y] b", ""), ["c", "a", "A", "b"])], Scoring(decide=decide))
        assert scores.exact[1:3].all()
        assert scores.reduce()[1] == scores.reduce()[2] == scores.reduce().max()


def test_a_statement_longer_than_the_window_is_scored_plainly() -> None:
    """A sliding window takes hold there: its own mask is the right one."""
    model = CausalModel(
        SHARING["mistral, window wider than the statements"](400), byte_level_bpe(start="<s>", vocabulary=400)
    )
    asked = [(prompt("[X] is [Y].", "Titan " * length), ["Saturn", "gas"]) for length in (5, 30)]
    reference = obvious.causal(model.network, model.tokenizer)
    for each in asked:
        assert_equal(answers(model, [each]), estimate_work([each], reference))
    assert model.use_fast_path


def test_the_two_ways_differ_where_the_window_is_narrow() -> None:
    """Guards the test above: its window does change the numbers."""
    asked = [(prompt("[X] is [Y].", "Titan " * 5), ["Saturn"])]
    tokenizer = byte_level_bpe(start="<s>", vocabulary=400)
    wide, narrow = (
        CausalModel(build(400), tokenizer)
        for build in (
            SHARING["mistral, window wider than the statements"],
            PLAIN_CAUSAL["mistral, window narrower than the statements"],
        )
    )
    off = np.abs(answers(wide, asked)[0].reduce() - answers(narrow, asked)[0].reduce())
    assert off.max() > 0.1
