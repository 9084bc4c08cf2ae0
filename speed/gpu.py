"""Compare this project with lm-evaluation-harness on a GPU: `python -m speed.gpu`.

Both score the first items of every relation of BEAR in template 0, with SmolLM2-135M and with a network of 1.7 billion
random weights, in float32 and in bfloat16, each in a process of its own, in turns. The clock decides. The exit code is
1 where the required ratio is missed, or where scores in float32 differ.
"""

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import torch
from transformers import AutoModelForCausalLM, PreTrainedModel

from probing.benchmark import Benchmark
from probing.catalog import open_benchmark
from speed.comparison import compare, missed
from speed.machine import describe
from speed.networks import LoadedNetwork, load_network, write_folder
from speed.peers.protocol import Job
from speed.stored_results import store
from speed.work import bear, statements

ROUNDS, ITEMS = 3, 8
# The sizes of SmolLM2-1.7B.
LARGER = {
    "hidden_size": 2048,
    "intermediate_size": 8192,
    "num_hidden_layers": 24,
    "num_attention_heads": 32,
    "num_key_value_heads": 32,
    "head_dim": 64,
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m speed.gpu", description=__doc__)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--items", type=int, default=ITEMS, help="of each relation; results of %(default)s are stored")
    options = parser.parse_args()
    benchmark = bear() or open_benchmark("starter")
    work = benchmark.select(limit=options.items)
    facts = {
        "benchmark": work.slug,
        "relations": [relation.id for relation in work.relations],
        "items": work.size,
    }
    rows: list[dict[str, Any]] = []
    for row in _rows(work, options.device):
        rows.append(row)
        print(line(row), flush=True)
        if options.items == ITEMS:
            machine = describe() | {"device": device_name(options.device)}
            store("gpu", {"machine": machine, "work": facts, "rows": rows})
    misses = [sentence for row in rows for sentence in missed(row)]
    print(*misses, sep="\n", file=sys.stderr)
    return int(bool(misses))


def _rows(work: Benchmark, device: str) -> Iterator[dict[str, Any]]:
    loaded = load_network("causal")
    for network in (loaded, larger(loaded)):
        with written(network) as weights:
            for dtype in ("float32", "bfloat16"):
                yield measure(network.name, weights, work, device, dtype)


def larger(loaded: LoadedNetwork) -> LoadedNetwork:
    """Return a network of the same kind, with the same tokenizer, more layers and random weights."""
    sizes = {"quantization_config": None} | LARGER
    config = type(loaded.network.config).from_dict(loaded.network.config.to_dict() | sizes)
    network: PreTrainedModel = AutoModelForCausalLM.from_config(config).eval()
    return LoadedNetwork("1.7 billion random weights", "causal", network, loaded.tokenizer, {})


@contextmanager
def written(loaded: LoadedNetwork) -> Iterator[Path]:
    with TemporaryDirectory() as name:
        folder = Path(name) / "weights"
        write_folder(loaded, folder)
        yield folder


def measure(name: str, weights: Path, work: Benchmark, device: str, dtype: str) -> dict[str, Any]:
    """Compare all systems with one network in one number format."""
    job = Job("causal", str(weights), "", torch.get_num_threads(), statements(work), device, dtype)
    with TemporaryDirectory() as folder:
        comparison = compare("gpu", job, Path(folder), ROUNDS)
    for system in comparison["systems"]:
        system["positions_per_second"] = round(system["positions"] / median(system["seconds"]["clock"]))
    return comparison | {"network": name, "dtype": dtype}


def device_name(device: str) -> str:
    return torch.cuda.get_device_name(device) if torch.device(device).type == "cuda" else device


def line(row: dict[str, Any]) -> str:
    """Write one network in one number format for the terminal."""
    rates = ", ".join(f"{system['system']} {system['positions_per_second']:,} positions/s" for system in row["systems"])
    times = ", ".join(f"{ratio['own']} {ratio['median']['clock']:.1f} times {ratio['peer']}" for ratio in row["ratios"])
    absent = "".join(f" Not measured: {name}. {reason}" for name, reason in row["not_measured"].items())
    return f"{row['network']}, {row['dtype']}: {rates}; {times}.{absent}"


if __name__ == "__main__":
    sys.exit(main())
