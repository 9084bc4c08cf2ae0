"""How far the time left of a run is off: `python -m speed.time_left [RUN ...]`.

Short runs are recorded, on one thread and in processor time: how much of the expected work was done when. Each
recording is then replayed with the estimate that a run shows, alone, on a machine that is shared in turns, and on one
that becomes slower for good (`speed.replay`). The exit code is 1 where an estimate of the whole time was off by more
than a fifth, alone or shared, from the first tenth on. Without names all runs are recorded; `--replay` records none and
replays those that are stored. `python -m speed.report` writes the table of docs/performance.md.
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
from probing.estimate.costs import Measured
from probing.estimate.load import Load
from speed.machine import describe
from speed.networks import LoadedNetwork, NetworkKind, load_network
from speed.replay import (
    MACHINES,
    REQUIRED,
    SLOWER,
    Recording,
    condensed,
    errors,
    replayed,
    seconds_until_followed,
    stretched,
)
from speed.report import shown_extent, time_left_table
from speed.stored_results import core_digest, store, stored
from speed.trained_bert import small_trained_bert
from speed.work import bear

STEPS = 120  # of each stored recording
JUDGED = [machine for machine in MACHINES if machine != SLOWER]


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


def record(model: Any, benchmark: Benchmark, settings: Mapping[str, Any]) -> Recording:
    """Run a benchmark, and return its steps as the progress bar is told of them."""
    gc.freeze()  # as processes that run a benchmark do
    with _recorded() as steps:
        probing.run(model, benchmark, **settings)
    return steps


@contextmanager
def _recorded() -> Iterator[list[Measured]]:
    """Yield a list that is filled by the next run in place of its progress bar."""
    steps: list[Measured] = []

    class Recorder:
        def __init__(self, total: Load, done: Load, **options: object) -> None:
            self.updated = time.process_time()

        def __enter__(self) -> "Recorder":
            return self

        def __exit__(self, *error: object) -> None:
            pass

        def set_postfix_str(self, text: str, refresh: bool) -> None:
            pass

        def advance(self, expected: Load, actual: Load) -> None:
            now = time.process_time()
            steps.append(Measured(expected, actual, now - self.updated))
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
    results["runs"] = {name: run | judged(_steps(run)) for name, run in results["runs"].items()}
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


def _recording_of(network: LoadedNetwork, benchmark: Benchmark, settings: Mapping[str, Any]) -> tuple[Recording, int]:
    """Record a run with a model whose self-check is done and whose batches have their first size; count positions."""
    model = network.ours()
    if not model.use_fast_path:
        raise RuntimeError(f"{network.name} is scored by the reference implementation: {model.usage.notes}")
    before = model.usage.positions
    return record(model, benchmark, settings), model.usage.positions - before


def _store_recording(network: LoadedNetwork, plan: Plan, recording: Recording, positions: int) -> None:
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
            **{f"expected {name}": _column(step.expected[i] for step in steps) for i, name in enumerate(Load._fields)},
            **{f"actual {name}": _column(step.actual[i] for step in steps) for i, name in enumerate(Load._fields)},
            "seconds": _column(step.seconds for step in steps),
        },
    }
    order = [each.name for each in PLANS]
    results["runs"] = {name: results["runs"][name] for name in order if name in results["runs"]}
    store("time_left", results)


def _steps(run: Mapping[str, Any]) -> Recording:
    """Return the stored steps of a run."""
    columns = (map(float, column.split()) for column in run["steps"].values())
    size = len(Load._fields)
    return [
        Measured(Load(*values[:size]), Load(*values[size : 2 * size]), values[-1])
        for values in zip(*columns, strict=True)
    ]


def _column(values: Iterable[float]) -> str:
    return " ".join(f"{value:.4g}" for value in values)


def judged(steps: Recording) -> dict[str, Any]:
    """Return the lowest and the highest error of a run from the first tenth on, and when it followed a change."""
    recording = stretched(steps)
    estimates = {machine: replayed(recording, slowness) for machine, slowness in MACHINES.items()}
    return {
        "errors": {machine: _extent(errors(estimates[machine])) for machine in JUDGED},
        "seconds_until_followed": round(seconds_until_followed(estimates[SLOWER])),
    }


def _extent(values: Sequence[float]) -> list[float]:
    return [round(min(values), 3), round(max(values), 3)]


def missed(results: Mapping[str, Any]) -> list[str]:
    """Return a line for each run and machine whose errors are larger than allowed."""
    return [
        f"{name}, {machine}: the time was off by {shown_extent(run['errors'][machine])}, allowed are {REQUIRED:.0%}"
        for name, run in results["runs"].items()
        for machine in JUDGED
        if max(map(abs, run["errors"][machine])) > REQUIRED
    ]


if __name__ == "__main__":
    sys.exit(main())
