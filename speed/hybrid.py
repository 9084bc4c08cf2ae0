"""Compare this project with lm-evaluation-harness on recurrent and hybrid networks: `python -m speed.hybrid`.

The networks have the width of small published ones, four of their layers and random weights, in float32 on the CPU.
Processor time decides. The exit code is 1 where the required ratio is missed, scores differ, or prefixes are computed
more often than they may be.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
import transformers
from transformers import PreTrainedModel

from probing.benchmark import Benchmark
from speed.comparison import compare, fewest_positions, missed
from speed.machine import describe
from speed.networks import LoadedNetwork, load_network, write_folder
from speed.peers.protocol import Job
from speed.stored_results import show, store
from speed.work import facts, statements, workload

ROUNDS, ITEMS = 3, 5
MOST_POSITIONS = 1.3  # token positions that this project may compute for each distinct prefix
ATTENTION = {"hidden_size": 1024, "num_attention_heads": 8, "num_key_value_heads": 2, "intermediate_size": 2048}
MIXED = ["linear_attention", "linear_attention", "linear_attention", "full_attention"]
# The class of transformers, and the sizes of its config.
NETWORKS: dict[str, tuple[str, dict[str, Any]]] = {
    "Granite 4 hybrid": (
        "GraniteMoeHybridForCausalLM",
        {
            **ATTENTION,
            "num_hidden_layers": 4,
            "layer_types": ["mamba", "mamba", "mamba", "attention"],
            "mamba_n_heads": 32,
            "mamba_d_head": 64,
            "mamba_d_state": 128,
            "num_local_experts": 0,
            "shared_intermediate_size": 2048,
        },
    ),
    "Falcon-H1": (
        "FalconH1ForCausalLM",
        {
            **ATTENTION,
            "num_hidden_layers": 4,
            "head_dim": 64,
            "mamba_d_ssm": 1536,
            "mamba_n_heads": 24,
            "mamba_d_head": 64,
            "mamba_d_state": 128,
        },
    ),
    "Qwen3.5": (
        "Qwen3_5ForCausalLM",
        {
            **ATTENTION,
            "num_hidden_layers": 4,
            "head_dim": 256,
            "layer_types": MIXED,
            "linear_num_key_heads": 16,
            "linear_num_value_heads": 16,
        },
    ),
}


def main() -> int:
    argparse.ArgumentParser(prog="python -m speed.hybrid", description=__doc__).parse_args()
    work = workload(ITEMS)
    comparisons: dict[str, Any] = {}
    for name, comparison in _comparisons(work):
        comparisons[name] = comparison
        store("hybrid", {"machine": describe(), "work": facts(work), "comparisons": comparisons})
    show(comparisons)
    misses = [
        f"{name}: {line}"
        for name, comparison in comparisons.items()
        for line in (*missed(comparison), *repeated_prefixes(comparison))
    ]
    print(*misses, sep="\n", file=sys.stderr)
    return int(bool(misses))


def _comparisons(work: Benchmark) -> Iterator[tuple[str, dict[str, Any]]]:
    words = load_network("causal")
    for name, (kind, sizes) in NETWORKS.items():
        print(name, flush=True)
        yield name, measure(random_network(name, kind, sizes, words), work)


def random_network(name: str, kind: str, sizes: Mapping[str, Any], words: LoadedNetwork) -> LoadedNetwork:
    """Return a network of a class of transformers with these sizes, random weights, and the words of another one."""
    network_class = getattr(transformers, kind)
    tokens = {f"{token}_token_id": getattr(words.tokenizer, f"{token}_token_id") for token in ("bos", "eos", "pad")}
    config = network_class.config_class(vocab_size=words.network.config.vocab_size, **tokens, **sizes)
    torch.manual_seed(0)
    network: PreTrainedModel = network_class(config).eval()
    return LoadedNetwork(name, "causal", network, words.tokenizer, {})


def measure(loaded: LoadedNetwork, work: Benchmark) -> dict[str, Any]:
    """Compare all systems with one network."""
    _, distinct_prefixes = fewest_positions(loaded, work)
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_folder(loaded, folder / "weights")
        job = Job("causal", str(folder / "weights"), "", torch.get_num_threads(), statements(work))
        return compare("hybrid", job, folder, ROUNDS) | {
            "parameters": loaded.network.num_parameters(),
            "distinct_prefixes": distinct_prefixes,
        }


def repeated_prefixes(comparison: Mapping[str, Any]) -> list[str]:
    """Return a sentence for each system of this project that computes prefixes more often than it may."""
    own = (row for row in comparison["systems"] if row["own"])
    shares = {row["system"]: row["positions"] / comparison["distinct_prefixes"] for row in own}
    return [
        f"{system} computes {share:.2f} positions for each distinct prefix; at most {MOST_POSITIONS:g} are allowed."
        for system, share in shares.items()
        if share > MOST_POSITIONS
    ]


if __name__ == "__main__":
    sys.exit(main())
