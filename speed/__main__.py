"""Compare the speed of this project with its peer and with the machine's limits: `python -m speed [causal] [masked]`.

The exit code is 1 where a required ratio is missed. `--quick` is a short run that neither writes results nor requires
a ratio.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from probing.errors import ProbingError
from speed.comparison import QUICK_PLAN, WHOLE_PLAN, BenchmarkPlan, compare_systems
from speed.growth import growth
from speed.machine import describe, square_rate
from speed.networks import NetworkKind, load_network
from speed.report import growth_table, missed, notes, report_table

RESULTS = Path(__file__).parent / "results"
NETWORK_KINDS: tuple[NetworkKind, ...] = ("causal", "masked")
PACKAGES = ("torch", "transformers", "lm-pub-quiz")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m speed", description=__doc__)
    parser.add_argument(
        "kinds", nargs="*", metavar="KIND", default=NETWORK_KINDS, help="causal, masked; both if none is named"
    )
    parser.add_argument(
        "--quick", action="store_true", help="make a short run that writes no results and requires no ratio"
    )
    options = parser.parse_args()
    if unknown := set(options.kinds).difference(NETWORK_KINDS):
        parser.error(f"{', '.join(sorted(unknown))}: no such kind; choose from {', '.join(NETWORK_KINDS)}")
    try:
        return _measure(options.kinds, QUICK_PLAN if options.quick else WHOLE_PLAN)
    except ProbingError as error:
        print(error, file=sys.stderr)
        return 2


def _measure(kinds: Sequence[NetworkKind], plan: BenchmarkPlan) -> int:
    rate = square_rate()
    machine = describe() | {"square_gflops": round(rate, 1)}
    packages = {name: version(name) for name in PACKAGES}
    comparisons = []
    for kind in kinds:
        loaded = load_network(kind)
        measured = compare_systems(loaded, plan, rate)
        if kind == "causal":
            measured["growth"] = growth(loaded, plan.rounds)
        comparisons.append(measured)
        if plan is WHOLE_PLAN:
            _write_results(kind, {"machine": machine, "versions": packages} | measured)
    _show(machine, comparisons)
    return _complain(missed(comparisons)) if plan is WHOLE_PLAN else 0


def _show(machine: dict[str, Any], comparisons: list[dict[str, Any]]) -> None:
    print(f"{machine['cores']} cores, {machine['processor']}, best matrix product {machine['square_gflops']} GFLOP/s\n")
    print(report_table(comparisons), "\n")
    for comparison in comparisons:
        print(notes(comparison))
        if "growth" in comparison:
            print(growth_table(comparison["growth"]))


def _write_results(name: str, results: dict[str, Any]) -> None:
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


def _complain(misses: list[str]) -> int:
    for line in misses:
        print(f"Missed: {line}", file=sys.stderr)
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main())
