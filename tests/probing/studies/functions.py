"""Functions that tests call in other processes; the module imports little, so that these start quickly."""

import os
import signal
from pathlib import Path


def end_once(path: Path) -> int:
    """End this process when it is called for the first time, as the kernel does where memory is short."""
    if not path.exists():
        path.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return os.getpid()


def end() -> None:
    os._exit(3)


def environment() -> tuple[str | None, str | None]:
    return os.environ.get("CUDA_VISIBLE_DEVICES"), os.environ.get("OMP_NUM_THREADS")
