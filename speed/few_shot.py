"""Few-shot prompting of S-TEST with examples of each pair's own and with shared ones: `python -m speed.few_shot`.

Both are asked in this process, with the scoring core as it is; the shared ones also with the reference implementation,
whose scores they must equal. CLOZEBOARD_TEST_DATA names the folder that has S-TEST's files in `stest`.
"""

import argparse
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import probing
from probing.probes.specificity import Specificity
from probing.results.result import Result
from probing.scoring.causal import CausalModel
from speed.machine import describe
from speed.networks import load_network
from speed.stored_results import show, store

LARGEST_DIFFERENCE = 2e-4
FIGURES = ["fine_log_prob", "coarse_log_prob", "fine_natural_log_prob", "coarse_natural_log_prob"]
PROMPTINGS = ("few-shot", "shared-few-shot")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m speed.few_shot", description=__doc__)
    parser.add_argument("--sample", type=int, default=40, help="pairs of each relation")
    parser.add_argument("--checked", type=int, default=4, help="pairs of each relation for the reference")
    options = parser.parse_args()
    model = load_network("causal").ours()
    assert isinstance(model, CausalModel)
    model.check()  # the self-check is not part of what is measured
    runs = {prompting: measure(model, prompting, options.sample) for prompting in PROMPTINGS}
    own, shared = (runs[prompting] for prompting in PROMPTINGS)
    difference = difference_from_reference(model, options.checked)
    results = {
        "machine": describe(),
        "shots": Specificity.shots,
        "runs": runs,
        "ratios": {name: round(own[name] / shared[name], 2) for name in ("positions", "cpu_seconds")},
        "largest_difference": difference,
    }
    store("few_shot", results)
    show(results)
    return int(difference > LARGEST_DIFFERENCE)


def ask(model: CausalModel, prompting: str, sample: int) -> Result:
    folder = Path(os.environ["CLOZEBOARD_TEST_DATA"]) / "stest"
    return probing.run(model, folder, prompting=prompting, sample=sample, progress=False)


def measure(model: CausalModel, prompting: str, sample: int) -> dict[str, Any]:
    begin = time.process_time()
    result = ask(model, prompting, sample)
    seconds = time.process_time() - begin
    return {"pairs": len(result.items), "positions": result.record["positions"], "cpu_seconds": round(seconds, 1)}


def difference_from_reference(model: CausalModel, sample: int) -> float:
    """Return the largest difference of any score of a pair, with shared examples, from the reference."""
    tables = []
    for fast in (True, False):
        model.use_fast_path = fast
        tables.append(_figures(ask(model, PROMPTINGS[1], sample).items))
    model.use_fast_path = True
    return float(np.nanmax(np.abs(tables[0] - tables[1])))


def _figures(rows: pd.DataFrame) -> Any:
    return np.concatenate([rows[FIGURES].to_numpy(float), np.stack(rows["scores"].tolist())], axis=1)


if __name__ == "__main__":
    sys.exit(main())
