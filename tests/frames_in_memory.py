"""Counting tables that are in memory at the same time, for code that must not hold the rows of all parts at once."""

from weakref import ref

import pandas as pd


class FramesInMemory:
    """Counts frames that a test hands in: how many there were, and `most` of them that were in memory together."""

    def __init__(self) -> None:
        self._frames: list[ref[pd.DataFrame]] = []
        self.most = 0

    def add(self, frame: pd.DataFrame) -> pd.DataFrame:
        self._frames.append(ref(frame))
        self.most = max(self.most, sum(frame() is not None for frame in self._frames))
        return frame

    def __len__(self) -> int:
        return len(self._frames)
