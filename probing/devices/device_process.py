"""The run's side of a process on one device: start it, give it orders, hear its reports, and end it."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from typing import Any

from probing.errors import ProbingError
from probing.measuring.failures import DeviceCrashed
from probing.measuring.process import START
from probing.plan import Part

CHILD = "probing.devices.device_child"


class DeviceProcess:
    """A process that loads a model on one device. `part`: the part that it was given last."""

    part: Part

    def __init__(self, device: str) -> None:
        self.device, self.is_loaded = device, False
        self.connection, other_end = Pipe()
        with other_end:
            self._process = launched(other_end)

    def send(self, order: Any) -> None:
        with suppress(ConnectionError):  # the process has ended; the next report tells how
            self.connection.send(order)

    def receive(self) -> Any:
        """Return the next report; raise an error that is reported, or `DeviceCrashed` if the process has ended."""
        try:
            report = self.connection.recv()
        except (EOFError, ConnectionError):
            raise DeviceCrashed.by(self._process.wait(), device=self.device) from None
        if isinstance(report, ProbingError):
            raise report
        return report

    def close(self) -> None:
        """End the process at once; a part that it was probing is not stored."""
        self.connection.close()
        kill(self._process)


def launched(connection: Connection) -> subprocess.Popen[bytes]:
    """Start a process that takes its orders from the connection.

    It is in a group of its own, so that Ctrl-C reaches the run alone, which then ends it. It finds modules where this
    process finds them, and what it prints goes to the standard error output.
    """
    number = connection.fileno()
    return subprocess.Popen(
        [sys.executable, "-P", "-m", START, CHILD, str(number), str(os.getpid())],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)},
        stdin=subprocess.DEVNULL,
        stdout=2,
        pass_fds=[number],
        process_group=0,
    )


def kill(process: subprocess.Popen[bytes]) -> None:
    """End a process and its group at once."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def reporting(processes: Sequence[DeviceProcess]) -> list[DeviceProcess]:
    """Wait until some of the processes have something to report, or have ended, and return these."""
    ready = wait([process.connection for process in processes])
    return [process for process in processes if process.connection in ready]
