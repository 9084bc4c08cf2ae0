from probing.scoring.tokens import Encoded
from speed.lower_bounds import causal_bounds, masked_bounds


def encoded(*ids: int, words: tuple[int | None, ...] = ()) -> Encoded:
    places = tuple(range(1, len(ids)))
    return Encoded(ids, places, slice(0, 1), words or (None, *range(len(places))))


def test_a_prefix_counts_once_and_only_if_something_follows() -> None:
    assert causal_bounds([encoded(0, 1, 2), encoded(0, 1, 3), encoded(0, 4)]) == (8, 2)


def test_a_masked_input_that_two_statements_share_counts_once() -> None:
    assert masked_bounds([encoded(0, 1, 2), encoded(0, 1, 3)], mask=9) == (12, 9)
