"""Measure what scoring costs beside the network, by step: `python -m speed.host`.

A causal network that computes nothing stands in for a GPU that answers at once, and is asked all of BEAR, or of the
starter benchmark without BEAR. The floor is what `tokenizers` takes to encode the same texts in one batch. Times are
those of the processor; the exit code is 1 if a statement costs more than `MOST` floors.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import torch

from probing import runner
from probing.arrays import Ints
from probing.benchmark import Benchmark
from probing.catalog import open_benchmark
from probing.scoring import tokens, tree_passes
from probing.scoring.causal import CausalModel
from probing.scoring.hf_model import FAST
from probing.scoring.prefix_tree import PackedRow, PrefixTree
from probing.scoring.tree_passes import TreePasses
from speed.networks import LoadedNetwork, load_network
from speed.work import bear, requests

ROUNDS, MOST = 3, 3.0
# The steps, each with the function that does it. The rest of the time goes into rows.
STEPS: dict[str, tuple[Any, str]] = {
    "tokenize": (tokens.Encoder, "encode"),
    "tree": (PrefixTree, "of"),
    "pack": (tree_passes, "pack"),
    "gather": (TreePasses, "children_logits"),
    "parquet": (runner, "joined_in_folder"),
}


class IdlePasses(TreePasses):
    """Passes whose network gives every token the log-probability 0."""

    def log_probs(self, tree: PrefixTree, rows: Sequence[PackedRow], cache: Any) -> tuple[Ints, torch.Tensor]:
        children, _, _ = self.children_logits(tree, rows, cache)
        return children, torch.zeros(len(children))


class IdleModel(CausalModel):
    """A causal model whose network computes nothing."""

    @property
    def trees(self) -> TreePasses:
        return IdlePasses(self)

    def logits_at(self, places: torch.Tensor, **inputs: Any) -> torch.Tensor:
        return torch.zeros(len(places), 1)


def main(benchmark: Benchmark | None = None, network: LoadedNetwork | None = None) -> int:
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    benchmark = benchmark or bear() or open_benchmark("starter")
    network = network or load_network("causal")
    texts = [blank.fill(option).text for blank, options in requests(benchmark) for option in options]
    rounds = [(_floor(network, texts), _host_time(network, benchmark)) for _ in range(ROUNDS)]
    floor = min(floor for floor, _ in rounds)
    whole, steps = min((host for _, host in rounds), key=itemgetter(0))
    per_statement = 1e6 / len(texts)  # from seconds to microseconds
    print(f"{len(texts):,} statements of {benchmark.slug}; microseconds of the processor for each:")
    print(f"  floor: {floor * per_statement:.1f}")
    for step, seconds in {**steps, "rows": whole - sum(steps.values())}.items():
        print(f"  {step}: {seconds * per_statement:.1f}")
    print(f"  all: {whole * per_statement:.1f}, {whole / floor:.1f} floors (at most {MOST:.0f})")
    return int(whole > MOST * floor)


def _floor(network: LoadedNetwork, texts: Sequence[str]) -> float:
    begin = time.process_time()
    network.tokenizer.backend_tokenizer.encode_batch(texts, add_special_tokens=False)
    return time.process_time() - begin


def _host_time(network: LoadedNetwork, benchmark: Benchmark) -> tuple[float, dict[str, float]]:
    """Return the seconds of a whole run and those of each step."""
    model = IdleModel(network.network, network.tokenizer)
    model.take_way(FAST)
    with TemporaryDirectory() as folder, _timed() as steps:
        begin = time.process_time()
        runner.run(model, benchmark, out=Path(folder) / "result", progress=False)
        return time.process_time() - begin, steps


@contextmanager
def _timed() -> Iterator[dict[str, float]]:
    """Count the seconds of the processor that each step takes in its thread."""
    steps = dict.fromkeys(STEPS, 0.0)

    def counting(step: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **named: Any) -> Any:
            begin = time.thread_time()
            try:
                return work(*arguments, **named)
            finally:
                steps[step] += time.thread_time() - begin

        return counted

    with ExitStack() as patches:
        for step, (owner, name) in STEPS.items():
            patches.enter_context(mock.patch.object(owner, name, counting(step, getattr(owner, name))))
        yield steps


if __name__ == "__main__":
    sys.exit(main())
