"""The table of differences between protocols."""

from collections.abc import Iterable, Iterator

import numpy as np
import pytest

from probing.benchmark import Benchmark
from probing.language_model import OptionScores, Request, Scoring
from probing.scoring.causal import CausalModel
from speed.protocol_differences import (
    Row,
    effect,
    effects,
    mean_of,
    other_starts,
    rows_of,
    spread,
    summed,
    summed_in_bfloat16,
    table,
    token_scores,
)
from tests.fakes import FakeModel
from tests.probing.scoring.networks import SHARING
from tests.tiny_models import byte_level_bpe

ROWS = [Row(0, ("a", "b"), (1,)), Row(1, ("a", "b"), (0,))]
SCORES = [(np.array([-1.0, -2.0]), np.array([-2.9])), (np.array([-1.0]), np.array([-1.0]))]


def test_numbers_are_evenly_spread() -> None:
    assert spread(10, 4) == [0, 2, 5, 7]
    assert spread(3, 5) == [0, 1, 2]


def test_each_item_makes_a_row_with_each_template(benchmark: Benchmark) -> None:
    rows = rows_of(benchmark, ["P36"], 1, first=True)
    assert [row.template for row in rows] == [0, 1, 2]
    assert all(len(row.statements) == 2 for row in rows)
    assert len(rows_of(benchmark, [], 2, first=False)) == 2 * 2 * 3


def test_effects_by_hand() -> None:
    base = effect("base", ROWS, SCORES, summed, None)
    assert (base.accuracy, base.changed, base.tied) == (1.0, None, 0.5)
    mean = effect("mean", ROWS, SCORES, mean_of, [1, 0])
    assert (mean.accuracy, mean.changed) == (0.5, 0.5)
    assert list(table([base, mean]))[2:] == [
        "| base | 100.0% |  |  | 50.0% |",
        "| mean | 50.0% | -50.0 | 50.0% | 50.0% |",
    ]


def test_bfloat16_has_eight_significant_bits() -> None:
    assert summed_in_bfloat16(np.array([-33.82121])) == -33.75
    assert summed_in_bfloat16(np.array([-100.0, -0.25])) == -100.0


def test_statements_are_scored_whole_with_the_text_before_them() -> None:
    seen: list[str] = []

    class Listens(FakeModel):
        def score(self, requests: Iterable[Request], scoring: Scoring) -> Iterator[OptionScores]:
            for prompt, options in requests:
                seen.extend(prompt.fill(option).text for option in options)
                yield OptionScores((np.zeros(1),) * len(options), (slice(0, 1),) * len(options), np.ones(2, bool))

    token_scores(Listens(), ROWS, Scoring(), " ")
    assert seen == [" a", " b", " a", " b"]


@pytest.mark.slow
def test_every_start_token_and_rule_is_measured(benchmark: Benchmark) -> None:
    tokenizer = byte_level_bpe()
    tokenizer.unk_token = "a"
    model = CausalModel(SHARING["gpt2"](len(tokenizer)), tokenizer)
    assert list(other_starts(tokenizer).values()) == [str(tokenizer.convert_tokens_to_ids("a")), "none"]
    rules = [one.rule for one in effects(model, rows_of(benchmark, [], 2, first=True))]
    assert rules[0] == "base"
    assert len(rules) == 1 + 2 + 1 + 3 + 2
