"""Compare systems on the same weights and statements: each a process of its own, measured in turns."""

import importlib
import json
import pkgutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import speed.peers
from speed.peers.protocol import Item, Job, System
from speed.processes import Answer, NotMeasured, SystemProcess

KINDS = ("processor", "clock")


class Declared(NamedTuple):
    """A system with the module of `speed.peers` that declares it."""

    module: str
    system: System


def systems_of(comparison: str) -> list[Declared]:
    """Return the systems that take part in a comparison, this project's first."""
    modules = [module.name for module in pkgutil.iter_modules(speed.peers.__path__)]
    declared = [
        Declared(name, system)
        for name in modules
        for system in getattr(importlib.import_module(f"speed.peers.{name}"), "SYSTEMS", ())
        if comparison in system.comparisons
    ]
    return sorted(declared, key=lambda one: not one.system.own)


def compare(comparison: str, job: Job, folder: Path, rounds: int) -> dict[str, Any]:
    """Measure all systems of a comparison, and return it in the form of results/peers.json."""
    # Other programs disturb the clock more than the time of the processor, which says little where a GPU does the work.
    decisive = "processor" if job.device == "cpu" else "clock"
    file = folder / f"{comparison}.json"
    file.write_text(json.dumps(job._asdict()), encoding="utf-8")
    absent: dict[str, str] = {}
    with ExitStack() as stack:
        processes, observed = [], {}
        for module, system in systems_of(comparison):
            print(f"{comparison}: {system.name} is loaded and observed once.", flush=True)
            try:
                process = stack.enter_context(SystemProcess(module, system, file, job.threads))
                process.choose_batch_size(decisive)
                observed[system.name] = process.score()
            except NotMeasured as reason:
                absent[system.name] = str(reason)
            else:
                processes.append(process)
        measured = take_turns(processes, rounds)
    reference = next(process.system.name for process in processes if process.system.own)
    return {
        "statements": sum(len(item.texts) for item in job.items),
        "decisive": decisive,
        "systems": [
            _facts(process, job, observed[process.system.name], measured[process.system.name])
            | agreement(observed[process.system.name].scores, observed[reference].scores, job.items)
            for process in processes
        ],
        "ratios": list(ratios(comparison, [process.system for process in processes], measured)),
        "not_measured": absent,
    }


def take_turns(processes: Sequence[SystemProcess], rounds: int) -> dict[str, list[Answer]]:
    """Measure each process once a round, every other round in the reverse order."""
    measured: dict[str, list[Answer]] = {process.system.name: [] for process in processes}
    for number in range(rounds):
        for process in processes if number % 2 == 0 else processes[::-1]:
            answer = process.score()
            measured[process.system.name].append(answer)
            print(f"Round {number + 1}, {process.system.name}: {answer.clock:.2f} s, {answer.processor:.2f} s of the "
                  "processor", flush=True)  # fmt: skip
    return measured


def _facts(process: SystemProcess, job: Job, observed: Answer, measured: Sequence[Answer]) -> dict[str, Any]:
    return {
        "system": process.system.name,
        "own": process.system.own,
        "package": process.system.package,
        "version": process.version,
        "batch_size": process.batch_size or None,
        "positions": measured[-1].positions,
        "peak_bytes": observed.peak_bytes,
        # Two correct ways of rounding to 8 bits need not agree.
        "tolerance": process.system.tolerance if job.dtype == "float32" else None,
        "seconds": {kind: [round(getattr(answer, kind), 3) for answer in measured] for kind in KINDS},
    }


def agreement(
    scores: Sequence[float | None], reference: Sequence[float | None], items: Sequence[Item]
) -> dict[str, Any]:
    """Return the largest difference between scores that both know exactly, and the share of the same predictions."""
    pairs = [(a, b) for a, b in zip(scores, reference, strict=True) if a is not None and b is not None]
    same = [a == b for a, b in zip(predictions(scores, items), predictions(reference, items), strict=True)]
    return {
        "compared": len(pairs),
        "largest_difference": max(abs(a - b) for a, b in pairs),
        "same_predictions": sum(same) / len(same),
    }


def predictions(scores: Sequence[float | None], items: Sequence[Item]) -> list[int]:
    """Return the number of each item's best text."""
    best, begin = [], 0
    for item in items:
        own = scores[begin : begin + len(item.texts)]
        exact = {number: score for number, score in enumerate(own) if score is not None}
        best.append(max(exact, key=exact.__getitem__))
        begin += len(item.texts)
    return best


def ratios(
    comparison: str, systems: Sequence[System], measured: Mapping[str, Sequence[Answer]]
) -> Iterator[dict[str, Any]]:
    """Yield how many times faster each system of this project is than each peer, in each round."""
    own = [system.name for system in systems if system.own]
    for peer in (system for system in systems if not system.own):
        for name in own:
            pairs = list(zip(measured[peer.name], measured[name], strict=True))
            times = {kind: [round(getattr(a, kind) / getattr(b, kind), 2) for a, b in pairs] for kind in KINDS}
            yield {
                "own": name,
                "peer": peer.name,
                "required": peer.required.get((comparison, name)),
                "times": times,
                "median": {kind: median(times[kind]) for kind in KINDS},
            }


def missed(comparison: Mapping[str, Any]) -> list[str]:
    """Return a sentence for every ratio that is too small, and for scores that differ by more than rounding."""
    decisive = comparison["decisive"]
    slow = [
        f"{row['own']} is {row['median'][decisive]:.2f} times as fast as {row['peer']}, must be {row['required']:g}."
        for row in comparison["ratios"]
        if row["required"] and row["median"][decisive] < row["required"]
    ]
    different = [
        f"{row['system']} has scores that differ by {row['largest_difference']:.1e}, may by {row['tolerance']:g}."
        for row in comparison["systems"]
        if row["tolerance"] is not None and row["largest_difference"] > row["tolerance"]
    ]
    return slow + different
