"""What models answer: sums and means of scores, continuations with their ends, and counts of work."""

import numpy as np
import pytest

from probing.language_model import Continuation, OptionScores, Usage


def option_scores(*log_probs: list[float]) -> OptionScores:
    arrays = tuple(np.array(tokens, float) for tokens in log_probs)
    return OptionScores(arrays, (slice(0, 1),) * len(arrays), np.ones(len(arrays), bool))


def test_options_are_reduced_to_the_sum_or_the_mean_over_their_own_tokens() -> None:
    scores = option_scores([-1.0, -2.0, -3.0], [-4.0])
    assert scores.reduce().tolist() == scores.reduce("sum").tolist() == [-6.0, -4.0]
    assert scores.reduce("mean").tolist() == [-2.0, -4.0]
    assert option_scores([], [-1.0]).reduce("sum").tolist() == [0.0, -1.0]
    assert option_scores([], [-1.0]).reduce("mean").tolist() == [0.0, -1.0]
    assert option_scores().reduce("mean").shape == (0,)
    assert np.isnan(option_scores([np.nan, -1.0], [-1.0]).reduce("mean")).tolist() == [True, False]


def test_a_continuation_is_its_text_with_the_ends_of_its_tokens() -> None:
    continuation = Continuation("New Delhi", [3, 9])
    assert continuation == "New Delhi"
    assert [continuation[:end] for end in continuation.ends] == ["New", "New Delhi"]
    assert Continuation("").ends == ()


def test_work_is_added_up_over_all_verbs_and_for_each_with_passes_where_positions_are_computed() -> None:
    usage = Usage()
    usage.add("score", 2.5, positions=10, padding=1)
    usage.add("score", 1.5, positions=4)
    usage.add("fill", 1, positions=3, padding=2)
    assert usage.by_verb == {"score": 4.0, "fill": 1}
    assert (usage.statements, usage.positions, usage.padding, usage.passes) == (5.0, 17, 3, 3)
    usage.add("score", 1)
    assert usage.passes == 3, "no positions were computed"
    usage.add("generate", 1, positions=40, passes=16)
    assert usage.passes == 19


def test_listeners_hear_of_work_after_it_was_counted() -> None:
    usage, statements = Usage(), list[float]()
    usage.on_work = lambda: statements.append(usage.statements)
    usage.add("embed", 1)
    usage.add("embed", 2)
    assert statements == pytest.approx([1, 3])
