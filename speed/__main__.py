"""Compare the speed of this project with its peers': `python -m speed`.

All systems score the same statements with the same weights in float32, each in a process of its own, in turns. The
environments of peers are made on first use, in `clozeboard/peers` below the user's cache folder. The exit code is 1
where a required ratio is missed or scores differ. `--quick` is a short run that writes no results and requires nothing.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from probing.benchmark import Benchmark
from probing.errors import ProbingError
from speed.comparison import compare, fewest_positions, missed
from speed.machine import describe
from speed.networks import LoadedNetwork, NetworkKind, load_network, write_folder, write_gguf
from speed.peers.protocol import Item, Job
from speed.report import report
from speed.stored_results import store, stored
from speed.work import completions, facts, statements, workload

PACKAGES = ("torch", "transformers")
KINDS: tuple[NetworkKind, ...] = ("causal", "masked")
# The items of each relation: whole statements, and sentences that are completed after examples. A quick run has one.
ITEMS = {"causal": 8, "masked": 3, "completions": 4}
ROUNDS = 3  # of taking turns; a quick run has one


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m speed", description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="make a short run that writes no results and requires no ratio"
    )
    parser.add_argument(
        "kinds", nargs="*", metavar="KIND", help="causal or masked; both by default. The other's results are kept"
    )
    options = parser.parse_args()
    quick, kinds = options.quick, options.kinds or KINDS
    if unknown := set(kinds) - set(KINDS):
        parser.error(f"there is no kind {sorted(unknown)[0]!r}")
    try:
        results = _measure(kinds, quick, {} if quick else stored("peers"))
    except ProbingError as error:
        print(error, file=sys.stderr)
        return 2
    print(report(results))
    if quick:
        return 0
    store("peers", results)
    misses = [line for comparison in results["comparisons"].values() for line in missed(comparison)]
    for line in misses:
        print(f"Missed: {line}", file=sys.stderr)
    return 1 if misses else 0


def _measure(kinds: Sequence[NetworkKind], quick: bool, earlier: Mapping[str, Any]) -> dict[str, Any]:
    """Return the results of these kinds of networks, with those that are stored of the other kind."""
    results: dict[str, Any] = {
        "machine": describe(),
        "versions": {name: version(name) for name in PACKAGES},
        **{name: earlier.get(name, {}) for name in ("work", "comparisons", "fewest_positions")},
    }
    for kind in kinds:
        items = 1 if quick else ITEMS[kind]
        loaded, work = load_network(kind), workload(items)
        results["work"][kind] = _description(loaded, work, items)
        results["comparisons"] |= _comparisons(loaded, work, quick)
        real, distinct = fewest_positions(loaded, work)
        results["fewest_positions"][kind] = {"real": real, "distinct": distinct}
    return results


def _comparisons(loaded: LoadedNetwork, work: Benchmark, quick: bool) -> dict[str, Any]:
    with TemporaryDirectory() as name:
        folder = Path(name)
        weights, gguf = folder / "weights", folder / "model.gguf"
        write_folder(loaded, weights)
        items: dict[str, list[Item]] = {loaded.kind: statements(work)}
        if loaded.kind == "causal":
            write_gguf(gguf)
            items["completions"] = completions(workload(1 if quick else ITEMS["completions"]))
        threads, rounds = torch.get_num_threads(), 1 if quick else ROUNDS
        return {
            comparison: compare(comparison, Job(loaded.kind, str(weights), str(gguf), threads, own), folder, rounds)
            for comparison, own in items.items()
        }


def _description(loaded: LoadedNetwork, work: Benchmark, items: int) -> dict[str, Any]:
    return {
        "model": {"name": loaded.name, "parameters": loaded.network.num_parameters(), "training": loaded.training},
        "template": 0,
        "items_per_relation": items,
        **facts(work),
    }


if __name__ == "__main__":
    sys.exit(main())
