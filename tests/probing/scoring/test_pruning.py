"""Which options still can win: against scoring all, on random numbers."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from probing.language_model import Reduction, Scoring
from probing.scoring.pruning import FirstPassShare, OptionPruning

# Log-probabilities of options' tokens; few different values, so that ties are common.
OPTION = st.lists(st.sampled_from([0.0, -0.5, -1.0, -2.0]), min_size=1, max_size=4)
PROMPTS = st.lists(st.lists(OPTION, min_size=1, max_size=6), min_size=1, max_size=4)
Prompts = list[list[list[float]]]


def decided(prompts: Prompts, scoring: Scoring, most: int) -> list[list[int]]:
    """How many tokens of each option were looked at until all races were decided."""
    options = [option for prompt in prompts for option in prompt]
    tokens = np.array(list(map(len, options)))
    pruning = OptionPruning(np.array(list(map(len, prompts))), tokens, scoring)
    seen = np.zeros(len(options), np.int64)
    while True:
        sums = np.array([sum(option[:n]) for option, n in zip(options, seen, strict=True)])
        advancing = pruning.next(sums, seen == tokens, most)
        if not len(advancing):
            break
        assert (seen[advancing] < tokens[advancing]).all()
        seen[advancing] += 1
    parts = iter(seen.tolist())
    return [[next(parts) for _ in prompt] for prompt in prompts]


def value(tokens: list[float], length: int, reduction: Reduction) -> float:
    return sum(tokens) / (length if reduction == "mean" else 1)


@given(PROMPTS, st.integers(1, 4), st.integers(1, 8), st.sampled_from(["sum", "mean"]))
def test_the_best_are_finished_and_in_order(prompts: Prompts, best: int, most: int, reduction: Reduction) -> None:
    scoring = Scoring(decide=best, reduction=reduction)
    for options, seen in zip(prompts, decided(prompts, scoring, most), strict=True):
        full = np.array([value(option, len(option), reduction) for option in options])
        known = np.array([value(o[:n], len(o), reduction) for o, n in zip(options, seen, strict=True)])
        winners = np.argsort(-full, kind="stable")[:best]
        assert np.argsort(-known, kind="stable")[:best].tolist() == winners.tolist()
        assert all(seen[i] == len(options[i]) for i in winners)


def test_an_option_that_cannot_win_is_dropped() -> None:
    assert decided([[[-1.5, -1.0], [-0.5, -0.5], [-9.0, 0.0]]], Scoring(decide=1), 1) == [[1, 2, 1]]


def test_an_option_that_can_only_tie_goes_on() -> None:
    """The first of equals is the prediction, so it must be known that they are equal."""
    assert decided([[[-1.0, 0.0], [-0.5, -0.5]]], Scoring(decide=1), 2) == [[2, 2]]


def test_a_prompt_runs_as_long_as_one_of_its_options_does() -> None:
    pruning = OptionPruning(np.array([3, 2, 4]), np.ones(9, np.int64), Scoring(decide=1))
    assert pruning.running(np.array([0, 2, 5])) == 2
    assert pruning.running(np.array([4])) == 1
    assert pruning.running(np.zeros(0, np.int64)) == 0


def test_the_first_looks_share_is_learnt_from_windows() -> None:
    look = FirstPassShare()
    assert look.share == 0.5
    for _ in range(100):
        look.learn(900, 1000)
    assert 0.89 < look.share < 0.9


def test_what_is_done_of_a_window_is_told_by_its_first_look() -> None:
    look = FirstPassShare(looked=25, whole=100)
    assert [look.done(10, so_far) for so_far in (10, 20, 40, 100)] == [0.25, 0.5, 1, 1]
