"""Compare the time of scoring with what its multiplications alone would take: `python -m speed.roofline`.

The multiplications that are needed are those of the network's linear layers for each distinct prefix or masked input,
and of its output head where a token counts; attention, norms and activations are not counted. They are divided by the
rate at which this processor multiplies two large matrices, by whichever of MKL and oneDNN is faster. The exit code is
1 if a kind of network reaches less than its share.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from unittest import mock

import torch
from torch import nn
from transformers import BertConfig, BertForMaskedLM

from probing.benchmark import Benchmark
from probing.language_model import Scoring
from probing.scoring.causal import CausalModel
from probing.scoring.hf_model import HFModel
from probing.scoring.masked import MaskedModel
from probing.scoring.products import linear
from speed.comparison import fewest_positions
from speed.hybrid import NETWORKS, random_network
from speed.machine import describe
from speed.networks import LoadedNetwork, load_network, word_piece
from speed.work import requests, true_statements, workload

ROUNDS, SIZE = 3, 2048
ITEMS = {"causal": 20, "masked": 2, "hybrid": 5}
LEAST = {"causal": 0.7, "masked": 0.7, "hybrid": 0.03}  # docs/performance.md says what takes the rest


def main() -> int:
    argparse.ArgumentParser(prog="python -m speed.roofline", description=__doc__).parse_args()
    rate, missed = multiplications_per_second(), False
    print(f"{describe()}\n{rate / 1e9:.0f} thousand million multiplications per second of processor time")
    for name, loaded in _networks():
        work = workload(ITEMS[name])
        needed, seconds = measure(loaded, work)
        share = needed / rate / seconds
        missed |= share < LEAST[name]
        print(
            f"{loaded.name}: {needed / 1e9:.0f} thousand million in {seconds:.1f} s, a share of {share:.2f}", flush=True
        )
    return int(missed)


def multiplications_per_second() -> float:
    """Return the rate of the faster library, per second of processor time."""
    states, weight = torch.randn(SIZE, SIZE), torch.randn(SIZE, SIZE)
    ways: list[Callable[[], torch.Tensor]] = [
        lambda: nn.functional.linear(states, weight),
        lambda: linear(states, weight, None),
    ]
    with torch.inference_mode():
        return SIZE**3 / min(_seconds(way) for way in ways for _ in range(2 * ROUNDS))


def measure(loaded: LoadedNetwork, work: Benchmark) -> tuple[float, float]:
    """Return the multiplications that scoring the work needs, and the seconds of processor time that it takes."""
    kinds: dict[str, type[HFModel]] = {"causal": CausalModel, "masked": MaskedModel}
    model = kinds[loaded.kind](loaded.network, loaded.tokenizer)
    model.check()
    places = 0
    logits_at = type(model).logits_at

    def counted(self: HFModel, chosen: torch.Tensor, **inputs: torch.Tensor) -> torch.Tensor:
        nonlocal places
        places += len(chosen)
        return logits_at(self, chosen, **inputs)

    with mock.patch.object(type(model), "logits_at", counted):
        list(model.score(requests(work), Scoring()))  # also finds the best size of batches
    seconds = min(_seconds(lambda: list(model.score(requests(work), Scoring()))) for _ in range(ROUNDS))
    head = loaded.network.get_output_embeddings().weight.numel()
    layers = sum(layer.weight.numel() for layer in loaded.network.modules() if isinstance(layer, nn.Linear)) - head
    _, distinct = fewest_positions(loaded, work)
    return float(distinct * layers + places * head), seconds


def _networks() -> Iterator[tuple[str, LoadedNetwork]]:
    causal = load_network("causal")
    yield "causal", causal
    yield "masked", _bert()
    for name, (kind, sizes) in NETWORKS.items():
        yield "hybrid", random_network(name, kind, sizes, causal)


def _bert() -> LoadedNetwork:
    """Return a masked network of the size of BERT base with random weights."""
    texts = [prompt.fill(option).text for prompt, (option,) in true_statements(workload())]
    torch.manual_seed(0)
    return LoadedNetwork("BERT base", "masked", BertForMaskedLM(BertConfig()).eval(), word_piece(texts), {})


def _seconds(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


if __name__ == "__main__":
    sys.exit(main())
