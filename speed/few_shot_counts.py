"""Token positions that few-shot prompting takes over all pairs of S-TEST, counted: `python -m speed.few_shot_counts`.

No network runs: the prompts are tokenized in the windows of the scoring core, and the distinct prefixes of each are
counted. The estimate before a run is set beside them. CLOZEBOARD_TEST_DATA names the folder with S-TEST's files.
"""

import argparse
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from transformers import AutoTokenizer

from probing.benchmark import Benchmark, Relation
from probing.catalog import open_benchmark
from probing.estimate.work import estimate_work
from probing.language_model import Request
from probing.plan import plan, plan_of
from probing.probes.specificity import Specificity
from probing.scoring.filling import OPTIONS_PER_WINDOW, blanks
from probing.scoring.prefix_tree import PrefixTree
from probing.scoring.tokens import STATEMENTS_PER_WINDOW, Encoder, grouped
from probing.statements.prompting import PROMPTINGS, PromptingName
from speed.networks import smollm2_file
from speed.stored_results import show, store

COMPARED: tuple[PromptingName, PromptingName] = ("few-shot", "shared-few-shot")


def main() -> int:
    argparse.ArgumentParser(prog="python -m speed.few_shot_counts", description=__doc__).parse_args()
    encoder, benchmark = smollm2_encoder(), open_benchmark(Path(os.environ["CLOZEBOARD_TEST_DATA"]) / "stest")
    counts = {prompting: count(benchmark, prompting, encoder) for prompting in COMPARED}
    own, shared = (counts[prompting]["positions"] for prompting in COMPARED)
    results = {"shots": Specificity.shots, "pairs": benchmark.size, "counts": counts, "ratio": round(own / shared, 1)}
    store("few_shot_counts", results)
    show(results)
    return int(results["ratio"] < 10)


def smollm2_encoder() -> Encoder:
    file = smollm2_file()
    return Encoder(AutoTokenizer.from_pretrained(str(file.parent), gguf_file=file.name), special_tokens=False)


def count(benchmark: Benchmark, prompting: PromptingName, encoder: Encoder) -> dict[str, Any]:
    """Return the positions over all relations, and those of them that fill blanks beside their estimate.

    `in_prompts`: the tokens of all prompts, which a program computes that shares nothing.
    """
    by_relation = [_of_relation(relation, prompting, encoder) for relation in benchmark.relations]
    in_prompts, filling, whole_answers = (sum(column) for column in zip(*by_relation, strict=True))
    settings = plan(benchmark, {"prompting": prompting}).settings
    work = [estimate_work(plan_of(benchmark, settings), part, "causal") for part in plan_of(benchmark, settings).parts]
    return {
        "positions": filling + whole_answers,
        "filling": filling,
        "whole_answers": whole_answers,
        "in_prompts": in_prompts,
        "estimated_filling": round(sum(estimate.loads["fill"].positions for estimate in work)),
    }


def _of_relation(relation: Relation, prompting: PromptingName, encoder: Encoder) -> tuple[int, int, int]:
    """Return the tokens of all prompts, and the positions that filling blanks and scoring whole answers take."""
    blank = str(encoder.tokenizer.eos_token or "")
    questions = list(PROMPTINGS[prompting](relation, 0, Specificity.shots, 0))
    pairs = [(prompt, relation.options_of(q.item)) for q in questions for prompt in (q.prompt, q.bare)]
    in_prompts = filling = 0
    several_tokens: list[Request] = []
    for requests in grouped(pairs, OPTIONS_PER_WINDOW):
        encoded = blanks(requests, encoder, blank)
        inputs = [each.input.ids for each in encoded]
        in_prompts += sum(map(len, inputs))
        filling += len(prefix_tree(inputs).token)
        # The requests of a pair stand side by side; only the first has its subject, and is scored by whole answers.
        several_tokens += [requests[n] for n in range(0, len(requests), 2) if (encoded[n].options < 0).any()]
    return in_prompts, filling, _scoring(several_tokens, encoder, blank)


def _scoring(requests: Iterable[Request], encoder: Encoder, blank: str) -> int:
    positions = 0
    for window in grouped(requests, STATEMENTS_PER_WINDOW):
        statements = [prompt.fill(option, blank) for prompt, options in window for option in options]
        sequences = [statement.ids for statement in encoder.encode(statements, "answer")]
        positions += int(prefix_tree(sequences).inner.sum())
    return positions


def prefix_tree(sequences: Sequence[Sequence[int]]) -> PrefixTree:
    return PrefixTree.of(sequences, np.zeros((len(sequences), max(map(len, sequences))), bool))


if __name__ == "__main__":
    sys.exit(main())
