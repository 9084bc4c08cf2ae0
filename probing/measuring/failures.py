"""Ways in which a measuring process can end without a result, each with its own code, and the last lines it wrote.

Those lines are made fit to be shown to the submitter.
"""

import re
import signal
from collections import deque
from threading import Thread
from typing import IO, ClassVar, Self

from probing.errors import ProbingError, without_assigned_secrets

BYTES = 16_384  # kept while the process runs
CHARACTERS = 4_000  # shown
ABSOLUTE_PATH = re.compile(r"(?<![\w/.])(?:/[\w.@+-]+){2,}")
INVISIBLE = re.compile(r"[^\S\n ]|[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]")


class MeasuringFailure(ProbingError):
    """Base class of the ways in which a measuring process can end without a result.

    `sentence`: what happened, with the names of the facts that `of` takes. `advice`: what to do next.
    """

    code = "measuring-failed"
    sentence: ClassVar[str] = ""
    advice: ClassVar[str] = ""

    @classmethod
    def of(cls, **facts: object) -> Self:
        """Return the error with these facts in its sentence."""
        return cls(cls.sentence.format(**facts), cls.advice)


class Reported(MeasuringFailure):
    """An error that the process itself reported, with the code of that error.

    `trace`: the traceback of an unforeseen error, for maintainers.
    """

    def __init__(self, code: str, message: str, next_step: str, permanent: bool, trace: str = "") -> None:
        super().__init__(message, next_step)
        self.code, self.permanent, self.trace = code, permanent, trace


class Crashed(MeasuringFailure):
    """The process ended by itself or was killed from outside, most likely by the system for its use of memory.

    Another try may succeed: the machine may have been short of memory because of other programs.
    """

    code = "crashed"
    sentence = "The measuring process ended {way}."
    advice = "If it happens again, use a machine with more memory."

    @classmethod
    def by(cls, returncode: int, **facts: object) -> Self:
        """Return the error for an exit status as Python and shells report it (-9 and 137 both mean SIGKILL)."""
        number = -returncode if returncode < 0 else returncode - 128
        names = {member.value: member.name for member in signal.Signals}
        way = f"by signal {names[number]}" if number in names else f"with exit code {returncode}"
        return cls.of(way=way, **facts)


class TooSlow(MeasuringFailure):
    """A phase took more processor time or more time on the clock than it may."""

    code = "too-slow"
    sentence = "The measuring process was stopped after {seconds:.0f} seconds of {clock} in the phase “{phase}”."
    advice = "A tokenizer whose regular expressions take exponential time is the usual cause; save another one."


class Silent(MeasuringFailure):
    """The process made no progress for a long time."""

    code = "silent"
    sentence = "The measuring process made no progress for {seconds:.0f} seconds."
    advice = "Try again; if it happens again, use a smaller model or a faster machine."


class MemoryLimit(MeasuringFailure):
    """The process held more memory than it may."""

    code = "memory-limit"
    sentence = "The measuring process took more than {gigabytes:.1f} GB of memory."
    advice = "Choose a smaller number format or a smaller model, or measure it on a larger machine."


class DiskLimit(MeasuringFailure):
    """The process wrote more to the disk than it may."""

    code = "disk-limit"
    sentence = "The measuring process wrote more than {gigabytes:.1f} GB."
    advice = "Report it: rows of a part are never that large."


class NotIsolated(MeasuringFailure):
    """Models of strangers are measured in isolation only, which this machine does not offer."""

    code = "not-isolated"
    sentence = "Models are not measured on this machine, because they cannot be isolated: {reason}."
    advice = (
        "Install bubblewrap and let it make namespaces (docs/operating.md), or set CLOZEBOARD_ISOLATION=optional if "
        "you trust every model."
    )


class BrokenProtocol(MeasuringFailure):
    """The process sent something that is not a message of the protocol."""

    code = "broken-protocol"


class LogTail:
    """A thread that reads a stream to its end, however much that is, and keeps the last bytes."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._chunks: deque[bytes] = deque(maxlen=BYTES // 1024)
        self._stream = stream
        self._thread = Thread(target=self._read, daemon=True)
        self._thread.start()

    def text(self) -> str:
        """Return the last lines; wait a moment for what a process that has ended wrote."""
        self._thread.join(1)
        return presentable(b"".join(self._chunks).decode(errors="replace"))

    def close(self) -> None:
        """Close the stream, unless a process that has escaped still holds its other end: closing would wait for it."""
        self._thread.join(1)
        if not self._thread.is_alive():
            self._stream.close()

    def _read(self) -> None:
        while chunk := self._stream.read1(1024):  # type: ignore[attr-defined]  # pipes are buffered readers
            self._chunks.append(chunk)


def presentable(text: str) -> str:
    """Return the end of a text without secrets, and with paths cut to their last part and invisible characters out."""
    text = without_assigned_secrets(INVISIBLE.sub(" ", text[-BYTES:].replace("\r", "\n")))
    text = ABSOLUTE_PATH.sub(lambda path: "…/" + path[0].rsplit("/", 1)[1], text)
    return text.strip()[-CHARACTERS:]
