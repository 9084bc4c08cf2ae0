"""How much faster bfloat16 is than float32 on this CPU: `python -m speed.bfloat16`.

Both formats score the same statements with SmolLM2-135M, in turns in this process. The ratio for early decision bounds
what could be gained by deciding in bfloat16 first and checking in float32.
"""

import argparse
import json
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

from probing.scoring.bfloat16_speed import speed_up
from probing.scoring.load import load
from speed.machine import describe
from speed.networks import smollm2_file
from speed.systems import Ours
from speed.work import Workload, workload

RESULTS = Path(__file__).parent / "results" / "bfloat16.json"
FORMATS = ("float32", "bfloat16")
ITEMS, ROUNDS = 10, 3  # items of each relation
PRODUCT_SECONDS = 5.0  # a slow processor may take so long for products of matrices


def main() -> int:
    argparse.ArgumentParser(prog="python -m speed.bfloat16", description=__doc__).parse_args()
    work = workload(ITEMS)
    models = {name: load(str(smollm2_file()), device="cpu", dtype=name) for name in FORMATS}
    systems = {
        name: {dtype: Ours(name, model, decide) for dtype, model in models.items()}
        for name, decide in (("full", 0), ("decide", 1))
    }
    ratios = {name: [_ratio(by_dtype, work) for _ in range(ROUNDS)] for name, by_dtype in systems.items()}
    results: dict[str, Any] = {
        "machine": describe(),
        "statements": work.statements,
        "products": round(speed_up(PRODUCT_SECONDS), 2),
        "ratios": ratios,
        "median": {name: median(rounds) for name, rounds in ratios.items()},
    }
    RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(results, indent=1))
    return 0


def _ratio(systems: dict[str, Ours], work: Workload) -> float:
    """Return how many times less processor time the work takes in bfloat16, after a short run of both."""
    seconds = {}
    for dtype, system in systems.items():
        system(Workload(work.benchmark, work.relations, work.items[:2]))
        begin = time.process_time()
        system(work)
        seconds[dtype] = time.process_time() - begin
    return round(seconds["float32"] / seconds["bfloat16"], 2)


if __name__ == "__main__":
    sys.exit(main())
