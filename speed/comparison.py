"""Compare systems on the same weights and statements: each a process of its own, measured in turns.

A process answers requests (see `speed/peers/protocol.py`), in a Python environment of its own. The environments of
peers are made once, in a cache folder outside the checkout.
"""

import importlib
import json
import os
import pkgutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path
from statistics import median
from typing import Any, Self

import speed.peers
from probing.arrays import Ids
from probing.benchmark import Benchmark
from probing.files.gguf_cache import cache_folder
from probing.scoring.encoded import Encoded
from probing.scoring.masked import hidden_with
from probing.scoring.tokens import Encoder
from speed.networks import LoadedNetwork
from speed.peers.protocol import Item, Job, System
from speed.stored_results import CHECKOUT
from speed.work import requests

KINDS = ("processor", "clock")
PEERS = CHECKOUT / "speed" / "peers"
SAMPLE_STEP = 6  # the batch size is chosen on every sixth item
REASON_LINES = 3  # of what a process or pip wrote last


class NotMeasured(Exception):
    """A system cannot be measured here; the message is the reason."""


class SystemProcess:
    """A system that has loaded its weights, and waits for requests."""

    def __init__(self, module: str, system: System, job: Path, threads: int) -> None:
        self.system, self.batch_size = system, 0
        self._log = job.with_suffix(f".{system.name.replace(' ', '-')}.log")
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [python_for(module), "-m", f"speed.peers.{module}", system.name, str(job)],
                cwd=CHECKOUT,
                env=os.environ | {"OMP_NUM_THREADS": str(threads), "HF_HUB_OFFLINE": "1"},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        self.version = self._read()["version"]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.kill()
        self._process.communicate()

    def score(self, step: int = 1, batch_size: int | None = None) -> dict[str, Any]:
        """Return the answer of `protocol.answer`, with the batch size that was chosen, if no other is given."""
        assert self._process.stdin
        request = {"step": step, "batch_size": self.batch_size if batch_size is None else batch_size}
        print(json.dumps(request), file=self._process.stdin, flush=True)
        return self._read()

    def choose_batch_size(self, time: str) -> None:
        """Choose the size that takes the least time (clock or processor) on a part of the items, in two passes each."""
        sizes = self.system.batch_sizes
        if not sizes:
            return
        self.score(step=SAMPLE_STEP, batch_size=sizes[0])  # the first pass of a process is slower than the others
        seconds = {size: median(self.score(SAMPLE_STEP, size)[time] for _ in range(2)) for size in sizes}
        self.batch_size = min(sizes, key=seconds.__getitem__)

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout
        if line := self._process.stdout.readline():
            answer: dict[str, Any] = json.loads(line)
            return answer
        self._process.wait()
        message = last_lines(self._log.read_text(encoding="utf-8", errors="replace"))
        raise NotMeasured(message or "The process ended without a message.")


def systems_of(comparison: str) -> list[tuple[str, System]]:
    """Return the systems that take part in a comparison, this project's first, each after the name of its module."""
    modules = [module.name for module in pkgutil.iter_modules(speed.peers.__path__)]
    declared = [
        (name, system)
        for name in modules
        for system in getattr(importlib.import_module(f"speed.peers.{name}"), "SYSTEMS", ())
        if comparison in system.comparisons
    ]
    return sorted(declared, key=lambda declaration: not declaration[1].own)


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
            | agreement(observed[process.system.name]["scores"], observed[reference]["scores"], job.items)
            for process in processes
        ],
        "ratios": list(ratios(comparison, [process.system for process in processes], measured)),
        "not_measured": absent,
    }


def take_turns(processes: Sequence[SystemProcess], rounds: int) -> dict[str, list[dict[str, Any]]]:
    """Measure each process once a round, every other round in the reverse order."""
    measured: dict[str, list[dict[str, Any]]] = {process.system.name: [] for process in processes}
    for number in range(rounds):
        for process in processes if number % 2 == 0 else processes[::-1]:
            answer = process.score()
            measured[process.system.name].append(answer)
            print(f"Round {number + 1}, {process.system.name}: {answer['clock']:.2f} s, {answer['processor']:.2f} s of "
                  "the processor", flush=True)  # fmt: skip
    return measured


def _facts(
    process: SystemProcess, job: Job, observed: Mapping[str, Any], measured: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    return {
        "system": process.system.name,
        "own": process.system.own,
        "package": process.system.package,
        "version": process.version,
        "batch_size": process.batch_size or None,
        "positions": measured[-1]["positions"],
        "peak_bytes": observed["peak_bytes"],
        # Two correct ways of rounding to 8 bits need not agree.
        "tolerance": process.system.tolerance if job.dtype == "float32" else None,
        "seconds": {kind: [round(answer[kind], 3) for answer in measured] for kind in KINDS},
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
    comparison: str, systems: Sequence[System], measured: Mapping[str, Sequence[Mapping[str, Any]]]
) -> Iterator[dict[str, Any]]:
    """Yield how many times faster each system of this project is than each peer, in each round."""
    own = [system.name for system in systems if system.own]
    for peer in (system for system in systems if not system.own):
        for name in own:
            pairs = list(zip(measured[peer.name], measured[name], strict=True))
            times = {kind: [round(a[kind] / b[kind], 2) for a, b in pairs] for kind in KINDS}
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


# The environments of peers.


def python_for(module: str) -> str:
    """Return the interpreter for a module of `speed.peers`.

    It is this one, unless MODULE.txt lists requirements; these are then installed into an environment of their own,
    whose name contains the digest of the file.
    """
    requirements = PEERS / f"{module}.txt"
    if not requirements.exists():
        return sys.executable
    digest = sha256(sys.version.encode() + requirements.read_bytes()).hexdigest()[:12]
    folder = cache_folder() / "peers" / f"{module}-{digest}"
    python, complete = folder / "bin" / "python", folder / "complete"
    if not complete.exists():
        _run(sys.executable, "-m", "venv", "--clear", str(folder))
        _run(str(python), "-m", "pip", "install", "--quiet", "--requirement", str(requirements))
        complete.touch()
    return str(python)


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NotMeasured(last_lines(done.stderr) or f"The exit code of {' '.join(command)} was {done.returncode}.")


def last_lines(text: str) -> str:
    return " ".join(line.strip() for line in text.strip().splitlines()[-REASON_LINES:])


# The fewest token positions in which all statements of a workload can be scored: a limit of any implementation.


def fewest_positions(loaded: LoadedNetwork, work: Benchmark) -> tuple[int, int]:
    """Count token positions without padding: statement by statement, and each distinct input (or prefix) once."""
    encoder = Encoder(loaded.tokenizer, special_tokens=loaded.kind == "masked")
    statements = encoder.encode([prompt.fill(option) for prompt, options in requests(work) for option in options])
    if loaded.kind == "masked":
        return fewest_masked(statements, loaded.tokenizer.mask_token_id)
    return fewest_causal(statements)


def fewest_causal(statements: Sequence[Encoded]) -> tuple[int, int]:
    """Count token positions of a causal model.

    A prefix counts only if a token follows it, because the logits after the last token are not used.
    """
    prefixes = {s.ids[:length] for s in statements for length in range(1, len(s.ids))}
    return sum(len(s.ids) for s in statements), len(prefixes)


def fewest_masked(statements: Sequence[Encoded], mask: int) -> tuple[int, int]:
    """Count token positions of a masked model, which reads each statement once for every hidden token."""
    inputs = [ids for statement in statements for ids in _masked_inputs(statement, mask)]
    return sum(map(len, inputs)), sum(map(len, set(inputs)))


def _masked_inputs(statement: Encoded, mask: int) -> Iterator[Ids]:
    for column in range(len(statement.scored)):
        hidden = set(hidden_with(statement, column, "within_word_l2r"))
        yield tuple(mask if position in hidden else token for position, token in enumerate(statement.ids))
