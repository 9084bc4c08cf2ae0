"""Real pairs take bounded memory with the longest prompting.

A relation is a part of a run, so that the one with the longest texts decides. Where statements are no longer tokenized
in windows, few-shot prompts for half of it take 0.9 GB in place of 0.5.
"""

from pathlib import Path

import pytest
from transformers import GPT2LMHeadModel, PreTrainedTokenizerFast

from probing.benchmark import Benchmark
from probing.catalog import open_benchmark
from probing.runner import run
from probing.scoring.causal import CausalModel
from tests.probing.scoring import pair_models
from tests.probing.scoring.networks import of
from tests.real_data import real_data

PROCESS = Path("/proc/self")
PEAK = 700_000_000  # bytes above what the process held before
LONGEST, ITEMS = "P279", 2500  # the relation with the most letters in its pairs, and half of them
SMALLEST = {"n_embd": 8, "n_layer": 1, "n_head": 1, "n_positions": 512, "initializer_range": 1.0}


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
def test_the_longest_relation_takes_bounded_memory(pairs: Benchmark, tokenizer: PreTrainedTokenizerFast) -> None:
    network = of(GPT2LMHeadModel, bos_token_id=0, eos_token_id=0, **SMALLEST)(len(tokenizer))
    model = CausalModel(network, tokenizer, batch_tokens=20_000)
    (PROCESS / "clear_refs").write_text("5")  # reset the peak to the present use
    before = status("VmRSS")
    asked = {"probe": "specificity", "prompting": "few-shot", "relations": LONGEST, "limit": ITEMS}
    items = run(model, pairs, progress=False, **asked).items
    assert status("VmHWM") - before < PEAK
    assert len(items) == ITEMS
    assert items["specific"].notna().mean() > 0.9
