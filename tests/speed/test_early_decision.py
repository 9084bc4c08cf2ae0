"""The fewest positions that prove the best options, on predictions that can be checked by hand or one by one."""

from itertools import product

import numpy as np
import pytest

from probing.arrays import Floats, Ints
from probing.scoring.masked import Predictions
from probing.scoring.tokens import Encoded, Window
from speed.early_decision import fewest, measured

SIZES = [3, 2]
LENGTHS = (2, 3, 4)


def predictions(of_statement: Ints, inputs: Ints) -> Predictions:
    """Return predictions of these statements, each of which belongs to one of the inputs, whose lengths vary."""
    texts = [(number,) * LENGTHS[number % len(LENGTHS)] for number in range(int(inputs.max()) + 1)]
    return Predictions(texts, inputs, np.zeros(len(inputs), np.int64), np.arange(len(inputs)), of_statement)


def proves(chosen: Ints, of_statement: Ints, inputs: Ints, values: Floats) -> bool:
    """Tell in the plainest way whether these inputs prove the best options of all prompts."""
    start = 0
    for size in SIZES:
        options = of_statement[start : start + size]
        start += size
        totals = [sum(values[p] for p in option if p >= 0) for option in options]
        for option, total in zip(options, totals, strict=True):
            scored = [p for p in option if p >= 0]
            computed = [values[p] for p in scored if inputs[p] in chosen]
            if total == max(totals) and len(computed) < len(scored):
                return False
            if total < max(totals) and sum(computed) >= max(totals):
                return False
    return True


@pytest.mark.parametrize("seed", range(8))
def test_no_other_choice_of_inputs_is_shorter(seed: int) -> None:
    generator = np.random.default_rng(seed)
    of_statement = np.arange(10).reshape(5, 2)
    of_statement[generator.integers(5), 1] = -1
    inputs = generator.integers(7, size=10)
    inputs[generator.permutation(10)[:7]] = np.arange(7)
    values = -generator.integers(1, 6, size=10).astype(float)
    made = predictions(of_statement, inputs)
    choices = (np.flatnonzero(choice) for choice in product((0, 1), repeat=7))
    lengths = [made.length[chosen].sum() for chosen in choices if proves(chosen, of_statement, inputs, values)]
    assert fewest(made, values, SIZES).positions == fewest(made, values, SIZES).at_least == min(lengths)


def test_an_option_that_ties_with_the_best_is_computed_to_its_end() -> None:
    made = predictions(np.array([[0, 1], [2, 3]]), np.arange(4))
    assert fewest(made, np.array([-1.0, -1.0, -0.5, -1.5]), [2]).positions == made.length.sum()


def test_the_rounds_of_the_core_are_repeated_with_known_values() -> None:
    """The first tokens of both options are computed, then the second of the better one, which decides."""
    statements = [Encoded((9, 1, 2, 9), (1, 2), slice(0, 2), (None, 0, 1, None))] * 2
    made = predictions(np.array([[0, 1], [2, 3]]), np.arange(4))
    row = measured(Window(statements, [2]), made, np.array([-1.0, -1.0, -3.0, -1.0]))
    first, second = made.length[[0, 2]].sum(), made.length[1]
    assert (row["first_tokens"], row["computed"], row["all"]) == (first, first + second, made.length.sum())
    assert row["fewest"] == row["at_least"] == first + second
