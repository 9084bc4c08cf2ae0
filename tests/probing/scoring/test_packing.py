"""Packing of prefix trees: what many rows would repeat, such as examples before questions, is computed once."""

import pytest

from probing.language_model import Request, Scoring
from probing.scoring import prefix_tree
from probing.scoring.causal import CausalModel
from probing.template import prompt
from tests.probing.scoring import obvious
from tests.probing.scoring.compare import answers, assert_decided, assert_equal, expected_log_probs
from tests.probing.scoring.networks import SHARING
from tests.probing.scoring.obvious import statements
from tests.tiny_models import byte_level_bpe

EXAMPLES = "".join(f"The metal {i} of {i * i} is near Oslo in Norway, " for i in range(4))
OPTIONS = ["Africa and Europe", "South America", "Nairobi", "gold metal", "Paris"]
REQUESTS: list[Request] = [(prompt(f"{EXAMPLES}[X] is near [Y] they say", f"place {i}"), OPTIONS) for i in range(40)]


@pytest.fixture(scope="module")
def expected() -> list[list[list[float]]]:
    one = model()
    return expected_log_probs(REQUESTS, obvious.causal(one.network, one.tokenizer))


def model(**settings: int) -> CausalModel:
    tokenizer = byte_level_bpe(start="<s>")
    causal_model = CausalModel(SHARING["llama"](len(tokenizer)), tokenizer, **settings)
    assert causal_model.use_fast_path
    return causal_model


def distinct_prefixes(one: CausalModel) -> int:
    sequences = [encoded.ids for request in REQUESTS for encoded in one.encoder.encode(statements(request))]
    return len({ids[:end] for ids in sequences for end in range(1, len(ids))})


def computed(one: CausalModel, scoring: Scoring) -> int:
    before = one.usage.positions - one.usage.padding
    answers(one, REQUESTS, scoring)
    return one.usage.positions - one.usage.padding - before


def test_examples_before_all_questions_are_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    one = model()
    distinct = distinct_prefixes(one)
    assert distinct <= computed(one, Scoring()) <= 1.1 * distinct
    monkeypatch.setattr(prefix_tree, "MIN_SAVING", 1.0)
    assert computed(one, Scoring()) > 1.3 * distinct, "every row repeats them"


def test_an_early_decision_computes_them_once_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    one = model()
    once = computed(one, Scoring(decide=1))
    monkeypatch.setattr(prefix_tree, "MIN_SAVING", 1.0)
    assert computed(one, Scoring(decide=1)) > once + len(EXAMPLES.split()), "the second row repeats them"


@pytest.mark.slow
@pytest.mark.parametrize("batch_tokens", [1, 700, 5000])
def test_scores_after_shared_examples_equal_the_reference(batch_tokens: int, expected: list[list[list[float]]]) -> None:
    one = model(batch_tokens=batch_tokens)
    assert_equal(answers(one, REQUESTS, Scoring()), expected)
    assert one.usage.statements == pytest.approx(len(REQUESTS) * len(OPTIONS))
    assert_decided(answers(one, REQUESTS, Scoring(decide=1)), expected, best=1)


def test_examples_that_do_not_fit_into_the_cache_are_repeated(expected: list[list[list[float]]]) -> None:
    one = model()
    one.cache_capacity = 20
    assert computed(one, Scoring()) > 1.3 * distinct_prefixes(one)
    assert_equal(answers(one, REQUESTS, Scoring()), expected)
