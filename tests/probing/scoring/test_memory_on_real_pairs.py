"""Real pairs take bounded memory with the longest promptings, and give the same results with any batch budget.

A relation is a part of a run, so that the one with the longest texts decides. Where statements are no longer tokenized
in windows, few-shot prompts for a whole relation (P131) take 1.7 GB in place of 0.5.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from transformers import GPT2LMHeadModel, PreTrainedTokenizerFast

from probing.benchmark import Benchmark
from probing.catalog import open_benchmark
from probing.results.result import Result
from probing.runner import run
from probing.scoring.causal import CausalModel
from tests.probing.scoring import pair_models
from tests.probing.scoring.networks import of
from tests.real_data import real_data

PROCESS = Path("/proc/self")
PEAK = 1_000_000_000  # bytes above what the process held before
LONGEST, SHORTEST = "P279", "P361"  # relations by the number of letters in their pairs
SMALLEST = {"n_embd": 8, "n_layer": 1, "n_head": 1, "n_positions": 512, "initializer_range": 1.0}
NUMBERS = [f"{answer}_{name}" for answer in ("fine", "coarse") for name in ("log_prob", "natural_log_prob", "cosine")]


@pytest.fixture(scope="module")
def pairs() -> Benchmark:
    if not (PROCESS / "clear_refs").exists():
        pytest.skip("Only Linux reports the peak of a process's memory.")
    return open_benchmark(real_data("stest"))


@pytest.fixture(scope="module")
def tokenizer(pairs: Benchmark) -> PreTrainedTokenizerFast:
    """Tokenizer that has most answers as single tokens, like a large vocabulary."""
    answers = (f"it is {option} ." for r in pairs.relations for item in r.items for option in r.options_of(item))
    return pair_models.byte_level(answers, size=8000)


def status(field: str) -> int:
    """Return the bytes that the process holds (VmRSS) or has held at most (VmHWM)."""
    lines = (PROCESS / "status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(f"{field}:"))


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("prompting", ["few-shot", "cascade"])  # a vanilla prompt is the end of each
def test_the_longest_relation_takes_bounded_memory_and_no_budget_changes_results(
    prompting: str, pairs: Benchmark, tokenizer: PreTrainedTokenizerFast
) -> None:
    def run_with(budget: int, relations: Sequence[str]) -> Result:
        network = of(GPT2LMHeadModel, bos_token_id=0, eos_token_id=0, **SMALLEST)(len(tokenizer))
        model = CausalModel(network, tokenizer, batch_tokens=budget)
        return run(model, pairs, probe="specificity", prompting=prompting, relations=relations, progress=False)

    (PROCESS / "clear_refs").write_text("5")  # reset the peak to the present use
    before = status("VmRSS")
    large = run_with(20_000, [LONGEST, SHORTEST])
    assert status("VmHWM") - before < PEAK
    assert large.items["relation"].value_counts().to_dict() == {LONGEST: 5000, SHORTEST: 628}
    assert large.items["specific"].notna().mean() > 0.9
    rows = large.items[large.items["relation"] == SHORTEST].reset_index(drop=True)
    assert_same(run_with(1_000, [SHORTEST]).items, rows)


def assert_same(one: pd.DataFrame, other: pd.DataFrame) -> None:
    """Assert that rows are equal up to rounding, which may also change which of two close scores is larger."""
    assert len(one) == len(other)
    for name in NUMBERS:
        np.testing.assert_allclose(one[name], other[name], atol=1e-3, rtol=0)
    clear = (one["fine_log_prob"] - one["coarse_log_prob"]).abs() > 1e-3
    pd.testing.assert_series_equal(one["specific"][clear], other["specific"][clear])
    assert one["demonstrations"].map(list).equals(other["demonstrations"].map(list))
