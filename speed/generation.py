"""Continuations in batches of similar lengths against batches of one length: `python -m speed.generation`.

The texts are those of the probe cloze on the starter benchmark. Both kinds of batches have the same budget of token
positions and are measured in turns; every eighth text is also continued alone.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import Any
from unittest.mock import patch

from probing.arrays import Ids
from probing.benchmark import Benchmark
from probing.catalog import open_benchmark
from probing.probes.cloze import INSTRUCTIONS, Cloze, beginning, ends_in_blank
from probing.scoring import generation, reference
from probing.scoring.causal import CausalModel
from probing.scoring.hf_model import HFModel
from probing.template import prompt
from speed.machine import describe
from speed.networks import load_network
from speed.stored_results import show, store

BUDGET = 1024  # token positions
ROUNDS = 3


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m speed.generation", description=__doc__)
    parser.add_argument("--texts", type=int, default=64)
    options = parser.parse_args()
    model = load_network("causal").ours(BUDGET)
    assert isinstance(model, CausalModel)
    model.check()  # the self-check is not part of what is measured
    texts = some_texts(open_benchmark("starter"), options.texts)
    rounds = [{name: measure(model, texts, batches) for name, batches in BATCHES.items()} for _ in range(ROUNDS)]
    alone = [continued(model, [text])[0] for text in texts[::8]]
    ratios = [round(turn["one length"]["cpu_seconds"] / turn["similar lengths"]["cpu_seconds"], 2) for turn in rounds]
    answers = {name: rounds[0][name].pop("answers") for name in BATCHES}
    results = {
        "machine": describe(),
        "texts": len(texts),
        "tokens": Cloze.tokens + 1,
        "budget": BUDGET,
        "rounds": [
            {name: {k: v for k, v in turn[name].items() if k != "answers"} for name in BATCHES} for turn in rounds
        ],
        "ratios": ratios,
        "ratio": median(ratios),
        "differ_from_alone": {name: count_others(texts[::8], alone) for name, texts in answers.items()},
        "differ_from_one_another": count_others(*answers.values()),
    }
    store("generation", results)
    show(results)
    return int(results["differ_from_alone"]["similar lengths"] > 0 or results["ratio"] < 1)


def some_texts(benchmark: Benchmark, count: int) -> list[str]:
    """Return texts that a generator is to continue, spread evenly over those of the benchmark."""
    prompts = [
        prompt(relation.templates[0], item.subject, relation.verbatim)
        for relation in benchmark.relations
        for item in relation.items
    ]
    texts = [INSTRUCTIONS[Cloze.instruction].format(beginning(text)) for text in prompts if ends_in_blank(text)]
    return texts[:: len(texts) // count][:count]


def of_one_length(model: HFModel, inputs: Sequence[Ids], tokens: int) -> Iterator[list[Ids]]:
    for indices in reference.equal_lengths(inputs, model.budget):
        yield [inputs[index] for index in indices]


BATCHES = {"one length": of_one_length, "similar lengths": generation.batches}


def measure(model: CausalModel, texts: Sequence[str], batches: Callable[..., Iterator[list[Ids]]]) -> dict[str, Any]:
    positions, padding, begin = model.usage.positions, model.usage.padding, time.process_time()
    with patch.object(generation, "batches", batches):
        answers = continued(model, texts)
    return {
        "positions": model.usage.positions - positions,
        "padding": model.usage.padding - padding,
        "cpu_seconds": round(time.process_time() - begin, 2),
        "answers": answers,
    }


def continued(model: CausalModel, texts: Sequence[str]) -> list[str]:
    return [str(text) for text in model.generate(texts, Cloze.tokens + 1)]


def count_others(first: Sequence[str], second: Sequence[str]) -> int:
    return sum(one != other for one, other in zip(first, second, strict=True))


if __name__ == "__main__":
    sys.exit(main())
