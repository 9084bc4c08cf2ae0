"""Amounts of work: sums, shares and costs."""

import pytest

from probing.estimate.load import Load, total


def test_loads_are_added_and_multiplied_amount_by_amount() -> None:
    one, two = Load(1, 20, 3), Load(2, 10, 1)
    assert (one.plus(two), one.minus(two), one.times(2)) == (Load(3, 30, 4), Load(-1, 10, 2), Load(2, 40, 6))
    assert total([one, two, two]) == Load(5, 40, 5)
    assert total([]) == Load()


def test_a_load_costs_what_its_amounts_do() -> None:
    assert Load(1, 20, 3).cost(Load(0.5, 2, 10)) == pytest.approx(0.5 + 40 + 30)


def test_work_is_in_positions() -> None:
    assert Load(positions=7).work == pytest.approx(7)
