"""The last lines that a measuring process wrote, made fit to be shown to its submitter."""

import re
from collections import deque
from threading import Thread
from typing import IO

from probing.redaction import without_assigned_secrets

BYTES = 16_384  # kept while the process runs
CHARACTERS = 4_000  # shown
ABSOLUTE_PATH = re.compile(r"(?<![\w/.])(?:/[\w.@+-]+){2,}")
INVISIBLE = re.compile(r"[^\S\n ]|[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]")


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
