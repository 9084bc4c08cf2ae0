"""The devices of one machine, shared out among its workers. This module loads no torch."""

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.core.management.base import CommandError
from filelock import FileLock, Timeout

AUTO = "auto"


@contextmanager
def own_device(name: str = AUTO) -> Iterator[str]:
    """Yield the device on which a worker measures, and keep other workers of this machine from choosing it.

    With "auto" on a machine with several GPUs it is the first one that no worker has. If all have one, it is one of
    them; a device that `name` states is used even if another worker has it. Raises `CommandError` for several.
    """
    if "," in name:
        raise CommandError(f"A worker measures on one device, not on {name:.80}. Start a worker for each.")
    gpus = [f"cuda:{number}" for number in range(count_gpus())]
    choices = gpus if name == AUTO and len(gpus) > 1 else [name]
    lock = next((lock for device in choices if device != AUTO and (lock := _locked(device))), None)
    try:
        yield Path(lock.lock_file).name if lock else choices[os.getpid() % len(choices)]
    finally:
        if lock:
            lock.release()


def count_gpus() -> int:
    """Return how many CUDA devices this process may use."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return len([device for device in visible.split(",") if device.strip() not in ("", "-1")])
    try:
        listing = subprocess.run(["nvidia-smi", "--list-gpus"], capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return 0
    return sum(line.startswith("GPU ") for line in listing.stdout.splitlines())


def _locked(device: str) -> FileLock | None:
    """Lock a device of this machine; return None if another worker has it. The system frees a dead worker's device."""
    folder = Path(settings.DATA) / "devices" / socket.gethostname()
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / device)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return None
    return lock
