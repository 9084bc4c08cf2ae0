"""The progress of a run's parts, of which several devices may compute several at a time, on one bar."""

from collections.abc import Mapping
from typing import Protocol

from probing.estimate.load import NOTHING, Done, Load
from probing.estimate.work import WorkEstimate
from probing.probes.parts import Part


class Bar(Protocol):
    """Something that shows progress, such as `probing.estimate.progress.progress_bar` returns."""

    def set_postfix_str(self, text: str, refresh: bool) -> None: ...

    def advance(self, expected: Load, actual: Load) -> None: ...


class PartsProgress:
    """Moves a bar by the estimated work of parts, and shows the relations that are being asked."""

    def __init__(self, bar: Bar, work: Mapping[Part, WorkEstimate]) -> None:
        self._bar, self._work = bar, work
        self._current: dict[Part, Done] = {}  # of the parts that are being probed
        self._too_long = 0

    def begin(self, part: Part) -> None:
        self._current[part] = Done()
        relations = ", ".join(dict.fromkeys(part.relation for part in self._current))
        text = f"{relations}, {self._too_long} too long" if self._too_long else relations
        self._bar.set_postfix_str(text, refresh=False)

    def move(self, part: Part, done: Done) -> None:
        """Note what is done of a part."""
        before, self._current[part] = self._current[part], done
        self._bar.advance(done.expected.minus(before.expected), done.actual.minus(before.actual))

    def end(self, part: Part, too_long: int) -> None:
        """Note that a part is stored, without so many items that are too long for the model."""
        done = self._current.pop(part)
        self._bar.advance(self._work[part].load.minus(done.expected), NOTHING)
        self._too_long += too_long
