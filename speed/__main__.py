"""`python -m speed [causal] [masked]`: this project beside its peer and the machine's own limits, in one run.

Exit code 1 where a ratio that must hold is missed; `--quick` is a short run that writes and demands nothing.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from probing.errors import ProbingError
from speed.comparison import QUICK, WHOLE, Plan, comparison
from speed.growth import growth
from speed.machine import describe, square_rate
from speed.networks import Kind, load
from speed.report import growth_table, missed, notes, table

RESULTS = Path(__file__).parent / "results"
KINDS: tuple[Kind, ...] = ("causal", "masked")
PACKAGES = ("torch", "transformers", "lm-pub-quiz")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m speed", description=__doc__)
    parser.add_argument("kinds", nargs="*", metavar="KIND", default=KINDS, help="causal, masked; both if none is named")
    parser.add_argument("--quick", action="store_true", help="a short run that writes and demands nothing")
    asked = parser.parse_args()
    if unknown := set(asked.kinds).difference(KINDS):
        parser.error(f"{', '.join(sorted(unknown))}: no such kind; choose from {', '.join(KINDS)}")
    try:
        return _run(asked.kinds, QUICK if asked.quick else WHOLE)
    except ProbingError as error:
        print(error, file=sys.stderr)
        return 2


def _run(kinds: Sequence[Kind], plan: Plan) -> int:
    rate = square_rate()
    machine = describe() | {"square_gflops": round(rate, 1)}
    packages = {name: version(name) for name in PACKAGES}
    comparisons = []
    for kind in kinds:
        loaded = load(kind)
        found = comparison(loaded, plan, rate)
        if kind == "causal":
            found["growth"] = growth(loaded, plan.rounds)
        comparisons.append(found)
        if plan is WHOLE:
            _write(kind, {"machine": machine, "versions": packages} | found)
    _show(machine, comparisons)
    return _verdict(missed(comparisons)) if plan is WHOLE else 0


def _show(machine: dict[str, Any], comparisons: list[dict[str, Any]]) -> None:
    print(f"{machine['cores']} cores, {machine['processor']}, best matrix product {machine['square_gflops']} GFLOP/s\n")
    print(table(comparisons), "\n")
    for found in comparisons:
        print(notes(found))
        if "growth" in found:
            print(growth_table(found["growth"]))


def _write(name: str, found: dict[str, Any]) -> None:
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def _verdict(misses: list[str]) -> int:
    for line in misses:
        print(f"Missed: {line}", file=sys.stderr)
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main())
