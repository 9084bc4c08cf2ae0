"""Memory that whole runs take beside the model, at three sizes up to BEAR-big's: `python -m speed.run_memory`.

The benchmarks are made up in the form and size of BEAR-big: 78 relations with 68 options an item and three templates.
The model has no network, so that all memory is that of the run: statements, rows, scores and the result. What a network
needs for a batch is bounded by the batch (`peak_memory` in results/peers.json).
"""

import argparse
import gc
import json
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import probing
from probing.uniform_model import UniformModel
from speed.machine import describe
from speed.peers.protocol import high_water_mark

RESULTS = Path(__file__).parent / "results" / "memory.json"
LIMIT = 2 * 2**30  # bytes beside the model
RELATIONS, OPTIONS, TEMPLATES = 78, 68, 3
ITEMS = (2_558, 10_229, 40_916)  # the last is BEAR-big's number


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m speed.run_memory", description=__doc__)
    parser.add_argument("--items", type=int, nargs="+", default=ITEMS)
    options = parser.parse_args()
    runs = [in_new_process(items) for items in options.items]
    for run in runs:
        print(f"{run['items']:>7,} items, {run['statements']:>9,} statements: {run['mib']:,} MiB")
    if tuple(options.items) == ITEMS:
        results = {"machine": describe(), "limit": LIMIT, "runs": runs}
        RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return int(max(run["bytes"] for run in runs) > LIMIT)


def in_new_process(items: int) -> dict[str, Any]:
    """Measure one run in a process of its own, as memory that is freed is not always given back."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(measure, items).result()


def measure(items: int) -> dict[str, Any]:
    """Return the memory of a run above what the process held before it opened the benchmark."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_benchmark(folder / "large", items)
        run(folder, "first", limit=1, relations=("P0",))  # so that imports are not counted
        gc.collect()
        with high_water_mark() as peak:
            run(folder, "out")
    statements = items * OPTIONS * TEMPLATES
    return {"items": items, "statements": statements, "bytes": peak.bytes, "mib": peak.bytes // 2**20}


def run(folder: Path, out: str, **settings: Any) -> None:
    probing.run(UniformModel(), folder / "large", templates=(0, 1, 2), out=folder / out, progress=False, **settings)


def write_benchmark(folder: Path, items: int) -> None:
    """Write a benchmark in BEAR's format; its relations differ in size by one item at most."""
    folder.mkdir()
    relations = {}
    for number in range(RELATIONS):
        relation = f"P{number}"
        labels = [f"Made-up answer {number} {option}" for option in range(OPTIONS)]
        ids = [f"Q{number}{option:03}" for option in range(OPTIONS)]
        templates = [f"[X] is {word} [Y] {number}." for word in ("near", "beside", "behind")]
        relations[relation] = {"templates": templates, "answer_space_labels": labels, "answer_space_ids": ids}
        with (folder / f"{relation}.jsonl").open("w", encoding="utf-8") as file:
            for index in range(number, items, RELATIONS):
                answer = index % OPTIONS
                subject = {"sub_id": f"Q{index}00", "sub_label": f"Made-up subject {index}", "sub_aliases": []}
                answered = {"obj_id": ids[answer], "obj_label": labels[answer], "answer_idx": answer}
                file.write(f"{json.dumps(subject | answered)}\n")
    (folder / "metadata_relations.json").write_text(json.dumps(relations), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
