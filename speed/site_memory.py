"""Memory that a site takes to join runs, at three sizes up to BEAR-big's: `python -m speed.site_memory`.

The benchmarks are those of `speed.run_memory`. A worker has measured all parts of a run and finishes it: it joins them,
stores the files and writes scores and figures of items to the database. Then the files are imported as a third party's
result. Each is measured in a process of its own, above what the process held after it had done the same with a run of
one question.
"""

import argparse
import os
import sys
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import django

from speed.machine import describe
from speed.made_up import BEAR_BIG_ITEMS, BEAR_OPTIONS, BEAR_TEMPLATES
from speed.new_process import in_new_process
from speed.stored_results import store

LIMIT = 2**30  # bytes
ITEMS = tuple(BEAR_BIG_ITEMS // part for part in (16, 4, 1))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m speed.site_memory", description=__doc__)
    parser.add_argument("--items", type=int, nargs="+", default=ITEMS)
    options = parser.parse_args()
    runs = [measure(items) for items in options.items]
    for run in runs:
        figures = ", ".join(f"{run[name] // 2**20:,} MiB to {name}" for name in ("finish", "import"))
        print(f"{run['items']:>7,} items, {run['statements']:>9,} statements: {figures}")
    if tuple(options.items) == ITEMS:
        results = {"machine": describe(), "limit": LIMIT, "runs": runs}
        store("site_memory", results, of_core=False)
    return int(max(max(run["finish"], run["import"]) for run in runs) > LIMIT)


def measure(items: int) -> dict[str, int]:
    """Return the bytes that finishing and importing a run of so many items take."""
    with TemporaryDirectory() as name:
        in_new_process(call, Path(name), "prepare", items)
        finish, imported = (in_new_process(call, Path(name), task) for task in ("finish_runs", "import_runs"))
    return {
        "items": items,
        "statements": items * BEAR_OPTIONS * len(BEAR_TEMPLATES),
        "finish": finish,
        "import": imported,
    }


def call(data: Path, task: str, *arguments: Any) -> Any:
    """Call a function of `speed.site_runs` in this process, which becomes one of the site."""
    os.environ |= {"CLOZEBOARD_DATA": str(data / "site"), "DJANGO_SETTINGS_MODULE": "leaderboard.settings"}
    django.setup()
    return getattr(import_module("speed.site_runs"), task)(data, *arguments)


if __name__ == "__main__":
    sys.exit(main())
