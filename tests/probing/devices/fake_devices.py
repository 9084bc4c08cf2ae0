"""Processes on devices that are threads of the tests, with fake models: as quick as a test without processes."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from threading import Barrier, Thread
from typing import Any

from probing.devices import device_child
from probing.errors import TooLong
from probing.language_model import ModelCard, OptionScores, Request, Scoring
from tests.fakes import FAKE_CARD, FakeModel

PATIENCE = 30  # seconds until a test fails in which one device waits in vain for another
CARD = replace(FAKE_CARD, id="org/model")


@dataclass
class FakeOnDevice(FakeModel):
    """A fake model that begins when all devices are ready, and raises an error after so many statements."""

    together: Barrier | None = None
    error: BaseException | None = None
    error_after: int = 0

    def score(self, requests: Iterable[Request], scoring: Scoring) -> Iterator[OptionScores | TooLong]:
        if self.together:
            self.together.wait(PATIENCE)
            self.together = None
        for request in requests:
            if self.error and self.usage.statements >= self.error_after:
                raise self.error
            yield from super().score([request], scoring)


@dataclass
class Devices:
    """What is loaded on devices. `loads`: the arguments of each load, in their order.

    `cards`: models that are not `CARD`, by device. `error`: what all of them raise after so many statements.
    `at_once`: how many devices wait for each other before their first part.
    """

    loads: list[dict[str, Any]] = field(default_factory=list)
    cards: dict[str, ModelCard] = field(default_factory=dict)
    error: BaseException | None = None
    error_after: int = 0
    at_once: int = 1
    _barrier: Barrier | None = None

    def load(self, model: str, *, device: str, **options: Any) -> FakeModel:
        self.loads.append({"device": device, **options})
        if self.at_once > 1 and not self._barrier:
            self._barrier = Barrier(self.at_once)
        card = self.cards.get(device, replace(CARD, id=model))
        return FakeOnDevice(card, device=device, together=self._barrier, error=self.error, error_after=self.error_after)

    def kill(self, process: "ThreadAsProcess") -> None:
        if self._barrier:
            self._barrier.abort()
        process.wait()

    @property
    def loaded(self) -> list[str]:
        return [load["device"] for load in self.loads]


class ThreadAsProcess:
    """Stands for a process: it does in a thread what the process would do, until its connection is closed."""

    def __init__(self, connection: Connection) -> None:
        own_end = Connection(os.dup(connection.fileno()))  # the caller closes the other one
        self._thread = Thread(target=self._serve, args=(own_end,), daemon=True)
        self._thread.start()

    def wait(self) -> int:
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive(), "it goes on although nobody listens"
        return 1

    def _serve(self, connection: Connection) -> None:
        with connection:
            device_child.serve(connection)
