"""Causal scoring: known probabilities, the start token, and no more positions than there are distinct prefixes."""

import math
from itertools import product

import numpy as np
import pytest
import torch

from probing.language_model import Request, Scoring
from probing.scoring.causal import CausalModel
from probing.scoring.prefix_tree import NODES_PER_ROW
from probing.template import prompt
from tests.probing.scoring import obvious
from tests.probing.scoring.compare import REQUESTS, answers, assert_decided, assert_equal, expected_log_probs
from tests.probing.scoring.networks import REFERENCE_CAUSAL, SHARING, causal_model
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
    """Return a bigram model that has passed its self-check."""
    tokenizer = whole_words(words, start)
    network = bigram(random_table(len(tokenizer)) if table is None else table)
    model = CausalModel(network, tokenizer, batch_tokens=batch_tokens)
    assert model.use_fast_path
    return model


def test_scores_are_the_probabilities_of_the_table() -> None:
    model = stub(["a", "b", "c"], table=TABLE + 3)
    (scores,) = answers(model, [(prompt("[X] [Y]", "a"), ["b", "c", "b c"])])
    half, quarter = math.log(1 / 2), math.log(1 / 4)
    for log_probs, expected in zip(
        scores.log_probs, [[half, half], [half, quarter], [half, half, quarter]], strict=True
    ):
        np.testing.assert_allclose(log_probs, expected, atol=1e-6)
    assert scores.answers == (slice(1, 2), slice(1, 2), slice(1, 3))


@pytest.mark.parametrize("decide", [0, 1])
@pytest.mark.parametrize("start", ["", "<s>"])
def test_only_after_a_start_token_is_the_first_token_scored(start: str, decide: int) -> None:
    model = stub(["a", "b", "c"], start)
    (scores,) = answers(model, [(prompt("[Y] b", ""), ["a", "c", "a c", "b", "c c", "b b b"])], Scoring(decide=decide))
    assert [len(tokens) for tokens in scores.log_probs] == [n + bool(start) for n in (1, 1, 2, 1, 2, 3)]


@pytest.mark.parametrize("adds_it", [True, False])
def test_a_statement_begins_with_exactly_one_start_token(adds_it: bool) -> None:
    """The tokenizer may add it or not."""
    tokenizer = byte_level_bpe(start="<s>") if adds_it else byte_level_bpe()
    model = causal_model(SHARING["llama"], tokenizer=tokenizer)
    (window,) = model.encoder.encode([prompt("[X] is [Y].", "Chad").fill("big")])
    assert window.ids.count(tokenizer.bos_token_id) == 1
    assert window.ids[0] == tokenizer.bos_token_id
    assert window.scored == tuple(range(1, len(window.ids)))


def test_the_end_token_replaces_a_missing_start_token() -> None:
    tokenizer = byte_level_bpe()
    tokenizer.bos_token = None
    model = causal_model(SHARING["gpt2"], tokenizer=tokenizer)
    assert model.encoder.start == (tokenizer.eos_token_id,)


@pytest.mark.slow
@pytest.mark.parametrize("fast", [True, False], ids=["fast path", "reference"])
@pytest.mark.parametrize("start", ["auto", "bos", "eos", "none", "17"])
def test_scores_after_every_start_token_equal_those_of_the_obvious_implementation(start: str, fast: bool) -> None:
    tokenizer = byte_level_bpe(start="<s>")
    tokenizer.eos_token = "a"
    base = causal_model(SHARING["gpt2"], tokenizer=tokenizer)
    base.use_fast_path = fast
    model = base.starting(start)
    bos, eos = tokenizer.bos_token_id, tokenizer.eos_token_id
    first = {"auto": bos, "bos": bos, "eos": eos, "none": None, "17": 17}[start]
    expected = expected_log_probs(REQUESTS, obvious.causal_after(first, model.network, tokenizer))
    assert bos != eos != 17 != bos
    assert_equal(answers(model, REQUESTS), expected)
    assert_decided(answers(model, REQUESTS, Scoring(decide=1)), expected, 1)
    assert_equal(answers(base, REQUESTS), expected_log_probs(REQUESTS, obvious.causal(model.network, tokenizer)))


def test_a_model_with_another_start_token_shares_the_network_and_the_count_of_work() -> None:
    model = causal_model(SHARING["gpt2"])
    model.check()
    started = model.starting("none")
    assert started.network is model.network
    assert started.usage is model.usage
    assert "use_fast_path" in vars(started), "the self-check is not made again"
    assert model.encoder.start
    assert not started.encoder.start


def test_a_filled_blank_and_a_generated_text_follow_the_chosen_start_token() -> None:
    model = causal_model(SHARING["gpt2"])
    request = (prompt("Chad is in [Y]", ""), ["a"])
    (usual,), (other,) = (one.fill([request], 3) for one in (model, model.starting("17")))
    assert usual.log_probs.tolist() != other.log_probs.tolist()
    positions = model.usage.positions
    list(model.starting("none").generate(["Chad"], 1))
    assert model.usage.positions - positions == len(model.tokenizer("Chad", add_special_tokens=False).input_ids)


def prefixes(model: CausalModel, requests: list[Request]) -> set[tuple[int, ...]]:
    """Return the distinct proper prefixes of the statements."""
    distinct = set()
    for request in requests:
        for statement in statements(request):
            ids = (0, *model.tokenizer(statement.text)["input_ids"])
            distinct |= {ids[:end] for end in range(1, len(ids))}
    return distinct


def computed(model: CausalModel, requests: list[Request], scoring: Scoring = Scoring()) -> int:  # noqa: B008
    before = model.usage.positions - model.usage.padding
    answers(model, requests, scoring)
    return model.usage.positions - model.usage.padding - before


@pytest.mark.parametrize("template", ["[X] is [Y] .", "[Y] is [X] .", "w3 [Y] [X]"])
def test_each_distinct_prefix_is_computed_once(template: str) -> None:
    """Only the ancestors that rows of a batch repeat are computed more than once."""
    model = stub([*WORDS, "is", "."])
    requests = [
        (prompt(template, f"{x} {STEM}"), [f"{y} {z}" for y, z in product(WORDS[:9], WORDS[:5])]) for x in WORDS[:8]
    ]
    distinct = len(prefixes(model, requests))
    positions = computed(model, requests)
    longest = 15
    assert distinct <= positions <= distinct + longest * math.ceil(distinct / NODES_PER_ROW)


@pytest.mark.parametrize("options", [10, 100, 1000])
def test_single_token_options_at_the_end_cost_nothing(options: int) -> None:
    """One position predicts them all: the cost grows with distinct prefixes, not with statements."""
    model = stub(WORDS)
    assert computed(model, [(prompt(f"{STEM} [Y]", ""), WORDS[:options])]) == 9


@pytest.mark.parametrize("options", [10, 100, 1000])
def test_an_option_costs_its_own_tokens_and_the_text_after_it(options: int) -> None:
    model = stub(WORDS)
    positions = computed(model, [(prompt(f"{STEM} [Y] w1 w2", ""), WORDS[:options])])
    assert 9 + 2 * options <= positions <= 1.05 * (9 + 2 * options)


@pytest.mark.slow
@pytest.mark.parametrize("batch", [512, 8192])
def test_there_is_little_padding(batch: int) -> None:
    model = stub(WORDS, batch_tokens=batch)
    requests = [(prompt(f"[X] {STEM} [Y] w{i}", f"w{i}"), WORDS[: 10 + i]) for i in range(180)]
    before = model.usage.positions, model.usage.padding
    answers(model, requests)
    positions, padding = model.usage.positions - before[0], model.usage.padding - before[1]
    assert padding < 0.01 * positions


def test_every_statement_counts_once() -> None:
    model = stub(WORDS)
    before = model.usage.statements
    answers(model, [(prompt("w1 [Y] w2", ""), WORDS[:300])] * 3)
    assert model.usage.statements - before == pytest.approx(900)


def test_an_early_decision_computes_less_and_gives_the_same_best() -> None:
    table = random_table(101) * 4  # as confident as a trained model
    model, usual = stub(WORDS[:100], table=table), table[:, 1:].argmax(dim=1).tolist()
    options = [f"w{i} w{usual[i + 1]} w{usual[usual[i + 1] + 1]}" for i in range(100)]
    requests = [(prompt("[X] [Y]", f"w{i}"), options) for i in range(5)]
    full = computed(model, requests)
    expected = expected_log_probs(requests, obvious.causal(model.network, model.tokenizer))
    assert computed(model, requests, Scoring(decide=1)) < 0.5 * full
    for best, reduction in product([1, 3], ["sum", "mean"]):
        scoring = Scoring(decide=best, reduction="mean" if reduction == "mean" else "sum")
        assert_decided(answers(model, requests, scoring), expected, best, reduction)


def test_equal_options_tie_as_in_full_scoring() -> None:
    """Two options give the same statement (after its first letter is upper case): both are exact and equal."""
    model = stub(["a", "b", "c"], table=TABLE)
    for decide in (0, 1):
        (scores,) = answers(model, [(prompt("[Y] b", ""), ["c", "a", "A", "b"])], Scoring(decide=decide))
        assert scores.exact[1:3].all()
        assert scores.reduce()[1] == scores.reduce()[2] == scores.reduce().max()


def test_a_statement_longer_than_the_sliding_window_is_scored_with_the_reference() -> None:
    """Only the network's own mask is right for it."""
    model = causal_model(SHARING["mistral, window wider than the statements"])
    requests = [(prompt("[X] is [Y].", "Titan " * length), ["Saturn", "gas"]) for length in (5, 30)]
    score = obvious.causal(model.network, model.tokenizer)
    for request in requests:
        assert_equal(answers(model, [request]), expected_log_probs([request], score))
    assert model.use_fast_path


def test_a_narrow_sliding_window_changes_the_scores() -> None:
    """Ensures that the test above would fail without the network's own mask."""
    requests = [(prompt("[X] is [Y].", "Titan " * 5), ["Saturn"])]
    tokenizer = byte_level_bpe(start="<s>")
    wide = causal_model(SHARING["mistral, window wider than the statements"], tokenizer=tokenizer)
    narrow = causal_model(REFERENCE_CAUSAL["mistral, window narrower than the statements"], tokenizer=tokenizer)
    off = np.abs(answers(wide, requests)[0].reduce() - answers(narrow, requests)[0].reduce())
    assert off.max() > 0.1
