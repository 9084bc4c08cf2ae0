"""A system as a process that answers requests (see `speed/peers/protocol.py`), in a Python environment of its own.

The environments of peers are made once, in a cache folder outside the checkout.
"""

import json
import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple, Self

from probing.files.gguf_cache import cache_folder
from speed.peers.protocol import System

CHECKOUT = Path(__file__).parents[1]
PEERS = CHECKOUT / "speed" / "peers"
SAMPLE_STEP = 6  # the batch size is chosen on every sixth item
REASON_LINES = 3  # of what a process or pip wrote last


class NotMeasured(Exception):
    """A system cannot be measured here; the message is the reason."""


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
