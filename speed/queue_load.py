"""Measure the queue with many workers: `python -m speed.queue_load --workers 50 --runs 1000`.

Workers that only wait work off runs of 180 parts each, on a site of their own. `DATABASE_URL` names an empty PostgreSQL
database; without it the site has SQLite. Stated are the runs and parts per second, the 99th percentile of a claim and
of the pages meanwhile, and how many submissions of a burst are stored per second. The exit code is 1 if a run was lost
or begun twice, or a part is missing.
"""

import argparse
import json
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from speed.machine import describe
from speed.stored_results import show, store
from tests.tools.deployment import Deployment


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=50)
    parser.add_argument("--runs", type=int, default=1000)
    arguments = parser.parse_args()
    with TemporaryDirectory() as folder:
        out = Path(folder) / "figures.json"
        limits = dict.fromkeys(("CLOZEBOARD_REQUESTS_PER_MINUTE", "CLOZEBOARD_CHECKS_PER_MINUTE"), "0")
        servers = {name: os.environ[name] for name in ("DATABASE_URL", "REDIS_URL") if name in os.environ}
        site = Deployment(Path(folder), **limits, **servers)
        site.command("migrate", "--verbosity=0")
        site.run(f"from speed.waiting_workers import drive; drive({arguments.workers}, {arguments.runs}, {str(out)!r})")
        figures = json.loads(out.read_text(encoding="utf-8"))
    database = os.environ.get("DATABASE_URL", "sqlite").partition(":")[0]
    figures = {"machine": describe(), "database": database, **figures}
    show(figures)
    store("queue_load", figures, of_core=False)
    return 1 if figures["runs_left"] or figures["parts_left"] or figures["begun_twice"] else 0


if __name__ == "__main__":
    sys.exit(main())
