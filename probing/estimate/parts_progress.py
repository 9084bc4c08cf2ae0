"""The progress of a run's parts, of which several devices may compute several at a time, as one sum."""

from collections.abc import Callable, Mapping

from probing.estimate.load import NOTHING, Done, Load
from probing.estimate.work import WorkEstimate
from probing.plan import Part


class PartsProgress:
    """Adds up the progress of parts, of which `work` is expected.

    `advance` is called with the expected and the actual load of what was done since the last call, `show` with the
    relations that are being asked, as text.
    """

    def __init__(
        self,
        work: Mapping[Part, WorkEstimate],
        advance: Callable[[Load, Load], None],
        show: Callable[[str], None] = lambda text: None,
    ) -> None:
        self._work, self._advance, self._show = work, advance, show
        self._current: dict[Part, Done] = {}  # of the parts that are being probed
        self._too_long = 0

    def begin(self, part: Part) -> None:
        self._current[part] = Done()
        relations = ", ".join(dict.fromkeys(part.relation for part in self._current))
        self._show(f"{relations}, {self._too_long} too long" if self._too_long else relations)

    def move(self, part: Part, done: Done) -> None:
        """Note what is done of a part."""
        before, self._current[part] = self._current[part], done
        self._advance(done.expected.minus(before.expected), done.actual.minus(before.actual))

    def end(self, part: Part, too_long: int) -> None:
        """Note that a part is stored, without so many items that are too long for the model."""
        done = self._current.pop(part)
        self._advance(self._work[part].load.minus(done.expected), NOTHING)
        self._too_long += too_long
