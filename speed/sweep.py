"""Cost of a sweep over checkpoints beside single runs of each: `python -m speed.sweep`.

Sweeps and single runs take turns in this process, each round in the other order, so that both share whatever else the
machine does. Single runs in one process are the harder comparison: as commands, each would import torch as well.
The exit code is 1 if the median ratio of the processor times is above the limit.
"""

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
from transformers.utils import logging

import probing
from probing.benchmark import Benchmark
from speed.machine import describe
from speed.stored_results import store

LIMIT = 1.05  # of the cost of the single runs
BATCH_TOKENS = 2048  # the same for all, as every run would find another size of batches
VOCABULARY = 2000


class Cost(NamedTuple):
    """Seconds on the clock and of the processor."""

    clock: float
    processor: float


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m speed.sweep", description=__doc__)
    parser.add_argument("--checkpoints", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sample", type=int, default=3, help="items of each relation of the starter benchmark")
    options = parser.parse_args()
    logging.disable_progress_bar()
    with TemporaryDirectory() as name:
        training = save_checkpoints(Path(name), options.checkpoints, probing.open_benchmark("starter"))
        rounds = compare(training, options.rounds, options.sample)
    results = {"machine": describe(), **vars(options), "limit": LIMIT, "rounds": rounds, "ratios": ratios(rounds)}
    store("sweep", results)
    return report(ratios(rounds))


def save_checkpoints(folder: Path, number: int, benchmark: Benchmark) -> Path:
    """Save small networks with random weights as the checkpoints of a training."""
    texts = [option for relation in benchmark.relations for option in (*relation.answer_space, *relation.templates)]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=VOCABULARY, special_tokens=["<|endoftext|>"], initial_alphabet=alphabet)
    tokenizer.train_from_iterator(texts, trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<|endoftext|>", eos_token="<|endoftext|>")
    config = GPT2Config(
        vocab_size=len(fast), bos_token_id=0, eos_token_id=0, n_embd=128, n_layer=2, n_head=2, n_positions=256
    )
    for step in range(number):
        torch.manual_seed(step)
        checkpoint = folder / f"checkpoint-{1000 * step}"
        GPT2LMHeadModel(config).save_pretrained(checkpoint)
        fast.save_pretrained(checkpoint)
    return folder


def compare(training: Path, rounds: int, sample: int) -> list[dict[str, Cost]]:
    """Measure a sweep and the single runs in turns; return what each took in each round."""
    checkpoints = sorted(training.iterdir())

    def single(out: Path) -> None:
        for checkpoint in checkpoints:
            probing.run(
                checkpoint,
                "starter",
                out=out / checkpoint.name,
                device="cpu",
                batch_tokens=BATCH_TOKENS,
                progress=False,
                sample=sample,
            )

    def sweep(out: Path) -> None:
        probing.sweep(
            training,
            "starter",
            revisions="all",
            out=out,
            device="cpu",
            batch_tokens=BATCH_TOKENS,
            progress=False,
            sample=sample,
        )

    ways: dict[str, Callable[[Path], None]] = {"single": single, "sweep": sweep}
    probing.run(checkpoints[0], "starter", device="cpu", progress=False, limit=1)  # imports what both need
    measured = []
    for number in range(rounds):
        order = list(ways) if number % 2 == 0 else list(ways)[::-1]
        measured.append({name: cost_of(ways[name]) for name in order})
        print(f"Round {number + 1}: {measured[-1]}", flush=True)
    return measured


def cost_of(way: Callable[[Path], None]) -> Cost:
    """Return what one way costs, with its results in a folder of its own."""
    with TemporaryDirectory() as folder:
        clock, processor = time.perf_counter(), time.process_time()
        way(Path(folder) / "out")
        return Cost(time.perf_counter() - clock, time.process_time() - processor)


def ratios(rounds: list[dict[str, Cost]]) -> dict[str, float]:
    """Return the median over rounds of the sweep's cost divided by that of the single runs."""
    return {
        kind: median(getattr(costs["sweep"], kind) / getattr(costs["single"], kind) for costs in rounds)
        for kind in Cost._fields
    }


def report(medians: dict[str, float]) -> int:
    """Print the ratios and return the exit code; the clock is shown only, as other programs disturb it more."""
    print(", ".join(f"sweep / single runs, {kind}: {value:.3f}" for kind, value in medians.items()))
    if medians["processor"] <= LIMIT:
        return 0
    print(f"Missed: a sweep may cost {LIMIT} times the single runs.", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
