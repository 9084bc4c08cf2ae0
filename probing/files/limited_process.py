"""Small programs in processes of their own, with limits of time and memory, for what files of strangers may do.

A template or a regular expression may run for ever or fill the memory, and inside this process nothing could end it.
Such a program reads orders and writes answers, a line of JSON for each.
"""

import json
import os
import signal
import subprocess
import sys
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Event, Timer
from typing import Any

if sys.platform != "win32":
    import resource

LONGEST_ANSWER = 20_000_000  # bytes
START_SECONDS = 120.0  # for the imports of a program, on a machine that is busy
# Where the system can limit processor time, time on the clock is only a second limit, as the machine may be shared.
PROCESSOR_TIME_ENDED = -getattr(signal, "SIGXCPU", 0)


class LimitedProcess:
    """A process that answers orders one after the other, until it is closed or no longer referred to."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], folder: Path | None = None) -> None:
        self._process = subprocess.Popen(
            command,
            env=environment,
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.close = weakref.finalize(self, _end, self._process, os.getpid())
        self.ask({}, START_SECONDS)

    @classmethod
    def of_module(cls, module: str, *arguments: str) -> "LimitedProcess":
        """Start a module of this package, which calls `answer_orders`."""
        paths = os.pathsep.join(str(Path(path).absolute()) for path in sys.path)
        kept = {name: value for name, value in os.environ.items() if name in ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH")}
        return cls(
            [sys.executable, "-P", "-m", module, *arguments], kept | {"PYTHONPATH": paths, "HF_HUB_OFFLINE": "1"}
        )

    def ask(self, order: Mapping[str, Any], seconds: float) -> Any:
        """Return the answer to an order.

        Raises `TimeoutError` if there is none within so many seconds on the clock, and `ChildProcessError` if it ends
        otherwise; both end the process. Raises `MemoryError` if the program may not take as much memory as it needs,
        and `RuntimeError` with the name and the text of any other error that it meets.
        """
        assert self._process.stdin and self._process.stdout
        is_late = Event()

        def end() -> None:
            is_late.set()
            self._process.kill()

        timer = Timer(seconds, end)
        timer.daemon = True
        timer.start()
        try:
            with suppress(BrokenPipeError):  # it has ended; that there is no answer tells
                self._process.stdin.write(json.dumps(order).encode() + b"\n")
                self._process.stdin.flush()
            line = self._process.stdout.readline(LONGEST_ANSWER)
        finally:
            timer.cancel()
        if not line.endswith(b"\n"):
            self.close()
            if is_late.is_set() or self._process.returncode == PROCESSOR_TIME_ENDED:
                raise TimeoutError
            raise ChildProcessError
        content = json.loads(line)
        if "error" in content:
            name, text = content["error"]
            if name == MemoryError.__name__:
                raise MemoryError
            raise RuntimeError(name, text)
        return content["answer"]


def _end(process: "subprocess.Popen[bytes]", owner: int) -> None:
    """End the process and close its pipes; not in a fork of the process that started it."""
    if os.getpid() != owner:
        return
    assert process.stdin and process.stdout
    with suppress(BrokenPipeError):
        process.stdin.close()
    process.kill()
    process.stdout.close()
    process.wait()


def answer_orders(answer: Callable[[dict[str, Any]], Any], memory: int, processor_seconds: int = 0) -> None:
    """Answer every order by `answer`, within so many bytes of memory and seconds of the processor; 0 is no limit.

    An empty order asks whether the program is ready. What libraries print does not reach the answers.
    """
    if sys.platform != "win32":
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (memory if hard < 0 else min(memory, hard), hard))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if processor_seconds:
            resource.setrlimit(resource.RLIMIT_CPU, (processor_seconds, processor_seconds + 5))
    orders, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    for line in orders:
        try:
            order = json.loads(line)
            content = {"answer": answer(order) if order else None}
        except BaseException as error:  # the tokenizers library raises panics of Rust that are no `Exception`
            content = {"error": (type(error).__name__, str(error)[:500])}
        answers.write(json.dumps(content).encode() + b"\n")
        answers.flush()
