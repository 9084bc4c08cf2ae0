"""Pruning of options finds the same best options as scoring all of them, on random numbers."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from probing.arrays import Floats, Ints
from probing.language_model import Reduction, Scoring, Usage
from probing.scoring import pruning
from probing.scoring.pruning import DecisionTrial, FirstPassShare, OptionPruning, decide

# Log-probabilities of options' tokens; few different values, so that ties are common.
OPTION = st.lists(st.sampled_from([0.0, -0.5, -1.0, -2.0]), min_size=1, max_size=4)
PROMPTS = st.lists(st.lists(OPTION, min_size=1, max_size=6), min_size=1, max_size=4)
Prompts = list[list[list[float]]]


def decided(prompts: Prompts, scoring: Scoring, most: int) -> list[list[int]]:
    """Return how many tokens of each option are computed before all prompts are decided."""
    options = [option for prompt in prompts for option in prompt]
    tokens = np.array(list(map(len, options)))
    pruning = OptionPruning(np.array(list(map(len, prompts))), tokens, scoring)
    computed = np.zeros(len(options), np.int64)
    while True:
        sums = np.array([sum(option[:n]) for option, n in zip(options, computed, strict=True)])
        advancing = pruning.next(sums, computed == tokens, most)
        if not len(advancing):
            break
        assert (computed[advancing] < tokens[advancing]).all()
        computed[advancing] += 1
    parts = iter(computed.tolist())
    return [[next(parts) for _ in prompt] for prompt in prompts]


def value(tokens: list[float], length: int, reduction: Reduction) -> float:
    return sum(tokens) / (length if reduction == "mean" else 1)


@given(PROMPTS, st.integers(1, 4), st.integers(1, 8), st.sampled_from(["sum", "mean"]))
def test_the_best_options_are_complete_in_order(prompts: Prompts, best: int, most: int, reduction: Reduction) -> None:
    scoring = Scoring(decide=best, reduction=reduction)
    for options, seen in zip(prompts, decided(prompts, scoring, most), strict=True):
        full = np.array([value(option, len(option), reduction) for option in options])
        partial = np.array([value(o[:n], len(o), reduction) for o, n in zip(options, seen, strict=True)])
        winners = np.argsort(-full, kind="stable")[:best]
        assert np.argsort(-partial, kind="stable")[:best].tolist() == winners.tolist()
        assert all(seen[i] == len(options[i]) for i in winners)


def test_an_option_that_cannot_win_is_dropped() -> None:
    assert decided([[[-1.5, -1.0], [-0.5, -0.5], [-9.0, 0.0]]], Scoring(decide=1), 1) == [[1, 2, 1]]


def test_an_option_that_can_only_tie_is_continued() -> None:
    """The first of equal options is the prediction, so that all of them must be complete."""
    assert decided([[[-1.0, 0.0], [-0.5, -0.5]]], Scoring(decide=1), 2) == [[2, 2]]


def test_the_share_of_the_first_pass_is_estimated_from_earlier_windows() -> None:
    estimate = FirstPassShare()
    assert estimate.share == 0.5
    for _ in range(100):
        estimate.update(900, 1000)
    assert 0.89 < estimate.share < 0.9


def test_progress_is_estimated_from_the_size_of_the_first_pass() -> None:
    estimate = FirstPassShare(first_positions=25, all_positions=100)
    assert [estimate.progress(10, so_far) for so_far in (10, 20, 40, 100)] == [0.25, 0.5, 1, 1]


class TableRounds:
    """Rounds over options whose tokens are in a table; each advance computes one more token of an option."""

    options_per_prompt = 1

    def __init__(self, table: Floats, usage: Usage) -> None:
        self.table, self.usage = table, usage
        self.columns = np.zeros(len(table), np.int64)

    def first_pass(self, statements: float) -> None:
        self.usage.add("score", statements, positions=len(self.table))
        self.columns += 1

    def log_probs(self) -> Floats:
        return np.where(np.arange(self.table.shape[1]) < self.columns[:, None], self.table, np.nan)

    def advance(self, options: Ints) -> None:
        self.usage.add("score", 0.0, positions=len(options))
        self.columns[options] += 1


def test_deciding_reports_each_statement_once_and_learns_the_share_of_the_first_pass() -> None:
    usage, first_pass = Usage(), FirstPassShare()
    table = np.array([[-1.5, -1.0], [-0.5, -0.5], [-9.0, 0.0]])
    pruning = OptionPruning(np.array([3]), np.full(3, 2), Scoring(decide=1))
    log_probs, exact = decide(TableRounds(table, usage), pruning, first_pass, usage)
    assert exact.tolist() == [False, True, False]
    assert log_probs.tolist() == [[-1.5, 0.0], [-0.5, -0.5], [-9.0, 0.0]]
    assert usage.statements == 3
    assert (first_pass.first_positions, first_pass.all_positions) == (50 + 3, 100 + 4)


class Device:
    """A device on which a statement takes so many seconds, which a clock shows."""

    def __init__(self, whole: float, early: float, on_gpu: bool = True) -> None:
        self.paces, self.time = {False: whole, True: early}, 0.0
        self.trial = DecisionTrial(on_gpu, [], clock=lambda: self.time)

    def score(self, windows: Sequence[int]) -> list[bool]:
        """Score windows of so many statements, and tell which were decided early."""
        chosen = []
        for statements in windows:
            chosen.append(self.trial.decides_early(statements, options=60))
            with self.trial.timed(chosen[-1], statements):
                self.time += statements * self.paces[chosen[-1]]
        return chosen


@pytest.mark.parametrize("early", [0.2, 0.9, 1.1, 1.6, 2.4])
@pytest.mark.parametrize("windows", [[3_500] * 60, [8_192] * 26, [20_000, 700, 700], [1_000]])
def test_a_run_on_a_gpu_takes_at_most_a_twentieth_longer_than_scoring_all(early: float, windows: list[int]) -> None:
    device = Device(whole=1.0, early=early)
    chosen = device.score(windows)
    assert device.time <= 1.05 * sum(windows)
    assert chosen.count(True) <= 1 or early < 1
    assert bool(device.trial.notes) == (early > 1 and True in chosen[:-1])


def test_the_faster_way_is_kept() -> None:
    assert Device(whole=1.0, early=0.3).score([3_500] * 60)[-15:] == [True] * 15
    assert sum(Device(whole=1.0, early=1.5).score([3_500] * 600)) == 1


def test_a_window_of_few_statements_is_scored_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pruning, "FEWEST_STATEMENTS", 600)
    assert Device(1.0, 0.3, on_gpu=False).score([599, 600, 30]) == [False, True, False]


def test_a_window_of_few_options_is_scored_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pruning, "FEWEST_OPTIONS", 3)
    trial = DecisionTrial(on_gpu=False, notes=[])
    assert [trial.decides_early(600, options) for options in (2, 2.9, 3)] == [False, False, True]
