"""Early decision: find the exact best options of each prompt without scoring every option to the end.

Log-probabilities are never positive, so the sum over an option's tokens computed so far is an upper bound of its
score. Options are computed in rounds, the most promising first; an option is dropped when its upper bound falls below
the score of the best options that are complete.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from probing.arrays import Bools, Floats, Ints
from probing.language_model import FEWEST_OPTIONS, FEWEST_STATEMENTS, Scoring, Usage

# Share of the time so far that a window may take which is decided early to see whether this is faster. Where it takes
# twice or thrice as long as scoring all of it, the run is not more than 5 % longer.
LONGEST_TRIAL = 0.025
DECIDING_IS_SLOWER = (
    "--decide: all options were scored, as an early decision was tried and took longer, which is usual on a GPU with a "
    "small network."
)


@dataclass(frozen=True)
class OptionPruning:
    """Options of many prompts in one array: `sizes` options per prompt, each with `tokens` scored tokens.

    `sizes` has shape (prompts,), `tokens` shape (options,).
    """

    sizes: Ints
    tokens: Ints
    scoring: Scoring

    def next(self, sums: Floats, exact: Bools, most: int) -> Ints:
        """Return the options to continue: of each prompt, the `most` best that can still be among its k best.

        `sums`: the sum over the tokens computed so far; `exact`: whether these are all; shape (options,). Options that
        can at best tie are continued too, so that ties are resolved as in full scoring. Indices are ascending.
        """
        bounds = sums / np.maximum(self.tokens, 1) if self.scoring.reduction == "mean" else sums
        table, is_option = self._table(bounds), self._table(np.ones(len(sums)), 0.0) > 0
        complete = self._table(exact.astype(float), 1.0) > 0
        complete_scores = np.where(complete & is_option, table, -np.inf)
        rank = min(self.scoring.decide, table.shape[1])
        threshold = -np.partition(-complete_scores, rank - 1, axis=1)[:, rank - 1]
        candidates = np.where(~complete & (table >= threshold[:, None]), table, -np.inf)
        order = np.argsort(-candidates, axis=1, kind="stable")[:, :most]
        prompts, places = np.nonzero(np.take_along_axis(candidates, order, axis=1) > -np.inf)
        starts = np.cumsum(self.sizes) - self.sizes
        return np.sort(starts[prompts] + order[prompts, places])

    def _table(self, values: Floats, missing: float = -np.inf) -> Floats:
        """Arrange values per option as a table of shape (prompts, most options), padded with `missing`."""
        is_option = np.arange(self.sizes.max()) < self.sizes[:, None]
        table = np.full(is_option.shape, missing)
        table[is_option] = values
        return table


@dataclass
class DecisionTrial:
    """Whether an early decision saves time, which on a GPU is tried on a window of the run.

    There, time goes into starting kernels, so that many small batches may take longer than a few large ones: all
    options are scored until a window is short beside the time so far. It is decided early, and the faster way is kept.
    """

    on_gpu: bool
    notes: list[str]
    clock: Callable[[], float] = time.perf_counter
    _seconds: float = 0.0
    _pace: dict[bool, float] = field(default_factory=dict)  # least seconds per statement, decided early or not

    def decides_early(self, statements: int, options: float) -> bool:
        """Tell whether to decide a window of so many statements early, with so many options of a prompt in the mean."""
        if statements < FEWEST_STATEMENTS or options < FEWEST_OPTIONS:
            return False
        if not self.on_gpu:
            return True
        if True not in self._pace:
            return statements * self._pace.get(False, np.inf) <= LONGEST_TRIAL * self._seconds
        is_faster = self._pace[True] < self._pace[False]
        if not is_faster and DECIDING_IS_SLOWER not in self.notes:
            self.notes.append(DECIDING_IS_SLOWER)
        return is_faster

    @contextmanager
    def timed(self, early: bool, statements: int) -> Iterator[None]:
        """Note how long a window of so many statements takes."""
        begin = self.clock()
        yield
        seconds = self.clock() - begin
        self._seconds += seconds
        self._pace[early] = min(seconds / statements, self._pace.get(early, np.inf))


@dataclass
class FirstPassShare:
    """Estimate of the share of a window's token positions that its first pass takes, from the windows so far.

    Before the first window the estimate is one half.
    """

    first_positions: int = 50
    all_positions: int = 100

    @property
    def share(self) -> float:
        return self.first_positions / self.all_positions

    def progress(self, first: int, so_far: int) -> float:
        """Estimate the share of a window that is computed, given the positions of its first pass and all so far."""
        return min(self.share * so_far / max(first, 1), 1.0)

    def update(self, first: int, total: int) -> None:
        """Add a window whose best options are known."""
        self.first_positions += first
        self.all_positions += total


class Rounds(Protocol):
    """Computation of one window's options in rounds, as the kind of model implements it.

    `options_per_prompt`: how many options of a prompt may be continued in the next round.
    """

    options_per_prompt: int

    def first_pass(self, statements: float) -> None:
        """Compute the first upper bounds of all options, and record this as work on so many statements."""
        ...

    def log_probs(self) -> Floats:
        """Return the scored tokens' log-probabilities, shape (options, longest).

        Tokens that are not computed yet are NaN; places without a scored token hold 0.0.
        """
        ...

    def advance(self, options: Ints) -> None:
        """Compute further tokens of these options."""
        ...


def decide(rounds: Rounds, pruning: OptionPruning, first_pass: FirstPassShare, usage: Usage) -> tuple[Floats, Bools]:
    """Compute rounds until the best options of every prompt are exact.

    Returns the log-probabilities as in `Rounds.log_probs`, but with 0.0 for tokens that were not computed, and which
    options are exact. Meanwhile the window's statements are added to `usage` in proportion to the estimated progress.
    """
    statements, before = len(pruning.tokens), usage.positions
    reported = first_pass.share
    rounds.first_pass(reported * statements)
    first = usage.positions - before
    while True:
        log_probs = rounds.log_probs()
        missing = np.isnan(log_probs)
        log_probs[missing] = 0.0
        exact = np.logical_not(missing.any(axis=1))
        options = pruning.next(log_probs.sum(axis=1), exact, rounds.options_per_prompt)
        progress = first_pass.progress(first, usage.positions - before) if len(options) else 1.0
        usage.add("score", (progress - reported) * statements)
        reported = progress
        if not len(options):
            break
        rounds.advance(options)
    first_pass.update(first, usage.positions - before)
    return log_probs, exact
