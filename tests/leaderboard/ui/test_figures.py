import pytest

from leaderboard.ui.cells import figure_with_uncertainty


@pytest.mark.parametrize(
    ("value", "low", "high", "text"),
    [
        (0.412, 0.385, 0.439, "0.412 ± 0.027"),
        (0.412, None, None, "0.412"),
        (0.412, 0.385, None, "0.412"),
        (-0.1, -0.2, 0.0, "−0.100 ± 0.100"),
        (0.0, 0.0, 0.354, "0.000 (0.000 to 0.354)"),
    ],
)
def test_a_figure_stands_with_its_interval(value: float, low: float | None, high: float | None, text: str) -> None:
    assert figure_with_uncertainty(value, low, high) == text
