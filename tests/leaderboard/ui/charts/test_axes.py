"""Ticks and ranges of axes."""

import pytest

from leaderboard.ui.charts.basics import Point, parameter_axis, power_axis, row_axis, share_axis


@pytest.mark.parametrize(
    ("parameters", "ticks"),
    [
        ((124_000_000, 1_700_000_000), ["200 M", "500 M", "1 B"]),
        ((109_000_000, 125_000_000), ["50 M", "100 M", "200 M"]),
        ((10**9,), ["500 M", "1 B", "2 B"]),
        ((60_000_000, 70_000_000_000), ["100 M", "1 B", "10 B"]),
    ],
)
def test_an_axis_of_parameters_has_a_few_round_numbers(parameters: tuple[int, ...], ticks: list[str]) -> None:
    axis = parameter_axis([Point("a model", 0.5, x=size) for size in (*parameters, None)])
    assert (axis["type"], axis["ticktext"]) == ("log", ticks)


@pytest.mark.parametrize(
    ("logarithms", "ticks"),
    [
        ((-0.6, -0.1), ["0.2", "0.5", "1"]),
        ((2.0, 3.0), ["100", "200", "500", "1,000"]),
        ((-2.9, -0.1), ["0.001", "0.01", "0.1", "1"]),
        ((-43.1, -22.4), ["10<sup>−40</sup>", "10<sup>−35</sup>", "10<sup>−30</sup>", "10<sup>−25</sup>"]),
        ((-5000.0, float("-inf")), ["5·10<sup>−5001</sup>", "10<sup>−5000</sup>", "2·10<sup>−5000</sup>"]),
        ((), ["0.5", "1", "2"]),
    ],
)
def test_an_axis_of_powers_shows_numbers_or_whole_powers(logarithms: tuple[float, ...], ticks: list[str]) -> None:
    assert power_axis(logarithms, "p-value")["ticktext"] == ticks


@pytest.mark.parametrize("length", [0.1, 1, 2.5, 2.6, 7, 30, 90, 400, 900])
def test_an_axis_of_powers_has_few_ticks_within_its_range(length: float) -> None:
    axis = power_axis([-length, 0.0], "p-value")
    low, high = axis["range"]
    assert low < -length < 0 < high
    assert 2 <= len(axis["tickvals"]) <= 9
    assert all(low <= tick <= high for tick in axis["tickvals"])


def test_rows_start_at_the_top_and_each_label_has_one() -> None:
    axis = row_axis(["a", "b", "a", "c"], {"b": "short"})
    assert axis["categoryarray"] == ["c", "b", "a"]
    assert axis["ticktext"] == ["c", "short", "a"]
    assert axis["range"] == [-0.7, 2.7]


def test_an_axis_of_shares_is_whole_with_room_for_dots_at_its_ends() -> None:
    low, high = share_axis("accuracy")["range"]
    assert low < 0 < 1 < high
