"""`python -m tests.chaos`: many faults, with a table of how long the site took to recover from each.

On PostgreSQL: `.ci/postgresql .venv/bin/python -m tests.chaos`.
"""

import os
import random
import sys
from contextlib import nullcontext
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from tests.chaos.drive import SERVER, Outcome, Report, drive
from tests.chaos.site import SLOW_CLOCK


def main() -> int:
    faults = int(os.environ.get("FAULTS") or 100)
    seed = int(os.environ.get("SEED") or random.SystemRandom().randrange(10**6))
    clock = "one worker is 30 s behind" if SLOW_CLOCK.exists() else "all clocks are right, as faketime is not installed"
    database = "PostgreSQL" if SERVER else "SQLite"
    print(f"{faults} faults on {database}, SEED={seed}; {clock}", flush=True)
    kept = os.environ.get("KEEP")  # an empty folder, for a look at the logs afterwards
    with nullcontext(kept) if kept else TemporaryDirectory() as name:
        print(f"{'fault':<28}{'at s':>8}{'lasted s':>10}{'recovery s':>12}")
        report = drive(Path(name), seed=seed, faults=faults, runs=20, seconds=30, patient=True, on_outcome=show)
    summarise(report)
    return 1 if report.problems else 0


def show(fault: Outcome) -> None:
    recovery = "overlapped" if fault.recovery is None else f"{fault.recovery:.1f}"
    print(f"{fault.name:<28}{fault.begin:>8.0f}{fault.seconds:>10.1f}{recovery:>12}", flush=True)


def summarise(report: Report) -> None:
    times = [fault.recovery for fault in report.faults if fault.recovery is not None]
    if times:
        print(f"Recovery: median {median(times):.1f} s, longest {max(times):.1f} s, of {len(times)} faults.")
    print(f"Runs: {dict(report.runs)}. Answers of the web server: {dict(report.statuses)}. {report.seconds:.0f} s.")
    print("\n".join(report.problems) or "Nothing was lost, repeated or left behind.")


if __name__ == "__main__":
    sys.exit(main())
