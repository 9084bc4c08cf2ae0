"""The cost of larger answer spaces: the items that are measured."""

import pytest

from speed.growth import SIZES, _one_item


@pytest.mark.parametrize("size", SIZES)
def test_an_answer_space_has_exactly_the_stated_size_without_repetition(size: int) -> None:
    work = _one_item(size)
    (item,) = work.items
    assert work.statements == len(set(item.options)) == size


def test_a_larger_answer_space_contains_the_smaller_one() -> None:
    small, large = (_one_item(size).items[0].options for size in SIZES[:2])
    assert large[: len(small)] == small
