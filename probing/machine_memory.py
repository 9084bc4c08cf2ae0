"""The memory that this process may use: that of the machine, or less where Linux limits a control group or the process.

Containers and units of systemd are such groups. `/proc/meminfo`, which psutil reads, shows the whole machine in them.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import psutil

GROUPS = Path("/sys/fs/cgroup")
OWN_GROUPS = Path("/proc/self/cgroup")
LIMIT, USED = "memory.max", "memory.current"  # version 2 of control groups
LIMIT_1, USED_1 = "memory.limit_in_bytes", "memory.usage_in_bytes"  # version 1


def total_memory() -> int:
    """Return the bytes that this process and its children may hold at most."""
    return min([int(psutil.virtual_memory().total), *(limit for limit, _ in _limits())])


def available_memory() -> int:
    """Return the bytes that can still be taken without a swap or the end of a process."""
    bounds = [*_limits(), *_own_limit()]
    return min([int(psutil.virtual_memory().available), *(max(0, limit - used) for limit, used in bounds)])


def _limits() -> Iterator[tuple[int, int]]:
    """Yield limit and use in bytes of each control group around this process that limits memory."""
    for folder, limit, used in _groups():
        bounds = _number(folder / limit), _number(folder / used)
        if bounds[0] is not None and bounds[1] is not None:
            yield bounds[0], bounds[1]


def _own_limit() -> Iterator[tuple[int, int]]:
    """Yield limit and use in bytes of the data of this process, where the system limits it."""
    if sys.platform.startswith("linux"):
        process = psutil.Process()
        limit, _ = process.rlimit(psutil.RLIMIT_DATA)
        if limit != psutil.RLIM_INFINITY:
            yield limit, process.memory_info().data


def _groups() -> Iterator[tuple[Path, str, str]]:
    """Yield the folders of all groups around this process, and the names of the files with limit and use.

    In a container, the path that the system states may lie outside what is mounted there; the top is read as well.
    """
    if not sys.platform.startswith("linux") or not OWN_GROUPS.is_file():
        return
    for line in OWN_GROUPS.read_text(encoding="utf-8").splitlines():
        number, controllers, path = line.split(":", 2)
        own = Path(path.lstrip("/"))
        if number == "0":
            yield from ((GROUPS / part, LIMIT, USED) for part in (own, *own.parents))
        elif "memory" in controllers.split(","):
            yield from ((GROUPS / "memory" / part, LIMIT_1, USED_1) for part in (own, *own.parents))


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
