"""Limits of a measuring process, which the worker outside enforces."""

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from types import MappingProxyType

import psutil

from probing.measuring.failures import DiskLimit, MemoryLimit, Silent, TooSlow

# Processor seconds of each phase before the first part. A tokenizer of a quarter of a million tokens loads in about two
# seconds; a forward pass of eight tokens takes far less than a second for each billion of parameters.
PHASES: Mapping[str, float] = MappingProxyType({"start": 120, "tokenizer": 10, "trial": 60})
CLOCK = 10  # seconds on the clock that a phase may take for each processor second: the machine may be shared
FAMILY_KEPT = 2.0  # seconds for which the list of a process's children is used again
SPEED = 1e9  # operations per processor second of the slowest machine that is expected to measure


@dataclass(frozen=True)
class Limits:
    """Limits of one measuring process.

    `memory`: bytes that the process may hold; by default nine tenths of the machine's memory. `disk`: bytes that it may
    write. `silence`: seconds without progress. `phases`: processor seconds of each phase that has such a limit.
    `load_rate`: bytes of weights per second that loading must reach, after a minute's grace.
    `part_seconds`: processor seconds that any part may take, in addition to those that its size explains.
    """

    memory: int = 0
    disk: int = 4 * 10**9
    silence: float = 30 * 60
    phases: Mapping[str, float] = field(default_factory=lambda: PHASES)
    load_rate: float = 10e6
    part_seconds: float = 300

    @property
    def memory_bytes(self) -> int:
        return self.memory or psutil.virtual_memory().total * 9 // 10

    def seconds_to_load(self, weight_bytes: int) -> float:
        """Return the seconds on the clock that loading so many bytes may take."""
        return 60 + weight_bytes / self.load_rate

    def part(self, positions: float, parameters: int) -> float:
        """Return the processor seconds that a part may take: two operations per parameter and token position."""
        return self.part_seconds + 2 * positions * parameters / SPEED


class Watch:
    """Use of the machine by a process and its children, compared with limits."""

    def __init__(self, pid: int, folder: Path, limits: Limits) -> None:
        self.process, self.folder, self.limits = psutil.Process(pid), folder, limits
        self._family: list[psutil.Process] = []
        self._listed = -FAMILY_KEPT
        self.begin("start")

    def begin(self, phase: str, *, processor: float | None = None, clock: float | None = None) -> None:
        """Begin a phase that may take so many seconds; None takes the limits of `Limits.phases`, if it has any."""
        seconds = processor if processor is not None else self.limits.phases.get(phase)
        self.phase, self.processor_limit = phase, seconds
        self.clock_limit = clock if clock is not None else seconds and seconds * CLOCK
        self.begun = self.progressed = monotonic()
        self.processor_before = self.processor_seconds()

    def progress(self) -> None:
        """Note that the process has made progress."""
        self.progressed = monotonic()

    def check(self) -> None:
        """Raise the failure of the first limit that is exceeded."""
        now = monotonic()
        processor = self.processor_seconds() - self.processor_before
        if self.processor_limit is not None and processor > self.processor_limit:
            raise TooSlow.of(phase=self.phase, seconds=self.processor_limit, clock="processor time")
        if self.clock_limit is not None and now - self.begun > self.clock_limit:
            raise TooSlow.of(phase=self.phase, seconds=self.clock_limit, clock="time")
        if now - self.progressed > self.limits.silence:
            raise Silent.of(seconds=self.limits.silence)
        if self._sum(lambda process: process.memory_info().rss) > self.limits.memory_bytes:
            raise MemoryLimit.of(gigabytes=self.limits.memory_bytes / 1e9)
        if self._bytes_written() > self.limits.disk:
            raise DiskLimit.of(gigabytes=self.limits.disk / 1e9)

    def _bytes_written(self) -> int:
        """Return the size of all files in the folder and in those below; no link is followed."""
        size = 0
        for place, _, names in os.walk(self.folder):
            for name in names:
                with suppress(FileNotFoundError):  # replaced at this moment
                    size += os.lstat(os.path.join(place, name)).st_size
        return size

    def processor_seconds(self) -> float:
        """Return the processor time of the whole tree, with that of children that have ended."""
        return self._sum(lambda process: sum(process.cpu_times()[:4]))

    def _sum(self, measure: Callable[[psutil.Process], float]) -> float:
        """Add up a figure of all processes of the tree; those that have just ended count nothing."""
        total = 0.0
        for process in self._members():
            with suppress(psutil.NoSuchProcess):
                total += measure(process)
        return total

    def _members(self) -> list[psutil.Process]:
        """Return the process and all below it, listed now and then: a list takes a look at every process there is."""
        if monotonic() - self._listed >= FAMILY_KEPT:
            with suppress(psutil.NoSuchProcess):
                self._family = [self.process, *self.process.children(recursive=True)]
            self._listed = monotonic()
        return self._family
