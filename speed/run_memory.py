"""Memory that whole runs take beside the model, at three sizes each: `python -m speed.run_memory`.

Multiple choice is run up to the size of BEAR-big, ranking up to that of DLAMA, on made-up benchmarks of their form
(`speed/made_up.py`). The model has no network, so that all memory is that of the run: statements, rows, scores and the
result. What a network needs for a batch is bounded by the batch (`peak_memory` in results/peers.json).
"""

import argparse
import gc
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import probing
from probing.uniform_model import UniformModel
from speed.machine import describe
from speed.made_up import BEAR_BIG_ITEMS, DLAMA_ITEMS, FIRST_RELATION, write_bear, write_dlama
from speed.new_process import in_new_process
from speed.peers.protocol import high_water_mark
from speed.stored_results import store
from speed.tables import memory_table

LIMIT = 2 * 2**30  # bytes beside the model
PARTS = (16, 4, 1)  # a sixteenth, a quarter and all of the items


class Work(NamedTuple):
    """Runs of one probe: what writes their benchmark with so many items, how many there are, and settings of a run."""

    write: Callable[[Path, int], None]
    items: int
    settings: Mapping[str, Any]


WORK = {
    "multiple choice, as BEAR-big": Work(write_bear, BEAR_BIG_ITEMS, {"templates": (0, 1, 2)}),
    "ranking, as DLAMA": Work(write_dlama, DLAMA_ITEMS, {}),
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m speed.run_memory", description=__doc__)
    parser.add_argument("--parts", type=int, nargs="+", default=PARTS, metavar="N", help="run an Nth of the items")
    parts = parser.parse_args().parts
    runs = {name: [in_new_process(measure, name, part) for part in parts] for name in WORK}
    results = {"machine": describe(), "limit": LIMIT, "runs": runs}
    if tuple(parts) == PARTS:
        store("memory", results, of_core=False)
    print(memory_table(results))
    return int(max(run["bytes"] for of_work in runs.values() for run in of_work) > LIMIT)


def measure(work: str, part: int) -> dict[str, int]:
    """Return the memory of a run above what the process held before it opened the benchmark."""
    with TemporaryDirectory() as name:
        folder, chosen = Path(name), WORK[work]
        chosen.write(folder / "large", chosen.items // part)
        run(folder, "first", limit=1, relations=(FIRST_RELATION,), **chosen.settings)  # so that imports do not count
        gc.collect()
        with high_water_mark() as peak:
            run(folder, "out", **chosen.settings)
        relations = probing.open_benchmark(folder / "large").relations
    items = sum(len(relation.items) for relation in relations)
    scores = sum(len(each.items) * len(each.answer_space) * len(each.templates) for each in relations)
    return {"items": items, "scores": scores, "bytes": peak.bytes}


def run(folder: Path, out: str, **settings: Any) -> None:
    probing.run(UniformModel(), folder / "large", out=folder / out, progress=False, **settings)


if __name__ == "__main__":
    sys.exit(main())
