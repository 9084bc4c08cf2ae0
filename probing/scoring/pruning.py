"""Which options still can win: the exact best of many, without scoring every option to the end.

Log-probabilities are never positive, so what is known of an option bounds what it can reach. The most promising
options are scored to the end first; one whose bound falls below the best finished one is dropped.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from probing.language_model import Scoring

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class OptionPruning:
    """The options of many prompts, side by side: `sizes` options each, of `tokens` scored tokens each."""

    sizes: NDArray[np.int64]
    tokens: NDArray[np.int64]
    scoring: Scoring

    def next(self, sums: Floats, complete: Bools, most: int) -> NDArray[np.int64]:
        """The options to go on with: of each prompt, the `most` best that can still be among its k best.

        `sums`: the known part of each option's log-probability, shape (options,); `complete`: whether that is all
        of it. An option that can only tie goes on too, so that ties end as in full scoring.
        """
        bounds = sums / np.maximum(self.tokens, 1) if self.scoring.reduction == "mean" else sums
        table, inside = self._table(bounds), self._table(np.ones(len(sums)), 0.0) > 0
        done = self._table(complete.astype(float), 1.0) > 0
        finished = np.where(done & inside, table, -np.inf)
        rank = min(self.scoring.decide, table.shape[1])
        threshold = -np.partition(-finished, rank - 1, axis=1)[:, rank - 1]
        running = np.where(~done & (table >= threshold[:, None]), table, -np.inf)
        order = np.argsort(-running, axis=1, kind="stable")[:, :most]
        rows, places = np.nonzero(np.take_along_axis(running, order, axis=1) > -np.inf)
        starts = np.cumsum(self.sizes) - self.sizes
        return np.sort(starts[rows] + order[rows, places])

    def running(self, options: NDArray[np.int64]) -> int:
        """How many prompts the given options belong to."""
        return len(np.unique(np.searchsorted(np.cumsum(self.sizes), options, side="right")))

    def _table(self, values: Floats, missing: float = -np.inf) -> Floats:
        """Shape (prompts, most options), `missing` where a prompt has fewer."""
        inside = np.arange(self.sizes.max()) < self.sizes[:, None]
        table = np.full(inside.shape, missing)
        table[inside] = values
        return table


@dataclass
class FirstPassShare:
    """Looking at every option once, against all that deciding a window takes: as in the windows before.

    In token positions; to begin with, a half.
    """

    looked: int = 50
    whole: int = 100

    @property
    def share(self) -> float:
        return self.looked / self.whole

    def done(self, looked: int, so_far: int) -> float:
        """The share of a window that is done, whose first look took `looked` of the positions so far."""
        return min(self.share * so_far / max(looked, 1), 1.0)

    def learn(self, looked: int, whole: int) -> None:
        self.looked += looked
        self.whole += whole
