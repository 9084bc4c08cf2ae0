"""Memory that whole runs take beside the model, and a site to join them, at three sizes each: `python -m speed.memory`.

Multiple choice is run up to the size of BEAR-big, ranking up to that of DLAMA, on made-up benchmarks of their form
(`speed/made_up.py`). The model has no network, so that all memory is that of the run: statements, rows, scores and the
result. What a network needs for a batch is bounded by the batch (`peak_bytes` in results/peers.json).

On a site, a worker has measured all parts of a run of BEAR-big's form and finishes it: it joins them, stores the files
and writes scores and figures of items to the database. Then the files are imported as a third party's result.

Each is measured in a process of its own. The exit code is 1 if a run or a site takes more than its limit.
"""

import argparse
import gc
import os
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, ParamSpec, TypeVar

import django

import probing
from probing.baselines import UniformModel
from speed.machine import describe
from speed.made_up import (
    BEAR_BIG_ITEMS,
    BEAR_OPTIONS,
    BEAR_TEMPLATES,
    DLAMA_ITEMS,
    FIRST_RELATION,
    write_bear,
    write_dlama,
)
from speed.peers.protocol import high_water_mark
from speed.report import markdown
from speed.stored_results import store

MIB = 2**20
LIMIT = 2 * 2**30  # bytes beside the model
SITE_LIMIT = 2**30  # bytes
PARTS = (16, 4, 1)  # a sixteenth, a quarter and all of the items
ParametersT = ParamSpec("ParametersT")
ResultT = TypeVar("ResultT")


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
    parser = argparse.ArgumentParser(prog="python -m speed.memory", description=__doc__)
    parser.add_argument("--parts", type=int, nargs="+", default=PARTS, metavar="N", help="take an Nth of the items")
    parts = parser.parse_args().parts
    results = {
        "machine": describe(),
        "limits": {"runs": LIMIT, "site": SITE_LIMIT},
        "runs": {name: [in_new_process(measure_run, name, part) for part in parts] for name in WORK},
        "site": [measure_site(BEAR_BIG_ITEMS // part) for part in parts],
    }
    if tuple(parts) == PARTS:
        store("memory", results, of_core=False)
    print(f"{memory_table(results)}\n\n{site_memory_table(results)}")
    return exit_code(results)


def exit_code(results: Mapping[str, Any]) -> int:
    """Return 1 where a run or a site takes more than its limit."""
    of_runs = max(run["bytes"] for of_work in results["runs"].values() for run in of_work)
    of_site = max(max(run["finish"], run["import"]) for run in results["site"])
    return int(of_runs > results["limits"]["runs"] or of_site > results["limits"]["site"])


def memory_table(results: Mapping[str, Any]) -> str:
    """Return the memory of whole runs by their work and size, and what each further item takes."""
    rows = []
    for work, runs in results["runs"].items():
        for before, run in zip([None, *runs], runs, strict=False):
            more = (run["bytes"] - before["bytes"]) / (run["items"] - before["items"]) if before else None
            cells = f"{run['items']:,}", f"{run['scores']:,}", f"{run['bytes'] / MIB:,.0f}"
            rows.append((work, *cells, f"{more / 1000:.1f} kB" if more else ""))
    return markdown(("work", "items", "scores of options", "MiB beside the model", "for each further item"), rows)


def site_memory_table(results: Mapping[str, Any]) -> str:
    """Return the memory that a site takes to finish and to import runs of several sizes."""
    rows = [
        (f"{run['items']:,}", f"{run['statements']:,}", *(f"{run[task] / MIB:,.0f}" for task in ("finish", "import")))
        for run in results["site"]
    ]
    return markdown(("items", "scores of options", "MiB to finish a run", "MiB to import it"), rows)


def in_new_process(
    function: Callable[ParametersT, ResultT], *arguments: ParametersT.args, **keywords: ParametersT.kwargs
) -> ResultT:
    """Call a function of a module in a new process, and return what it returns.

    Memory that was freed is not always given back, and imports are made once.
    """
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(function, *arguments, **keywords).result()


def measure_run(work: str, part: int) -> dict[str, int]:
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


def measure_site(items: int) -> dict[str, int]:
    """Return the bytes that finishing and importing a run of so many items take on a site.

    They are those above what the process held after it had done the same with a run of one question.
    """
    with TemporaryDirectory() as name:
        in_new_process(call_on_site, Path(name), "prepare", items)
        finish, imported = (in_new_process(call_on_site, Path(name), task) for task in ("finish_runs", "import_runs"))
    return {
        "items": items,
        "statements": items * BEAR_OPTIONS * len(BEAR_TEMPLATES),
        "finish": finish,
        "import": imported,
    }


def call_on_site(data: Path, task: str, *arguments: Any) -> Any:
    """Call a function of `speed.site_runs` in this process, which becomes one of the site."""
    os.environ |= {"CLOZEBOARD_DATA": str(data / "site"), "DJANGO_SETTINGS_MODULE": "leaderboard.settings"}
    django.setup()
    return getattr(import_module("speed.site_runs"), task)(data, *arguments)


if __name__ == "__main__":
    sys.exit(main())
