"""What a system needs to be measured beside others: a module of this package that calls `serve`.

Every system is a process of its own (`python -m speed.peers.MODULE NAME JOB`), in an environment of its own where
MODULE.txt lists its requirements. It loads the weights, says that it is ready, and then answers each request, one JSON
object a line, with scores, times and positions. Modules import what they measure only in `load`, so that the bench can
read what they declare, and this module needs the standard library only.
"""

import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple, Protocol

PROCESS = Path("/proc/self")


class Item(NamedTuple):
    """One question: its parts, and the same as texts to be scored after a context, which may be empty."""

    template: str
    subject: str
    options: list[str]
    context: str
    texts: list[str]


class Job(NamedTuple):
    """What all systems of a comparison are given: `weights` is a folder, `gguf` the same weights for llama.cpp.

    Systems that take part in the comparison `gpu` compute on `device` in the number format `dtype`.
    """

    kind: str
    weights: str
    gguf: str
    threads: int
    items: list[Item]
    device: str = "cpu"
    dtype: str = "float32"


class Scorer(Protocol):
    """A loaded system."""

    @property
    def positions(self) -> int:
        """The number of token positions that the system has computed so far, padding included."""

    def score(self, items: Sequence[Item], batch_size: int) -> Sequence[float | None]:
        """Return the log-probability of each text of all items, None where it need not be known exactly."""


@dataclass(frozen=True)
class System:
    """What a module declares of a system.

    `package`: the distribution that is measured; `comparisons`: those it takes part in; `batch_sizes`: those to choose
    from (none if it finds the size itself); `required`: how many times faster a system of this project must be, by
    comparison and system; `tolerance`: the largest difference from this project's scores that rounding explains.
    """

    name: str
    package: str
    comparisons: tuple[str, ...]
    load: Callable[[Job], Scorer]
    batch_sizes: tuple[int, ...] = ()
    own: bool = False
    required: Mapping[tuple[str, str], float] = field(default_factory=dict)
    tolerance: float = 1e-3


def serve(systems: Sequence[System]) -> None:
    """Load the system that the command line names, and answer the requests on the standard input until it ends."""
    name, job_file = sys.argv[1:]
    system = next(system for system in systems if system.name == name)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print must not be read as an answer
    job = read_job(Path(job_file))
    scorer = system.load(job)
    print(json.dumps({"version": version(system.package)}), file=answers, flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(scorer, job.items, **json.loads(line))), file=answers, flush=True)


def read_job(file: Path) -> Job:
    fields = json.loads(file.read_text(encoding="utf-8"))
    return Job(**fields | {"items": [Item(*item) for item in fields["items"]]})


def answer(scorer: Scorer, items: Sequence[Item], step: int, batch_size: int) -> dict[str, Any]:
    """Score every item, or every one of `step`, and return the scores with what they cost."""
    (PROCESS / "clear_refs").write_text("5")  # resets the high-water mark of memory to what is held now
    positions, held = scorer.positions, status_bytes("VmRSS")
    clock, processor = time.perf_counter(), time.process_time()
    scores = list(scorer.score(items[::step], batch_size))
    clock, processor = time.perf_counter() - clock, time.process_time() - processor
    return {
        "scores": scores,
        "clock": clock,
        "processor": processor,
        "positions": scorer.positions - positions,
        "peak_bytes": status_bytes("VmHWM") - held,
    }


class OfTorch:
    """A system whose token positions are those that its network of torch computes."""

    def __init__(self, network: Any) -> None:
        self.positions = 0
        network.register_forward_pre_hook(self._add, with_kwargs=True)

    def _add(self, module: Any, args: tuple[Any, ...], inputs: dict[str, Any]) -> None:
        self.positions += (args[0] if args else inputs["input_ids"]).numel()


def status_bytes(field: str) -> int:
    lines = (PROCESS / "status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(f"{field}:"))
