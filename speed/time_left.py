"""How far the time left of a run is off: `python -m speed.time_left [RUN ...]`.

Short runs are recorded, on one thread and in processor time: how much of the expected work was done when. Each
recording is then replayed with the estimate that a run shows. The exit code is 1 where an estimate of the whole time
was off by more than 30 % after the first quarter. Without names all runs are recorded; `--replay` records none and
replays those that are stored. `python -m speed.report` prints their table.
"""

import argparse
import gc
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import torch

import probing
from probing import runner
from probing.benchmark import Benchmark
from probing.time_left import Pace, Step
from speed.machine import describe
from speed.networks import LoadedNetwork, NetworkKind, load_network
from speed.report import shown_extent, time_left_table
from speed.stored_results import core_digest, store, stored
from speed.trained_bert import small_trained_bert
from speed.work import bear

STEPS = 120  # of each stored recording
JUDGED_FROM = 0.25  # the share of the time from which on estimates are judged
ALLOWED = 0.3  # the largest error of the whole time


@dataclass(frozen=True)
class Plan:
    """A run to be recorded: a benchmark, of whose relations every `every`-th is asked, and settings."""

    kind: NetworkKind
    benchmark: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    every: int = 1

    @property
    def name(self) -> str:
        deciding = ", deciding" if self.settings.get("decide") else ""
        return f"{self.benchmark}{deciding}, {self.kind}"

    def open(self) -> Benchmark | None:
        """Open the benchmark with the relations of the run; None where its files are not at hand."""
        benchmark = bear() if self.benchmark == "bear" else probing.open_benchmark(self.benchmark)
        return benchmark and benchmark.select([relation.id for relation in benchmark.relations[:: self.every]])


PLANS = [
    Plan("causal", "bear", {"sample": 2}),
    Plan("causal", "bear", {"sample": 2, "decide": True}),
    Plan("causal", "starter", {"sample": 8}),
    Plan("causal", "starter", {"sample": 8, "decide": True}),
    Plan("causal", "culture", {"sample": 1}),
    Plan("causal", "culture", {"sample": 6, "decide": True}),
    Plan("causal", "pairs"),
    Plan("causal", "geography", {"sample": 10}),
    Plan("causal", "graph", {"sample": 40}),
    Plan("masked", "bear", {"sample": 1}, every=4),
    Plan("masked", "bear", {"sample": 1, "decide": True}, every=2),
    Plan("masked", "starter", {"sample": 1}),
    Plan("masked", "starter", {"sample": 3, "decide": True}),
    Plan("masked", "culture"),
    Plan("masked", "culture", {"decide": True}),
    Plan("masked", "pairs"),
    Plan("masked", "geography"),
    Plan("masked", "graph", {"sample": 10}),
]


def record(model: Any, benchmark: Benchmark, settings: Mapping[str, Any]) -> list[Step]:
    """Run a benchmark, and return its steps as the progress bar is told of them."""
    gc.freeze()  # as processes that run a benchmark do
    with _recorded() as steps:
        probing.run(model, benchmark, **settings)
    return steps


@contextmanager
def _recorded() -> Iterator[list[Step]]:
    """Yield a list that is filled by the next run in place of its progress bar."""
    steps: list[Step] = []

    class Recorder:
        def __init__(self, total: float, done: float, **options: object) -> None:
            self.updated = time.process_time()

        def __enter__(self) -> "Recorder":
            return self

        def __exit__(self, *error: object) -> None:
            pass

        def set_postfix_str(self, text: str, refresh: bool) -> None:
            pass

        def advance(self, work: float) -> None:
            now = time.process_time()
            steps.append(Step(work, now - self.updated))
            self.updated = now

    with patch.object(runner, "progress_bar", Recorder):
        yield steps


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m speed.time_left", description=__doc__)
    names = [plan.name for plan in PLANS]
    parser.add_argument("runs", nargs="*", metavar="RUN", help=f"the runs to record, of: {'; '.join(names)}")
    parser.add_argument("--replay", action="store_true", help="record nothing, and replay the stored recordings")
    options = parser.parse_args()
    if unknown := set(options.runs) - set(names):
        parser.error(f"there is no run {sorted(unknown)[0]!r}")
    if not options.replay:
        _record_all([plan for plan in PLANS if plan.name in (options.runs or names)])
    results = stored("time_left")
    results["runs"] = {name: run | {"errors": extent_of_errors(_steps(run))} for name, run in results["runs"].items()}
    store("time_left", results)
    print(time_left_table(results))
    misses = missed(results)
    for line in misses:
        print(f"Missed: {line}", file=sys.stderr)
    return 1 if misses else 0


def _record_all(plans: Sequence[Plan]) -> None:
    """Record these runs, and store each recording as soon as it is made."""
    torch.set_num_threads(1)
    for kind in dict.fromkeys(plan.kind for plan in plans):
        network = _network(kind)
        for plan in plans:
            if plan.kind != kind:
                continue
            if benchmark := plan.open():
                _store_recording(network, plan, *_recording_of(network, benchmark, plan.settings))
            else:
                print(f"Not measured: {plan.name}. CLOZEBOARD_TEST_DATA names no folder.", file=sys.stderr)


def _network(kind: NetworkKind) -> LoadedNetwork:
    """Return SmolLM2, or a small masked model: with one of BERT base's size, the nine runs would take too long."""
    if kind == "causal":
        return load_network(kind)
    return LoadedNetwork("small BERT, trained here", kind, *small_trained_bert())


def _recording_of(network: LoadedNetwork, benchmark: Benchmark, settings: Mapping[str, Any]) -> tuple[list[Step], int]:
    """Record a run with a model whose self-check is done and whose batches have their first size; count positions."""
    model = network.ours()
    if not model.use_fast_path:
        raise RuntimeError(f"{network.name} is scored by the reference implementation: {model.usage.notes}")
    before = model.usage.positions
    return record(model, benchmark, settings), model.usage.positions - before


def _store_recording(network: LoadedNetwork, plan: Plan, recording: Sequence[Step], positions: int) -> None:
    results = {"scoring_core": {}, "networks": {}, "runs": {}} | stored("time_left")
    results["scoring_core"][plan.kind] = core_digest()
    results["machine"] = describe()
    results["networks"][plan.kind] = {
        "name": network.name,
        "parameters": network.network.num_parameters(),
        "training": network.training,
    }
    steps = condensed(recording, STEPS)
    results["runs"][plan.name] = {
        "settings": plan.settings,
        "every": plan.every,
        "positions": positions,
        "seconds": round(sum(step.seconds for step in recording), 1),
        "steps": {
            "work": _column(step.work for step in steps),
            "seconds": _column(step.seconds for step in steps),
        },
    }
    order = [each.name for each in PLANS]
    results["runs"] = {name: results["runs"][name] for name in order if name in results["runs"]}
    store("time_left", results)


def _steps(run: Mapping[str, Any]) -> list[Step]:
    """Return the stored steps of a run."""
    columns = (map(float, run["steps"][name].split()) for name in Step._fields)
    return [Step(*values) for values in zip(*columns, strict=True)]


def _column(values: Iterable[float]) -> str:
    return " ".join(f"{value:.4g}" for value in values)


def condensed(recording: Sequence[Step], steps: int) -> list[Step]:
    """Return the recording in about so many steps, by joining those that follow each other within a short time."""
    shortest = sum(step.seconds for step in recording) / steps
    joined: list[Step] = []
    for step in recording:
        if joined and joined[-1].seconds < shortest:
            joined[-1] = Step(joined[-1].work + step.work, joined[-1].seconds + step.seconds)
        else:
            joined.append(step)
    return joined


def errors(steps: Sequence[Step]) -> list[float]:
    """Return the relative errors of the whole time as estimated after each step from the first quarter of it on.

    What is estimated as too long is positive.
    """
    whole, elapsed, left, pace = sum(step.seconds for step in steps), 0.0, sum(step.work for step in steps), Pace()
    relative = []
    for step in steps:
        pace.add(*step)
        elapsed, left = elapsed + step.seconds, left - step.work
        seconds_left = left / pace.rate if pace.rate else float("inf")
        if elapsed >= JUDGED_FROM * whole:
            relative.append((elapsed + seconds_left) / whole - 1)
    return relative


def extent_of_errors(steps: Sequence[Step]) -> list[float]:
    """Return the lowest and the highest error of a run."""
    relative = errors(steps)
    return [round(min(relative), 3), round(max(relative), 3)]


def missed(results: Mapping[str, Any]) -> list[str]:
    """Return a line for each run whose errors are larger than allowed."""
    return [
        f"{name}: the time was off by {shown_extent(run['errors'])}, allowed are {ALLOWED:.0%}"
        for name, run in results["runs"].items()
        if max(map(abs, run["errors"])) > ALLOWED
    ]


if __name__ == "__main__":
    sys.exit(main())
