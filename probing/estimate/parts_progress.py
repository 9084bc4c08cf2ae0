"""The progress of a run's parts, of which several devices may compute several at a time, on one bar."""

from collections.abc import Mapping

from tqdm import tqdm

from probing.estimate.work import WorkEstimate
from probing.probes.parts import Part


class PartsProgress:
    """Moves a bar by the estimated work of parts, and shows the relations that are being asked."""

    def __init__(self, bar: tqdm, work: Mapping[Part, WorkEstimate]) -> None:
        self._bar, self._work = bar, work
        self._done = bar.n  # the work of whole parts
        self._shares: dict[Part, float] = {}  # of the parts that are being probed
        self._too_long = 0

    def begin(self, part: Part) -> None:
        self._shares[part] = 0.0
        relations = ", ".join(dict.fromkeys(part.relation for part in self._shares))
        text = f"{relations}, {self._too_long} too long" if self._too_long else relations
        self._bar.set_postfix_str(text, refresh=False)

    def share(self, part: Part, share: float) -> None:
        """Note which share of a part's work is done."""
        self._shares[part] = share
        self._move()

    def end(self, part: Part, too_long: int) -> None:
        """Note that a part is stored, without so many items that are too long for the model."""
        del self._shares[part]
        self._done += self._work[part].work
        self._too_long += too_long
        self._move()

    def _move(self) -> None:
        current = sum(share * self._work[part].work for part, share in self._shares.items())
        self._bar.update(self._done + current - self._bar.n)
