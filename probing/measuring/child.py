"""The measuring process: load a model, measure parts, write their rows. Started by `process`, in isolation.

`python -m probing.measuring.child FOLDER`, which `entry` imports faster, reads a task and then parts from its standard
input (`messages`), writes rows to FOLDER, and reports on its standard output. What libraries print goes to standard
error.
"""

import gc
import os
import resource
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from probing.benchmark import Benchmark
from probing.errors import DigestMismatch, ProbingError
from probing.files.folders import space
from probing.formats import read_version
from probing.language_model import LanguageModel
from probing.measuring.limits import die_with_parent, has_accelerator
from probing.measuring.messages import ROWS_FILE, BenchmarkFiles, Task, receive, send
from probing.part_runner import probe_part
from probing.plan import Part, Plan, plan_of
from probing.results.run_json import Start
from probing.scoring.load import load
from probing.time_left import estimate_work

REPORT_INTERVAL = 0.5  # seconds between two reports of progress
Report = Callable[..., None]


def main() -> int:
    """Measure until the orders end; report any error, whatever it is, as the last message."""
    die_with_parent()
    rows = Path(sys.argv[1])
    orders, reports = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)

    def report(event: str, **content: Any) -> None:
        send(reports, {"event": event, **content})

    try:
        measure(orders, report, rows)
    except ProbingError as error:
        report("error", code=error.code, message=error.message, next_step=error.next_step, permanent=error.permanent)
        return 1
    except BaseException as error:  # tokenizers raises panics of Rust that are no `Exception`
        report("error", **unforeseen(error))
        return 1
    return 0


def unforeseen(error: BaseException) -> dict[str, Any]:
    return {
        "code": "internal",
        "message": f"An unexpected error occurred ({type(error).__name__}).",
        "next_step": "Try again later, or ask the maintainers.",
        "permanent": True,
        "trace": "".join(traceback.format_exception(error))[-4000:],
    }


def measure(orders: IO[bytes], report: Report, rows: Path) -> None:
    """Load the model of the first task, and measure each part that is ordered; further tasks are of the same model."""
    gc.freeze()  # what was imported is never garbage
    gc.enable()
    order = receive(orders)
    if order is None:
        return
    task = Task.from_json(order["task"])
    set_limits(order["memory"], order["disk"], task.device)
    plan = plan_of(read(task.benchmark), task.settings)
    begin, start_time = time.perf_counter(), datetime.now(UTC)
    model = load(
        str(task.model),
        device=task.device,
        dtype=task.settings.dtype,
        quantization=task.settings.quantization,
        batch_tokens=task.batch_tokens,
        adapter=str(task.adapter or ""),
        on_phase=lambda phase: report("phase", name=phase),
    )
    model.card = replace(model.card, id=task.hub_id, commit=task.commit, adapter=task.adapter_identity)
    start = Start(start_time, time.perf_counter() - begin)

    def report_loaded() -> None:
        report("loaded", card=asdict(model.card), start=start.time.isoformat(), load_seconds=start.load_seconds)

    report_loaded()
    while order := receive(orders):
        if "task" in order:
            task = Task.from_json(order["task"])
            plan, start = plan_of(read(task.benchmark), task.settings), Start(datetime.now(UTC), 0.0)
            report_loaded()
        else:
            measure_part(model, plan, Part(**order["part"]), start, report, rows)


def measure_part(model: LanguageModel, plan: Plan, part: Part, start: Start, report: Report, rows: Path) -> None:
    """Measure one part, write its rows and report how it was made."""
    work = estimate_work(plan, part, model.card.kind)
    result = probe_part(model, plan, part, start=start, work=work, on_share=seldom(report))
    with space(rows):
        result.rows.to_parquet(rows / ROWS_FILE, index=False)
    report("part", record=result.record)


def read(files: BenchmarkFiles) -> Benchmark:
    """Read the benchmark; raise `DigestMismatch` if its files are not those that the task means."""
    benchmark = read_version(files.format, files.folder, files.digest)
    if benchmark is None:
        raise DigestMismatch(f"The files of the benchmark {files.slug} were changed.", "Import the benchmark again.")
    return replace(benchmark, slug=files.slug)


def seldom(report: Report) -> Callable[[float], None]:
    """Return a function that reports the share that is done, but not more often than `REPORT_INTERVAL`."""
    last = 0.0

    def on_share(share: float) -> None:
        nonlocal last
        if time.monotonic() - last >= REPORT_INTERVAL:
            last = time.monotonic()
            report("progress", share=share)

    return on_share


def set_limits(memory: int, disk: int, device: str) -> None:
    """Let the system itself refuse what goes beyond the limits.

    Not memory where there is an accelerator, as its driver reserves address space that it does not use.
    """
    limits = {resource.RLIMIT_CORE: 0, resource.RLIMIT_FSIZE: disk}
    if device == "cpu" or not has_accelerator():
        limits[resource.RLIMIT_DATA] = memory
    for kind, limit in limits.items():
        _, hard = resource.getrlimit(kind)
        limit = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(kind, (limit, limit))


if __name__ == "__main__":
    sys.exit(main())
