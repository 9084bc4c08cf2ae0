"""The worker's side of a measuring process: start it, give it parts, watch it, and know how it ended.

The process knows nothing of queue, database and secrets, and has no network (`limits`). It gets a model whose files
have been checked, a benchmark, and parts, and it writes rows. The model stays loaded between parts. This module loads
no torch.
"""

import operator
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import cached_property
from pathlib import Path
from queue import Empty, Full, Queue
from tempfile import TemporaryDirectory
from threading import Thread
from types import TracebackType
from typing import Any

import pandas as pd
import psutil

from probing.errors import NoSpace, ProbingError
from probing.files.adapters import FILES
from probing.files.listing import files_to_load
from probing.formats import FORMATS
from probing.kinds import KINDS
from probing.language_model import ModelCard
from probing.measuring import limits as limits_module
from probing.measuring.failures import BrokenProtocol, Crashed, LogTail, MeasuringFailure, Reported, presentable
from probing.measuring.limits import Limits, ProcessWatch
from probing.measuring.messages import ROWS_FILE, BenchmarkFiles, Task, UnfitRows, read_part, receive, send
from probing.plan import Part
from probing.results.completeness import left_out
from probing.results.joining import PartResult
from probing.results.run_json import Start
from probing.start_token import TokenizerFacts

START, CHILD = "probing.measuring.entry", "probing.measuring.child"
TICK = 0.2  # seconds between two looks at the process
WAITING_MESSAGES = 100
TIME_TO_END = 30.0  # seconds that a process may take to end after it has closed its output
PHASES_OF_LOADING = ("tokenizer", "weights", "trial")
MOST_PARAMETERS = 10**15
TEMPORARY = frozenset({NoSpace.code})  # errors of a process without network that may pass
ERROR_CODE = re.compile(r"[a-z][a-z-]{1,39}")
Message = Mapping[str, Any]


class MeasuringProcess:
    """A process that loads one model and measures parts of one run; a context manager that ends it on leaving.

    `further`: benchmarks of other runs of the same model, to which it can turn afterwards. Every call may raise a
    `MeasuringFailure` or the error that the process reported. After that, the process has ended.
    """

    def __init__(self, task: Task, limits: Limits | None = None, further: Sequence[BenchmarkFiles] = ()) -> None:
        self.task, self.limits = task, limits or Limits()
        self._benchmarks = list(dict.fromkeys(files.folder for files in (task.benchmark, *further)))
        self.parameters = 0

    def __enter__(self) -> "MeasuringProcess":
        if self.limits.isolated:
            limits_module.require_isolation()
        self._scratch = TemporaryDirectory(prefix="clozeboard-")
        self._rows = Path(self._scratch.name)
        program = [sys.executable, "-m", START, CHILD, str(self._rows)]
        self._process = subprocess.Popen(
            limits_module.isolated_command(program, self._readable(), self._rows / ROWS_FILE),
            env=limits_module.isolated_environment(),
            cwd=self._rows,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        assert self._process.stdin and self._process.stdout and self._process.stderr
        self._orders, self._log = self._process.stdin, LogTail(self._process.stderr)
        self._messages: Queue[Message | ValueError | None] = Queue(WAITING_MESSAGES)
        self._closing, self._phases = False, set(PHASES_OF_LOADING)
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()
        self._watch = ProcessWatch(self._process.pid, self._rows, self.limits)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing = True
        self._kill()
        with suppress(OSError):  # the process has ended with an order unread
            self._orders.close()
        self._reader.join(TIME_TO_END)  # longer only if something that has escaped holds the pipe's other end
        self._log.close()
        self._scratch.cleanup()

    def load(self, on_tick: Callable[[], None] = lambda: None) -> tuple[ModelCard, Start]:
        """Load the model and try it; return what is known of it, and when its process began to load it.

        `on_tick` is called several times a second and may raise to give up.
        """
        self._send({"task": self.task.to_json(), "memory": self.limits.memory_bytes, "disk": self.limits.disk})
        card, start = self._loaded(self._until("loaded", on_tick))
        self._phases.clear()
        self.parameters = card.parameters
        return card, start

    def turn_to(self, task: Task) -> tuple[ModelCard, Start]:
        """Measure parts of another run from now on, whose model is the one that is loaded."""
        self.task = task
        del self.__dict__["_labels"]  # those of the former benchmark
        self._send({"task": task.to_json()})
        return self._loaded(self._until("loaded", lambda: None))

    def _loaded(self, message: Message) -> tuple[ModelCard, Start]:
        with self._well_formed():
            card = self._card(message["card"])
            return card, Start(datetime.fromisoformat(message["start"]), float(message["load_seconds"]))

    def measure(
        self, part: Part, on_share: Callable[[float], None] = lambda share: None, *, positions: float = 0
    ) -> PartResult:
        """Measure one part; `positions`: the token positions that are expected.

        `on_share` is called several times a second with the share that is done, and may raise to give up.
        """
        shares = [0.0]
        self._watch.begin(f"{part.relation}, template {part.template}", processor=self._part_seconds(positions))
        self._send({"part": part._asdict()})
        message = self._until("part", lambda: on_share(shares[-1]), shares)
        on_share(1)
        with self._well_formed():
            record = dict(message["record"])
            return PartResult(self._read_rows(part, left_out(record, part)), record)

    def processor_seconds(self) -> float:
        """Return the processor time that the process and all that it has started have taken so far."""
        return self._watch.processor_seconds()

    def _card(self, values: Mapping[str, Any]) -> ModelCard:
        """Return the card of the loaded model; which model it is, is known from the task."""
        tokenizer = TokenizerFacts.from_json(values.get("tokenizer"))
        stated = {**values, "id": self.task.hub_id, "commit": self.task.commit, "tokenizer": tokenizer}
        stated["adapter"] = self.task.adapter_identity
        card = ModelCard(**stated)
        named = card.kind in KINDS and isinstance(card.architecture, str)
        if not (named and len(card.architecture) <= 100 and 0 <= operator.index(card.parameters) < MOST_PARAMETERS):
            raise ValueError("a card of the wrong form")
        return card

    def _part_seconds(self, positions: float) -> float | None:
        return self.limits.part(positions, self.parameters) if positions else None

    def _readable(self) -> list[Path]:
        """Return the model's files and the folders of benchmarks. Of the model, only files that loading needs."""
        model = self.task.model
        names = files_to_load(path.name for path in model.iterdir()) if model.is_dir() else []
        files = [model / name for name in names] or [model]
        if self.task.adapter:
            files += [self.task.adapter / name for name in FILES]
        return [*files, *self._benchmarks]

    def _until(self, event: str, on_tick: Callable[[], None], shares: list[float] | None = None) -> Message:
        """Wait for an event; meanwhile check the limits, note phases and progress, and call `on_tick`."""
        checked = time.monotonic()
        while True:
            if time.monotonic() - checked > TICK:
                on_tick()
                self._check_limits()
                checked = time.monotonic()
            try:
                message = self._messages.get(timeout=TICK)
            except Empty:
                continue
            if message is None:
                raise self._failed(self._ending())
            if isinstance(message, ValueError):
                raise self._failed(BrokenProtocol(f"The measuring process sent {message}.", "Report it."))
            if message.get("event") == event:
                return message
            with self._well_formed():
                self._note(message, shares)

    def _ending(self) -> MeasuringFailure:
        """Return how the process ended, which sends nothing any more; it may have closed its output and live on."""
        try:
            return Crashed.by(self._process.wait(TIME_TO_END))
        except subprocess.TimeoutExpired:
            return BrokenProtocol("The measuring process closed its output and did not end.", "Report it.")

    def _note(self, message: Message, shares: list[float] | None) -> None:
        """Take an event on the way to the one that is awaited."""
        match message["event"]:
            case "phase":
                self._phases.remove(message["name"])  # a phase that began twice would have twice the time
                weights = sum(path.stat().st_size for path in self._readable() if path not in self._benchmarks)
                clock = self.limits.seconds_to_load(weights) if message["name"] == "weights" else None
                self._watch.begin(message["name"], clock=clock)
            case "progress" if shares is not None and shares[-1] < (share := float(message["share"])) <= 1:
                shares[:] = [share]
                self._watch.progress()
            case "error":
                raise self._failed(_reported(message))

    def _check_limits(self) -> None:
        try:
            self._watch.check()
        except MeasuringFailure as failure:
            raise self._failed(failure) from None
        except FileNotFoundError:
            return  # a file was replaced at this moment

    def _failed(self, failure: MeasuringFailure) -> MeasuringFailure:
        """End the process, and return the failure with the last lines of its log."""
        self._kill()
        failure.log = self._log.text()
        return failure

    @contextmanager
    def _well_formed(self) -> Iterator[None]:
        try:
            yield
        except ProbingError:
            raise
        except Exception as error:
            reason = str(error) if isinstance(error, UnfitRows) else type(error).__name__
            message = f"The measuring process sent rows or a message of the wrong form ({reason})."
            raise self._failed(BrokenProtocol(message, "Report it.")) from error

    def _read_rows(self, part: Part, skipped: frozenset[int]) -> pd.DataFrame:
        """Return the rows of the part that has just been measured; those of the next part replace them."""
        return read_part(self._rows / ROWS_FILE, part._replace(relation=self._labels[part.relation]), skipped)

    @cached_property
    def _labels(self) -> dict[str, str]:
        files = self.task.benchmark
        return {relation.id: relation.label for relation in FORMATS[files.format](files.folder).relations}

    def _send(self, order: Message) -> None:
        with suppress(BrokenPipeError):  # the process has ended; the next message tells how
            send(self._orders, order)

    def _read(self) -> None:
        """Put the messages of the process into the queue, and None at the end."""
        assert self._process.stdout
        with self._process.stdout as stream:
            message: Message | ValueError | None = {}
            while message is not None and not self._closing:
                try:
                    message = receive(stream)
                except ValueError as error:
                    message = error
                self._put(message)

    def _put(self, message: Message | ValueError | None) -> None:
        """Put a message into the queue; one that nobody will read any more is dropped."""
        while not self._closing:
            with suppress(Full):
                self._messages.put(message, timeout=TICK)
                return

    def _kill(self) -> None:
        """End the process and all that it has started; bubblewrap takes everything inside with it."""
        children: list[psutil.Process] = []
        with suppress(psutil.NoSuchProcess):
            children = psutil.Process(self._process.pid).children(recursive=True)
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        for child in children:  # those that left the group
            with suppress(psutil.NoSuchProcess):
                child.kill()
        self._process.wait()


def _reported(message: Message) -> Reported:
    """Return the error that a message reports, with texts of limited length and without paths."""
    code = str(message["code"])
    return Reported(
        code if ERROR_CODE.fullmatch(code) else "internal",
        presentable(str(message["message"]))[:1000],
        presentable(str(message["next_step"]))[:1000],
        permanent=message["permanent"] is not False or code not in TEMPORARY,
        trace=presentable(str(message.get("trace", ""))),
    )
