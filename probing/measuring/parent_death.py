"""The end of a process with the one that started it, so that a killed worker leaves nothing running."""

import ctypes
import os
import signal
import sys

SET_PARENT_DEATH_SIGNAL = 1  # of prctl(2)


def die_with_parent(parent: int | None = None) -> None:
    """Ask Linux to kill this process when the one that started it ends, whatever the reason.

    `parent`: the number of that process. If it has ended already, this process ends at once. It is left out where the
    parent is in another namespace, whose numbers mean nothing here.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    if parent is not None and os.getppid() != parent:
        os._exit(1)
