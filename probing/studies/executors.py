"""Executors of a study: what measures several of its models at the same time, on this machine or on a cluster.

A study takes any `concurrent.futures.Executor`, such as `dask.distributed.Client(...).get_executor()`, and calls it
once for each model with all its benchmarks. Those that have a name are opened and closed here: `processes:4`,
`dask:tcp://host:8786` and `slurm`.
"""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from probing.errors import BadInput, Incomplete, SourceUnavailable
from probing.extras import extra_package
from probing.measuring.limits import die_with_parent

ATTEMPTS = 3  # processes that may be lost on one model before it fails
CONNECT_SECONDS = 10  # to the scheduler of a cluster
POLL_SECONDS = 2.0  # between two looks at a job of Slurm
LOGS = "slurm"  # the folder below that of the study for the scripts, inputs and logs of Slurm's jobs
CHOICES = "Choose processes:N, dask:ADDRESS or slurm."


@contextmanager
def opened(name: str, folder: Path) -> Iterator[Executor]:
    """Yield the executor of this name, and close it; `folder` is that of the study.

    Raises `BadInput` for a name that is none or whose package is missing, and `SourceUnavailable` where no cluster
    answers.
    """
    kind, _, value = name.partition(":")
    if kind not in OPENERS:
        raise BadInput(f"There is no executor {name!r:.80}.", CHOICES)
    executor = OPENERS[kind](value, folder)
    try:
        yield executor
    except BaseException:
        executor.shutdown(wait=False, cancel_futures=True)
        raise
    executor.shutdown()


class Processes(Executor):
    """So many processes of this machine, each with a GPU of its own where there are GPUs, else a share of the cores.

    A function whose process is killed is called again in a new one, up to `ATTEMPTS` times.
    """

    def __init__(self, number: int) -> None:
        gpus = visible_gpus()
        cores = max(1, (os.cpu_count() or 1) // number)
        self._threads = ThreadPoolExecutor(number, thread_name_prefix="study")
        self._free: SimpleQueue[_Process] = SimpleQueue()
        self._processes = [_Process(gpus[slot % len(gpus)] if gpus else "", cores) for slot in range(number)]
        for process in self._processes:
            self._free.put(process)

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        return self._threads.submit(self._call, function, arguments, named)

    def _call(self, *order: Any) -> Any:
        process = self._free.get()
        try:
            for _ in range(ATTEMPTS - 1):
                with suppress(_EndedError):
                    return process.call(order)
            return process.call(order)
        except _EndedError as error:
            message = f"{ATTEMPTS} processes ended by themselves, the last one with exit code {error}."
            raise Incomplete(message, "Most likely the memory was too small; the same call goes on.") from None
        finally:
            self._free.put(process)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._threads.shutdown(wait, cancel_futures=cancel_futures)
        for process in self._processes:
            process.kill()


class _EndedError(Exception):
    """The process has ended, with this exit code."""


class _Process:
    """A process that calls functions, one at a time; it is started when it is needed."""

    def __init__(self, gpu: str, cores: int) -> None:
        self._variables = {"CUDA_VISIBLE_DEVICES": gpu} if gpu else {"OMP_NUM_THREADS": str(cores)}
        self._process: Any = None

    def call(self, order: tuple[Any, ...]) -> Any:
        """Return what the function returns, or raise what it raises; raise `_EndedError` if the process ends."""
        if self._process is None:
            self._start()
        try:
            self._connection.send(order)
            result, error = self._connection.recv()
        except (EOFError, ConnectionError):
            self._process.join()
            code, self._process = self._process.exitcode, None
            raise _EndedError(code) from None
        if error is not None:
            raise error
        return result

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()

    def _start(self) -> None:
        context = get_context("spawn")
        self._connection, other_end = context.Pipe()
        self._process = context.Process(target=_serve, args=(other_end, self._variables, os.getpid()), daemon=True)
        self._process.start()
        other_end.close()


def _serve(connection: Connection, variables: dict[str, str], parent: int) -> None:
    """Call the functions that come over the connection, until it is closed. Ctrl-C is for the study alone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with_parent(parent)
    os.environ.update(variables)  # before torch is imported, by the first function that needs it
    with suppress(EOFError, ConnectionError):
        while True:
            function, arguments, named = connection.recv()
            try:
                answer: Any = (function(*arguments, **named), None)
            except Exception as error:
                answer = (None, error)
            connection.send(answer)


def visible_gpus() -> list[str]:
    """Return the GPUs that this process may use, as CUDA_VISIBLE_DEVICES names them, without importing torch."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return [device.strip() for device in visible.split(",") if device.strip() not in ("", "-1")]
    try:
        listing = subprocess.run(["nvidia-smi", "--list-gpus"], capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return []
    gpus = [line for line in listing.stdout.splitlines() if line.startswith("GPU ")]
    return [str(number) for number in range(len(gpus))]


def _open_processes(value: str, folder: Path) -> Executor:
    if not value.isdecimal() or not 1 <= int(value) <= 1024:
        raise BadInput(f"{value!r:.80} is no number of processes.", "Write processes:4.")
    return Processes(int(value))


def _open_dask(address: str, folder: Path) -> Executor:
    """Return the executor of a Dask cluster, which calls a function again whose worker was lost."""
    distributed = extra_package("distributed", "dask", "The executor dask")
    try:
        executor: Executor = distributed.Client(address, timeout=CONNECT_SECONDS).get_executor(pure=False)
    except (OSError, ValueError) as error:
        raise SourceUnavailable(f"No Dask scheduler answers at {address!r:.200}.", "Check its address.") from error
    return executor


class _SlurmExecutor(Executor):
    """Calls functions as jobs of Slurm. Their options are sbatch's own variables, such as SBATCH_PARTITION."""

    def __init__(self, submitit: Any, folder: Path) -> None:
        self._submitter = submitit.SlurmExecutor(folder=folder / LOGS)
        self._jobs: list[Any] = []
        self._threads = ThreadPoolExecutor(64, thread_name_prefix="slurm")

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        job = self._submitter.submit(function, *arguments, **named)
        self._jobs.append(job)
        return self._threads.submit(self._wait, job)

    def _wait(self, job: Any) -> Any:
        while not job.done():
            time.sleep(POLL_SECONDS)
        return job.result()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        if cancel_futures:
            for job in self._jobs:
                job.cancel(check=False)
        self._threads.shutdown(wait, cancel_futures=cancel_futures)


def _open_slurm(value: str, folder: Path) -> Executor:
    submitit = extra_package("submitit", "slurm", "The executor slurm")
    try:
        return _SlurmExecutor(submitit, folder)
    except RuntimeError as error:
        raise SourceUnavailable("There is no Slurm on this machine: sbatch is missing.", CHOICES) from error


OPENERS: dict[str, Callable[[str, Path], Executor]] = {
    "processes": _open_processes,
    "dask": _open_dask,
    "slurm": _open_slurm,
}
