"""A system as a process that answers requests: see `speed/peers/protocol.py`."""

import json
import os
import subprocess
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple, Self

from speed.environments import NotMeasured, last_lines, python_for
from speed.peers.protocol import System

CHECKOUT = Path(__file__).parents[1]
SAMPLE_STEP = 6  # the batch size is chosen on every sixth item


class Answer(NamedTuple):
    """Scores of all texts, None where one is not known exactly, and what they cost."""

    scores: list[float | None]
    clock: float
    processor: float
    positions: int
    peak_bytes: int


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

    def score(self, step: int = 1, batch_size: int | None = None) -> Answer:
        """Score every item, or every one of `step`, with the batch size that was chosen, if no other is given."""
        assert self._process.stdin
        request = {"step": step, "batch_size": self.batch_size if batch_size is None else batch_size}
        print(json.dumps(request), file=self._process.stdin, flush=True)
        return Answer(**self._read())

    def choose_batch_size(self, time: str) -> None:
        """Choose the size that takes the least time (clock or processor) on a part of the items, in two passes each."""
        sizes = self.system.batch_sizes
        if not sizes:
            return
        self.score(step=SAMPLE_STEP, batch_size=sizes[0])  # the first pass of a process is slower than the others
        seconds = {size: median(getattr(self.score(SAMPLE_STEP, size), time) for _ in range(2)) for size in sizes}
        self.batch_size = min(sizes, key=seconds.__getitem__)

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout
        if line := self._process.stdout.readline():
            answer: dict[str, Any] = json.loads(line)
            return answer
        self._process.wait()
        message = last_lines(self._log.read_text(encoding="utf-8", errors="replace"))
        raise NotMeasured(message or "The process ended without a message.")
