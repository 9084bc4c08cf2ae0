"""How far the time left of a run is off: `python -m speed.time_left`.

Short runs are recorded: how much of the expected work was done when, in processor time. Each recording is then replayed
with the estimate that a run shows, on machines whose speed changes, and the error at each tenth of the time is printed.
What a machine will do later cannot be known: after a change of its speed, only what follows is judged.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import probing
from probing import runner
from probing.estimate.pace import Pace
from speed.machine import describe

RESULTS = Path(__file__).parent / "results" / "time_left.json"
TENTHS = range(1, 10)
LENGTH = 600.0  # seconds that each recording is stretched to, so that changes of the machine matter
CHANGE = 0.3  # the share of the time after which the speed of a machine changes
TICK = 0.5  # seconds for which the speed of a machine is taken as the same
TURN = 20.0  # seconds for which a shared machine is this run's alone, and then shared
RUNS: Mapping[str, Mapping[str, Any]] = {
    "starter": {"limit": 3},
    "starter, deciding": {"limit": 3, "decide": True},
    "culture": {"limit": 1},
    "pairs": {"limit": 20},
    "graph": {"sample": 40},
}


class Step(NamedTuple):
    """A step of a run: how much of the expected work it did, and for how many seconds."""

    work: float
    seconds: float


Recording = Sequence[Step]
Slowness = Callable[[float], float]  # by which the seconds of a machine are longer at a time


def always(slowness: float) -> Slowness:
    return lambda seconds: slowness


MACHINES: Mapping[str, Slowness] = {
    "alone": always(1.0),
    "half as fast after three tenths": lambda seconds: 1.0 if seconds < CHANGE * LENGTH else 2.0,
    "shared in turns": lambda seconds: 1.0 if seconds % (2 * TURN) < TURN else 2.0,
}


def replayed(recording: Recording, slowness: Slowness) -> list[float]:
    """Return the relative error of the whole time as estimated at each tenth of it; positive where it is too long."""
    total, elapsed, pace = sum(step.work for step in recording), 0.0, Pace()
    estimates, left = [], total
    for step in recording:
        seconds = _on_machine(step.seconds, elapsed, slowness)
        elapsed, left = elapsed + seconds, left - step.work
        pace.add(step.work, seconds)
        estimates.append((elapsed, elapsed + left / pace.rate if pace.rate else float("inf")))
    at_tenths = (next(whole for now, whole in estimates if now >= tenth / 10 * elapsed) for tenth in TENTHS)
    return [round(whole / elapsed - 1, 3) for whole in at_tenths]


def _on_machine(seconds: float, begin: float, slowness: Slowness) -> float:
    """Return for how long a machine works, from a time on, at what takes so many seconds on a machine of its own."""
    ticks, rest = divmod(seconds, TICK)
    now = begin
    for _ in range(int(ticks)):
        now += TICK * slowness(now)
    return now + rest * slowness(now) - begin


def stretched(recording: Recording, length: float = LENGTH) -> Recording:
    """Return the recording with other seconds, which add up to `length`."""
    factor = length / sum(step.seconds for step in recording)
    return [Step(step.work, step.seconds * factor) for step in recording]


def record(model: Any, benchmark: str, **settings: Any) -> Recording:
    """Run a benchmark, and return its steps as the progress bar is told of them."""
    with _recorded() as steps:
        probing.run(model, benchmark, **settings)
    return steps


@contextmanager
def _recorded() -> Iterator[list[Step]]:
    """Yield a list that is filled by the next run in place of its progress bar."""
    steps: list[Step] = []

    class Recorder:
        def __init__(self, total: float, initial: float, **options: object) -> None:
            self.total, self.n, self.updated = total, initial, time.process_time()

        def __enter__(self) -> "Recorder":
            return self

        def __exit__(self, *error: object) -> None:
            pass

        def set_postfix_str(self, text: str, refresh: bool) -> None:
            pass

        def update(self, work: float) -> None:
            now = time.process_time()
            steps.append(Step(work, now - self.updated))
            self.n, self.updated = self.n + work, now

    with patch.object(runner, "progress_bar", Recorder):
        yield steps


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m speed.time_left", description=__doc__)
    parser.add_argument("model", help="hub id, folder or .gguf file")
    options = parser.parse_args()
    model = probing.load(options.model, device="cpu")
    rows: dict[str, dict[str, list[float]]] = {}
    for name, settings in RUNS.items():
        recording = stretched(record(model, name.partition(",")[0], **settings))
        rows[name] = {machine: replayed(recording, slowness) for machine, slowness in MACHINES.items()}
        print(_line(name, rows[name]), flush=True)
    facts = {"machine": describe(), "architecture": model.card.architecture, "parameters": model.card.parameters}
    RESULTS.write_text(json.dumps(facts | {"errors": rows}, indent=1) + "\n", encoding="utf-8")
    return 0


def _line(name: str, row: Mapping[str, Sequence[float]]) -> str:
    lines = [f"  {machine}: " + " ".join(f"{error:+.0%}" for error in errors) for machine, errors in row.items()]
    return "\n".join([name, *lines])


if __name__ == "__main__":
    sys.exit(main())
